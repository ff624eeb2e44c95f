/** Every attribute that is known by name, and which requests of a class ask for it. */
import type { Fields, Struct } from '../layout/struct.ts';
import * as sa from './attributes/administration.ts';
import * as cm from './attributes/communication.ts';
import {
  GENERAL_FORMS,
  generalNotice,
  NOTICE_FORMS,
  type NoticeForm,
  notice,
  REPORT_FORMS,
} from './attributes/notice.ts';
import * as perf from './attributes/performance.ts';
import * as subnet from './attributes/subnet.ts';
import { isVendor1, isVendor2, MgmtClass } from './classes.ts';

/** What an attribute modifier says: nothing, a port, a block, or several of them. */
export type Modifier = 'none' | 'port' | 'block' | 'block-port' | 'in-out-port' | 'block-position' | 'select';

/** A kind of message, such as NodeInfo. */
export interface Attribute {
  readonly name: string;
  readonly id: number;
  /** `subnet` stands for LID-routed and directed alike. */
  readonly family: Family;
  readonly layout: Struct<Fields>;
  readonly meaning: string;
  readonly modifier: Modifier;
  /** Of a Notice: what its details are for the traps that are known. Else none. */
  readonly forms: readonly NoticeForm[];
}

export type Family = 'subnet' | 'administration' | 'performance' | 'communication' | 'general';

export const FAMILIES: Readonly<Record<Family, string>> = {
  subnet: 'Subnet management',
  administration: 'Subnet administration',
  performance: 'Performance management',
  communication: 'Communication management',
  general: 'General classes',
};

const attribute = (
  family: Family,
  id: number,
  layout: Struct<Fields>,
  meaning: string,
  modifier: Modifier = 'none',
  forms: readonly NoticeForm[] = [],
): Attribute => ({ name: layout.title, id, family, layout, meaning, modifier, forms });

export const ATTRIBUTES: readonly Attribute[] = [
  attribute('subnet', 0x02, notice, 'what a port has to report', 'none', NOTICE_FORMS),
  attribute('subnet', 0x10, subnet.nodeDescription, 'name of the node'),
  attribute('subnet', 0x11, subnet.nodeInfo, 'what the node is'),
  attribute('subnet', 0x12, subnet.switchInfo, 'what a switch can do'),
  attribute('subnet', 0x14, subnet.guidInfo, 'GUIDs of a port, eight a block', 'block'),
  attribute('subnet', 0x15, subnet.portInfo, 'state and abilities of a port', 'port'),
  attribute('subnet', 0x16, subnet.pKeyTable, 'P_Keys of a port, 32 a block', 'block-port'),
  attribute('subnet', 0x17, subnet.slToVlMappingTable, 'virtual lane of each service level', 'in-out-port'),
  attribute(
    'subnet',
    0x18,
    subnet.vlArbitrationTable,
    'turns of the virtual lanes, blocks 1 to 4',
    'block-port',
  ),
  attribute('subnet', 0x19, subnet.linearForwardingTable, 'port of each LID, 64 a block', 'block'),
  attribute(
    'subnet',
    0x1b,
    subnet.multicastForwardingTable,
    'ports of each multicast LID, 32 a block',
    'block-position',
  ),
  attribute('subnet', 0x20, subnet.smInfo, 'the subnet manager at a port'),
  attribute('performance', 0x12, perf.portCounters, 'counters of a port', 'select'),
  attribute('performance', 0x15, perf.portRcvErrorDetails, 'receive errors of a port by cause', 'select'),
  attribute('performance', 0x16, perf.portXmitDiscardDetails, 'discards of a port by cause', 'select'),
  attribute('performance', 0x1d, perf.portCountersExtended, 'counters of a port, 64 bits', 'select'),
  attribute('administration', 0x02, generalNotice, 'what a port had to report', 'none', REPORT_FORMS),
  attribute('administration', 0x03, sa.informInfo, 'a subscription to notices'),
  attribute('administration', 0x11, sa.nodeRecord, 'NodeInfo and NodeDescription of a port'),
  attribute('administration', 0x12, sa.portInfoRecord, 'PortInfo of a port'),
  attribute('administration', 0x14, sa.switchInfoRecord, 'SwitchInfo of a switch'),
  attribute('administration', 0x18, sa.smInfoRecord, 'SMInfo of a subnet manager'),
  attribute('administration', 0x20, sa.linkRecord, 'a link'),
  attribute('administration', 0x31, sa.serviceRecord, 'a service that a port offers'),
  attribute('administration', 0x33, sa.pKeyTableRecord, 'P_Keys of a port'),
  attribute('administration', 0x35, sa.pathRecord, 'a path between two ports'),
  attribute('administration', 0x38, sa.mcMemberRecord, 'a multicast group, or a member of it'),
  attribute('communication', 0x10, cm.cmReq, 'asks for a connection'),
  attribute('communication', 0x11, cm.cmMra, 'asks for more time'),
  attribute('communication', 0x12, cm.cmRej, 'rejects a connection'),
  attribute('communication', 0x13, cm.cmRep, 'answers REQ'),
  attribute('communication', 0x14, cm.cmRtu, 'says that the connection is ready'),
  attribute('communication', 0x15, cm.cmDreq, 'ends a connection'),
  attribute('communication', 0x16, cm.cmDrep, 'answers DREQ'),
  attribute('communication', 0x17, cm.cmSidrReq, 'asks for the queue pair of a service'),
  attribute('communication', 0x18, cm.cmSidrRep, 'answers SIDR_REQ'),
  attribute('general', 0x01, perf.classPortInfo, 'what an agent of a class can do'),
  attribute('general', 0x02, generalNotice, 'what an agent has to report', 'none', GENERAL_FORMS),
];

