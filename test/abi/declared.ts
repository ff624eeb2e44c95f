/** Everything that src/abi declares, with its names in C. */
import * as efaKernel from '../../src/abi/efa-kernel.ts';
import * as efadv from '../../src/abi/efadv.ts';
import * as rdmacm from '../../src/abi/rdmacm.ts';
import * as rdmacmCodes from '../../src/abi/rdmacm-codes.ts';
import * as sockaddr from '../../src/abi/sockaddr.ts';
import * as umad from '../../src/abi/umad.ts';
import * as uverbs from '../../src/abi/uverbs.ts';
import * as verbs from '../../src/abi/verbs.ts';
import * as verbsCodes from '../../src/abi/verbs-codes.ts';
import * as verbsQp from '../../src/abi/verbs-qp.ts';
import * as verbsWork from '../../src/abi/verbs-work.ts';
import type { Enumeration } from '../../src/layout/enumeration.ts';
import type { FlagSet } from '../../src/layout/flags.ts';
import type { Fields, Struct } from '../../src/layout/struct.ts';

const exported = [
  verbs,
  verbsCodes,
  verbsQp,
  verbsWork,
  rdmacm,
  rdmacmCodes,
  sockaddr,
  efadv,
  uverbs,
  efaKernel,
  umad,
].flatMap((module) => Object.values<unknown>(module));

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isStruct = (value: unknown): value is Struct<Fields> => isRecord(value) && 'decodeAvailable' in value;
const isEnumeration = (value: unknown): value is Enumeration => isRecord(value) && 'nameOf' in value;
const isFlagSet = (value: unknown): value is FlagSet => isRecord(value) && 'maskOf' in value;

export const layouts = exported.filter(isStruct);
export const enumerations = exported.filter(isEnumeration);
export const flagSets = exported.filter(isFlagSet);

/** Codes of the IBTA that no header of the system names. */
export const WITHOUT_HEADER = ['port physical state', 'link width', 'link speed', 'virtual lanes'];

/** Flags that verbs.h passes over: the kernel's header has the name. */
export const KERNEL_NAMES = new Map(
  [
    ...['FLUSH_GLOBAL', 'FLUSH_PERSISTENT', 'ATOMIC_WRITE'].map((name) => [
      'IBV_DEVICE_',
      'IB_UVERBS_DEVICE_',
      name,
    ]),
    ...[
      'SM_DISABLED',
      'LINK_SPEED_WIDTH_TABLE_SUP',
      'VENDOR_SPECIFIC_MADS_TABLE_SUP',
      'MCAST_PKEY_TRAP_SUPPRESSION_SUP',
      'MCAST_FDB_TOP_SUP',
      'HIERARCHY_INFO_SUP',
    ].map((name) => ['IBV_PORT_', 'IB_UVERBS_PCF_', name]),
  ].map(([ours, kernel, name]) => [`${ours}${name}`, `${kernel}${name}`]),
);

/** Constants of other types that begin with the prefix of a declared one. */
export const OTHER_FAMILIES =
  /^IBV_(QP_(CREATE|EX_WITH|INIT_ATTR|OPEN_ATTR)_|ACCESS_OPTIONAL_|WC_(EX_WITH_|STANDARD_FLAGS$|IP_CSUM_OK_SHIFT$)|WR_TAG_)/;

/** C name and value of every declared constant. */
export function declaredConstants(): [string, bigint][] {
  const named = (
    table: Readonly<Record<string, number>>,
    nameOf: (key: string) => string,
  ): [string, bigint][] => Object.entries(table).map(([key, value]) => [nameOf(key), BigInt(value)]);
  const constants: [string, bigint][] = [
    ...enumerations
      .filter((table) => !WITHOUT_HEADER.includes(table.title))
      .flatMap((table) =>
        table.entries.map(([name, value]): [string, bigint] => [
          table.prefix + name,
          BigInt.asUintN(64, BigInt(value)),
        ]),
      ),
    ...flagSets.flatMap((set) =>
      set.entries.map(([name, mask]): [string, bigint] => {
        // Here the header names the bit, not the mask.
        const isBitNumber = set === verbsCodes.QpTypeMask;
        const cName = set.prefix + name;
        return [KERNEL_NAMES.get(cName) ?? cName, isBitNumber ? BigInt(mask.toString(2).length - 1) : mask];
      }),
    ),
    ...named(sockaddr.AF, (key) => `AF_${key}`),
    ...named(rdmacmCodes.RaiFlag, (key) => `RAI_${key}`),
    ...named(
      { RDMA_MAX_RESP_RES: rdmacmCodes.CM_MAXIMUM, RDMA_UDP_QKEY: rdmacmCodes.UDP_QKEY },
      (key) => key,
    ),
    ...Object.entries(rdmacmCodes.CmOption).flatMap(([key, { level, name }]): [string, bigint][] => [
      [`RDMA_OPTION_${key.slice(0, 2)}`, BigInt(level)],
      [`RDMA_OPTION_${key}`, BigInt(name)],
    ]),
    ...named(umad.UmadIoctl, (key) => `IB_USER_MAD_${key}`),
    ...named(uverbs.UverbsObject, (key) => `UVERBS_OBJECT_${key}`),
    ...named(uverbs.UverbsDeviceMethod, (key) => `UVERBS_METHOD_${key}`),
    ...named(uverbs.UverbsAttr, (key) => `UVERBS_ATTR_${key}`),
    ...named(uverbs.UverbsWriteCommand, (key) =>
      key.startsWith('EX_')
        ? `(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_${key.slice(3)})`
        : `IB_USER_VERBS_CMD_${key}`,
    ),
  ];
  // The 64-bit flags repeat the 32-bit ones.
  return [...new Map(constants)];
}
