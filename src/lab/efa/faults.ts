/** What can be wrong with the simulated machine or one of its devices. */
import { constants } from 'node:os';
import { usageError } from '../error.ts';

/** What is wrong with one device. */
export interface DeviceFaults {
  /** errno of open(2) on the node. */
  readonly open?: number;
  readonly noNode?: boolean;
  /** Permission bits of the node. */
  readonly mode?: number;
  /** node_guid. */
  readonly guid?: bigint;
  /** Capability bits in the kernel's numbering. */
  readonly caps?: number;
  /** errnos of the kernel's answers. */
  readonly context?: number;
  readonly queryDevice?: number;
  readonly queryPort?: number;
  readonly gidTable?: number;
  readonly gidEntry?: number;
  /** Microseconds that opening a context takes. */
  readonly delayUs?: number;
}

/** What is wrong with the machine. */
export interface MachineFaults {
  readonly noProvider: boolean;
  readonly noModule: boolean;
  readonly noDriver: boolean;
  readonly noDevice: boolean;
  readonly noNetlink: boolean;
  readonly hiddenSymbols: readonly string[];
  readonly hiddenLibraries: readonly string[];
}

export interface Faults {
  readonly machine: MachineFaults;
  /** The faults of a device, those of `*` included. */
  of(device: string): DeviceFaults;
  /** Names of devices that faults were given for. */
  readonly devices: readonly string[];
}

/** How a fault is written, for help texts. */
export interface FaultHelp {
  readonly syntax: string;
  readonly description: string;
}

interface DeviceFault extends FaultHelp {
  readonly name: string;
  /** Throws a sentence on what is wrong with the value. */
  read(value: string | null): DeviceFaults;
}

class BadValue extends Error {}

function errnoOf(value: string | null): number {
  const known = constants.errno as { readonly [name: string]: number };
  const number = value === null ? undefined : (known[value.toUpperCase()] ?? Number(value || Number.NaN));
  if (number === undefined || !Number.isInteger(number) || number < 1 || number > 4095) {
    throw new BadValue('needs the name or number of an errno, such as EACCES');
  }
  return number;
}

function integerOf(value: string | null, maximum: bigint, what: string, pattern: RegExp): bigint {
  if (value === null || !pattern.test(value) || BigInt(value) > maximum) throw new BadValue(`needs ${what}`);
  return BigInt(value);
}

function nothing(value: string | null): void {
  if (value !== null) throw new BadValue('takes no value');
}

const INTEGER = /^(0x[0-9a-f]+|[0-9]+)$/i;

const DEVICE_FAULTS: readonly DeviceFault[] = [
  {
    name: 'open',
    syntax: 'NAME:open=ERRNO',
    description: 'opening the device node fails; with EACCES the node is for root alone (mode 0600)',
    read: (value) => ({ open: errnoOf(value) }),
  },
  {
    name: 'no-node',
    syntax: 'NAME:no-node',
    description: 'the node under /dev/infiniband does not exist',
    read: (value) => {
      nothing(value);
      return { noNode: true };
    },
  },
  {
    name: 'mode',
    syntax: 'NAME:mode=OCTAL',
    description: 'permission bits of the node, such as 0600; they bind every user but root',
    read: (value) => {
      if (value === null || !/^0?[0-7]{3}$/.test(value))
        throw new BadValue('needs three octal digits, such as 0600');
      return { mode: Number.parseInt(value, 8) };
    },
  },
  {
    name: 'guid',
    syntax: 'NAME:guid=GUID',
    description: 'node GUID; 0 is what EFA drivers before r2.12 show',
    read: (value) => {
      const digits =
        value !== null && /^([0-9a-f]{4}:){3}[0-9a-f]{4}$/i.test(value)
          ? `0x${value.replaceAll(':', '')}`
          : value;
      return {
        guid: integerOf(digits, (1n << 64n) - 1n, 'a GUID, such as 0 or 0242:acff:fe11:0002', INTEGER),
      };
    },
  },
  {
    name: 'caps',
    syntax: 'NAME:caps=MASK',
    description: 'capability bits of an EFA device as the kernel numbers them, unknown ones included',
    read: (value) => ({
      caps: Number(integerOf(value, 0xffffffffn, 'a mask of 32 bits, such as 0x23', INTEGER)),
    }),
  },
  {
    name: 'context',
    syntax: 'NAME:context=ERRNO',
    description: 'the node opens, and the kernel refuses a context',
    read: (value) => ({ context: errnoOf(value) }),
  },
  {
    name: 'query-device',
    syntax: 'NAME:query-device=ERRNO',
    description: 'the device opens, and querying it fails',
    read: (value) => ({ queryDevice: errnoOf(value) }),
  },
  {
    name: 'query-port',
    syntax: 'NAME:query-port=ERRNO',
    description: 'querying a port fails',
    read: (value) => ({ queryPort: errnoOf(value) }),
  },
  {
    name: 'gid-table',
    syntax: 'NAME:gid-table=ERRNO',
    description: 'querying the whole GID table fails',
    read: (value) => ({ gidTable: errnoOf(value) }),
  },
  {
    name: 'gid-entry',
    syntax: 'NAME:gid-entry=ERRNO',
    description: 'querying a single GID fails',
    read: (value) => ({ gidEntry: errnoOf(value) }),
  },
  {
    name: 'delay',
    syntax: 'NAME:delay=MS',
    description: 'opening a context takes that many milliseconds',
    read: (value) => ({
      delayUs: Number(integerOf(value, 4_000_000n, 'milliseconds, up to 4000000', /^[0-9]+$/)) * 1000,
    }),
  },
];