/** The family of a class; null where only the common attributes have a known form. */
export function familyOf(mgmtClass: number): Family | null {
  switch (MgmtClass.nameOf(mgmtClass)) {
    case 'SUBN_LID_ROUTED':
    case 'SUBN_DIRECTED_ROUTE':
      return 'subnet';
    case 'SUBN_ADM':
      return 'administration';
    case 'PERF':
      return 'performance';
    case 'CM':
      return 'communication';
    default:
      return null;
  }
}

const byKey = new Map(ATTRIBUTES.map((each) => [`${each.family}:${each.id}`, each]));

/** The attribute with that number in a class, or null. */
export function attributeOf(mgmtClass: number, id: number): Attribute | null {
  const family = familyOf(mgmtClass);
  const own = family === null ? undefined : byKey.get(`${family}:${id}`);
  if (own) return own;
  // Subnet management has a Notice of its own, and no ClassPortInfo; a vendor may number as he likes.
  if (family === 'subnet' || isVendor1(mgmtClass) || isVendor2(mgmtClass)) return null;
  return byKey.get(`general:${id}`) ?? null;
}

/** Attributes of that name in any spelling of upper and lower case; Notice has two. */
export const attributesNamed = (name: string): Attribute[] =>
  ATTRIBUTES.filter((each) => each.name.toLowerCase() === name.toLowerCase());

/** An attribute that is known to be in the table. */
export function requiredAttribute(name: string, family: Family): Attribute {
  const found = ATTRIBUTES.find((each) => each.name === name && each.family === family);
  if (!found) throw new TypeError(`no attribute ${name} of ${family}`);
  return found;
}

/** Every form of an attribute: the usual one, and those of a Notice whose details are known. */
export const layoutsOf = ({ layout, forms }: Attribute): Struct<Fields>[] => [
  layout,
  ...forms.map((form) => form.layout),
];

/** The form that has all of these fields; null where none has. */
export const layoutWith = (attribute: Attribute, names: readonly string[]): Struct<Fields> | null =>
  layoutsOf(attribute).find(({ fields }) => names.every((name) => Object.hasOwn(fields, name))) ?? null;

/** The form of a Notice for a trap of a class; null where its details are not known. */
export function formOf(attribute: Attribute, mgmtClass: number, trap: number): Struct<Fields> | null {
  const form = attribute.forms.find(
    (each) => each.traps.includes(trap) && (each.mgmtClass === null || each.mgmtClass === mgmtClass),
  );
  return form?.layout ?? null;
}

/** The form of what an attribute holds, by its bytes, which must be enough. */
export function layoutFor(attribute: Attribute, mgmtClass: number, data: Uint8Array): Struct<Fields> {
  if (attribute.forms.length === 0) return attribute.layout;
  const values: { readonly [field: string]: unknown } = attribute.layout.decode(data);
  const isGeneric = values['is_generic'] === 1;
  return (isGeneric && formOf(attribute, mgmtClass, Number(values['trap_number']))) || attribute.layout;
}

/** The bits of a record's fields in the component mask; null for what is not a record. */
export function componentBits(record: Attribute): ReadonlyMap<string, bigint> | null {
  const components = sa.COMPONENTS[record.name];
  if (!components) return null;
  const bits = new Map<string, bigint>();
  for (const [bit, name] of components.entries()) {
    if (name !== null) bits.set(name, (bits.get(name) ?? 0n) | (1n << BigInt(bit)));
  }
  return bits;
}
