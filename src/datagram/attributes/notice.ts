/** Notices, and what each trap tells in its details. IBTA volume 1, 13.4.8, 13.4.9 and 14.2.5.1. */
import { PortCap, PortCap2 } from '../../abi/verbs-codes.ts';
import { bitRecord } from '../../layout/bits.ts';
import type { Fields, Struct } from '../../layout/struct.ts';
import { MgmtClass } from '../classes.ts';
import { NoticeType, TrapChange } from '../codes.ts';
import { bytes, type Field, flags, gid, guid, hex, named, number, wideHex } from '../field.ts';

/** Of subnet management's Notice; those of general classes have the issuer's GID behind. */
const SUBNET_SIZE = 64;
const GENERAL_SIZE = 80;
/** The first bit of DataDetails, and their bytes. */
const DETAILS = 80;
const DETAILS_SIZE = 54;

const head = {
  is_generic: number(0, 1, '1: a trap of the IBTA; 0: of a vendor'),
  type: named(1, 7, NoticeType, 'how grave it is'),
  producer_type: hex(8, 24, 'of a generic trap the node type; else the vendor'),
  trap_number: number(32, 16, 'of a generic trap its number; else the device id'),
  issuer_lid: number(48, 16, 'LID of the sender'),
  notice_toggle: number(64, 1, 'changes with each notice in the queue'),
  notice_count: number(65, 15, 'notices in the queue'),
} as const;
const undivided = { data_details: bytes(DETAILS, DETAILS_SIZE, 'depends on the trap') } as const;
const tail = { issuer_gid: gid(512, 'GID of the sender') } as const;

export const notice = bitRecord('Notice', SUBNET_SIZE, { ...head, ...undivided });
export const generalNotice = bitRecord('Notice', GENERAL_SIZE, { ...head, ...undivided, ...tail });

type DetailFields = {
  readonly [name: string]: Field<never> | Field<number> | Field<bigint> | Field<Uint8Array>;
};

const at = (bit: number): number => DETAILS + bit;
const lid = (bit: number, meaning: string): Field<number, number> => number(at(bit), 16, meaning);
const qpn = (bit: number, meaning: string): Field<number, number> => number(at(bit), 24, meaning);

const keyViolation = {
  lid1: lid(16, 'LID of the sender'),
  lid2: lid(32, 'LID of the receiver'),
  key: hex(at(48), 32, 'the key that was refused'),
  sl: number(at(80), 4, 'service level'),
  qp1: qpn(88, 'queue pair of the sender'),
  qp2: qpn(120, 'queue pair of the receiver'),
  gid1: gid(at(144), 'GID of the sender'),
  gid2: gid(at(272), 'GID of the receiver'),
} as const;

const linkTrouble = {
  lid: lid(16, 'LID of the port'),
  port_num: number(at(32), 8, 'the port'),
} as const;

/** What a general class tells of a datagram with a wrong key. */
const wrongKey = (name: string, lidName: string, modifier: number) =>
  ({
    [lidName]: lid(0, 'LID of the sender'),
    method: number(at(16), 8, 'method of the datagram'),
    attribute_id: hex(at(32), 16, 'attribute of the datagram'),
    attribute_modifier: hex(at(modifier), 32, 'attribute modifier of the datagram'),
    qp: qpn(modifier + 40, 'queue pair of the sender'),
    [name]: wideHex(at(modifier + 64), 'the key that was refused'),
    gid: gid(at(modifier + 128), 'GID of the sender'),
  }) as const;

interface Trap {
  readonly numbers: readonly number[];
  /** What the details are of: subnet management, or the one general class that has the trap. */
  readonly of: 'subnet' | number;
  readonly fields: DetailFields;
}