type MutableMachine = { -readonly [K in keyof MachineFaults]: MachineFaults[K] };

const MACHINE_FAULTS: readonly (FaultHelp & {
  readonly name: string;
  apply(machine: MutableMachine, value: string | null): void;
})[] = [
  {
    name: 'no-provider',
    syntax: 'no-provider',
    description: 'no provider library is installed or configured',
    apply: (machine, value) => {
      nothing(value);
      machine.noProvider = true;
    },
  },
  {
    name: 'no-module',
    syntax: 'no-module',
    description: 'the kernel module ib_uverbs is not loaded: devices without verbs',
    apply: (machine, value) => {
      nothing(value);
      machine.noModule = true;
    },
  },
  {
    name: 'no-driver',
    syntax: 'no-driver',
    description: 'the cards are there, and no RDMA module is loaded',
    apply: (machine, value) => {
      nothing(value);
      machine.noDriver = true;
    },
  },
  {
    name: 'no-device',
    syntax: 'no-device',
    description: 'the modules are loaded, and there is no card',
    apply: (machine, value) => {
      nothing(value);
      machine.noDevice = true;
    },
  },
  {
    name: 'no-netlink',
    syntax: 'no-netlink',
    description: 'the kernel answers no RDMA netlink requests, as before 5.1: libibverbs reads sysfs',
    apply: (machine, value) => {
      nothing(value);
      machine.noNetlink = true;
    },
  },
  {
    name: 'hide-symbol',
    syntax: 'hide-symbol=SYMBOL',
    description: 'dlsym does not find the function, as in an older library',
    apply: (machine, value) => {
      if (value === null || !/^\w+$/.test(value)) throw new BadValue('needs the name of a function');
      machine.hiddenSymbols = [...machine.hiddenSymbols, value];
    },
  },
  {
    name: 'hide-library',
    syntax: 'hide-library=FILE',
    description: 'dlopen does not find the library, such as libefa.so.1',
    apply: (machine, value) => {
      if (value === null || !/^[^/\s]+$/.test(value))
        throw new BadValue('needs the file name of a library, without a path');
      machine.hiddenLibraries = [...machine.hiddenLibraries, value];
    },
  },
];

/** All faults, with NAME for a device (`*` for all of them). */
export const EFA_FAULTS: readonly FaultHelp[] = [...DEVICE_FAULTS, ...MACHINE_FAULTS].map(
  ({ syntax, description }) => ({ syntax, description }),
);

/** Reads faults as users write them. Throws LabError. */
export function parseFaults(texts: readonly string[]): Faults {
  const machine: MutableMachine = {
    noProvider: false,
    noModule: false,
    noDriver: false,
    noDevice: false,
    noNetlink: false,
    hiddenSymbols: [],
    hiddenLibraries: [],
  };
  const given: { readonly device: string; readonly faults: DeviceFaults }[] = [];
  for (const text of texts) {
    const [, device, name = '', value = null] = /^(?:([^:=]+):)?([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
    try {
      if (device === undefined) named(MACHINE_FAULTS, name, text).apply(machine, value);
      else given.push({ device, faults: named(DEVICE_FAULTS, name, text).read(value) });
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      throw usageError(`fault ${text}: ${name} ${error.message}`);
    }
  }
  return {
    machine,
    of: (device) =>
      Object.assign(
        {},
        ...given.filter((one) => one.device === device || one.device === '*').map((one) => one.faults),
      ),
    devices: [...new Set(given.map((one) => one.device))].filter((device) => device !== '*'),
  };
}

function named<F extends FaultHelp & { readonly name: string }>(
  faults: readonly F[],
  name: string,
  text: string,
): F {
  const found = faults.find((fault) => fault.name === name);
  if (found) return found;
  throw usageError(
    `there is no fault ${JSON.stringify(text)}`,
    `known: ${EFA_FAULTS.map(({ syntax }) => syntax).join(', ')}`,
  );
}