const TRAPS: readonly Trap[] = [
  { numbers: [64, 65], of: 'subnet', fields: { gid: gid(at(48), 'GID of the port that came or went') } },
  {
    numbers: [66, 67],
    of: 'subnet',
    fields: { mgid: gid(at(48), 'the multicast group that was made or removed') },
  },
  {
    numbers: [128],
    of: 'subnet',
    fields: { lid: lid(0, 'LID of the switch that has a port whose state changed') },
  },
  { numbers: [129, 130, 131], of: 'subnet', fields: linkTrouble },
  {
    numbers: [144],
    of: 'subnet',
    fields: {
      lid: lid(16, 'LID of the port'),
      other_local_changes: number(at(47), 1, '1: change_flags tell what changed'),
      capability_mask: flags(at(48), 32, PortCap, 'what the port can do now'),
      change_flags: flags(at(80), 16, TrapChange, 'what has changed'),
      capability_mask2: flags(at(96), 16, PortCap2, 'what the port can do now, continued'),
    },
  },
  {
    numbers: [145],
    of: 'subnet',
    fields: {
      lid: lid(16, 'LID of the port'),
      system_image_guid: guid(at(48), 'the new GUID of the system'),
    },
  },
  {
    numbers: [256],
    of: 'subnet',
    fields: {
      lid: lid(16, 'LID of the sender'),
      dr_slid: lid(32, 'where the directed path of the datagram began'),
      method: number(at(48), 8, 'method of the datagram'),
      attribute_id: hex(at(64), 16, 'attribute of the datagram'),
      attribute_modifier: hex(at(80), 32, 'attribute modifier of the datagram'),
      m_key: wideHex(at(112), 'the M_Key that was refused'),
      dr_notice: number(at(184), 1, '1: the datagram came along a directed path'),
      dr_path_truncated: number(at(185), 1, '1: the path back has more hops than are told'),
      dr_hop_count: number(at(186), 6, 'hops of the path back'),
      dr_notice_return_path: bytes(at(192), 30, 'ports of the path back'),
    },
  },
  { numbers: [257, 258], of: 'subnet', fields: keyViolation },
  {
    numbers: [259],
    of: 'subnet',
    fields: {
      data_valid: hex(at(0), 16, 'which of these mean something'),
      lid1: lid(16, 'LID of the sender'),
      lid2: lid(32, 'LID of the receiver'),
      p_key: hex(at(48), 16, 'the P_Key that was refused'),
      sl: number(at(64), 4, 'service level'),
      qp1: qpn(72, 'queue pair of the sender'),
      qp2: qpn(104, 'queue pair of the receiver'),
      gid1: gid(at(128), 'GID of the sender'),
      gid2: gid(at(256), 'GID of the receiver'),
      switch_lid: lid(384, 'LID of the switch that refused'),
      port_num: number(at(400), 8, 'port of the switch'),
    },
  },
  { numbers: [259], of: MgmtClass.valueOf('BM'), fields: wrongKey('b_key', 'lid', 48) },
  { numbers: [0], of: MgmtClass.valueOf('CONG_MGMT'), fields: wrongKey('cc_key', 'slid', 64) },
];

/** A form of Notice whose details are understood. */
export interface NoticeForm {
  readonly layout: Struct<Fields>;
  readonly traps: readonly number[];
  /** Of the class: null stands for subnet management, and the reports of it that subnet administration sends. */
  readonly mgmtClass: number | null;
}

const formsOf = (size: number, of: (trap: Trap) => boolean, behind: DetailFields): NoticeForm[] =>
  TRAPS.filter(of).map((trap) => ({
    layout: bitRecord('Notice', size, { ...head, ...trap.fields, ...behind }),
    traps: trap.numbers,
    mgmtClass: trap.of === 'subnet' ? null : trap.of,
  }));

const isOfSubnet = ({ of }: Trap): boolean => of === 'subnet';

/** As a port sends them. */
export const NOTICE_FORMS = formsOf(SUBNET_SIZE, isOfSubnet, {});
/** As subnet administration reports them. */
export const REPORT_FORMS = formsOf(GENERAL_SIZE, isOfSubnet, tail);
/** As agents of general classes send them. */
export const GENERAL_FORMS = formsOf(GENERAL_SIZE, (trap) => !isOfSubnet(trap), tail);
