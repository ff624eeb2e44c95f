/** Options and values that the mad commands share. */
import { Method, MgmtClass } from '../datagram/classes.ts';
import type { SessionOptions } from '../mad/session.ts';
import type { Target } from '../mad/target.ts';
import { readFile } from './read-file.ts';
import {
  flag,
  milliseconds,
  type OptionSpec,
  optionalChoice,
  positiveInteger,
  text,
  UsageError,
} from './spec.ts';

/** A whole number, decimal or 0x…, of at most `most`. */
export function wholeNumber(flags: string, description: string, most: number): OptionSpec<number | null> {
  return {
    flags,
    description,
    initial: null,
    parse(value) {
      const number = Number(value);
      if (!/^(\d+|0x[0-9a-f]+)$/i.test(value) || number > most) {
        throw new UsageError(`${flags}: '${value}' is not a whole number up to ${most}`);
      }
      return number;
    },
  };
}

/** An unsigned number of up to `width` bits, decimal or 0x…, as a bigint. */
export function hexText(flags: string, description: string, width: number): OptionSpec<bigint | null> {
  return {
    flags,
    description,
    initial: null,
    parse(value) {
      if (!/^(\d+|0x[0-9a-f]+)$/i.test(value) || BigInt(value) >> BigInt(width) !== 0n) {
        throw new UsageError(`${flags}: '${value}' is not a number of ${width} bits`);
      }
      return BigInt(value);
    },
  };
}

export const WRITE_FLAG = flag('--write', 'allow what can change the fabric');

/** Throws UsageError unless the user has said that the fabric may be changed. */
export function requireWrite(given: boolean, what: string): void {
  if (!given) throw new UsageError(`${what} can change the fabric: say --write to allow it`);
}

/** A management class by name or number. Throws UsageError. */
function classNamed(flags: string, value: string): number {
  const known = MgmtClass.entries.find(([name]) => name.toLowerCase() === value.toLowerCase());
  if (known) return known[1];
  const number = Number(value);
  if (!/^(\d+|0x[0-9a-f]+)$/i.test(value) || number > 0xff || number === 0) {
    const names = MgmtClass.entries.map(([name]) => name).join(', ');
    throw new UsageError(
      `${flags.split(' ')[0]}: there is no class '${value}'; known: ${names}, or a number up to 0xff`,
    );
  }
  return number;
}

export const CLASS_OPTION: OptionSpec<number | null> = {
  flags: '--class <class>',
  description: 'management class, by name (PERF) or number (0x04)',
  complete: async () => MgmtClass.entries.map(([name]) => name),
  initial: null,
  parse: (value) => classNamed('--class', value),
};

/** Management classes, one each time it is given. */
export function classesOption(flags: string, description: string): OptionSpec<readonly number[]> {
  return {
    flags,
    description,
    initial: [],
    parse: (value, previous) => [...previous, classNamed(flags, value)],
  };
}

/** A method by name or number, up to `most`. Throws UsageError. */
export function methodNamed(flags: string, value: string, most = 0xff): number {
  const known = Method.entries.find(([name]) => name.toLowerCase() === value.toLowerCase());
  const number = known ? known[1] : /^(\d+|0x[0-9a-f]+)$/i.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(number) || number > most) {
    const names = Method.entries.filter(([, each]) => each <= most).map(([name]) => name);
    throw new UsageError(
      `${flags}: there is no method '${value}'; known: ${names.join(', ')}, or a number up to 0x${most.toString(16)}`,
    );
  }
  return number;
}

/** Which port, and how the kernel is spoken to. */
export const DEVICE_OPTIONS = {
  ibDev: text('-d, --ib-dev <name>', 'device to send from; the first with an active port if not given'),
  ibPort: positiveInteger('-i, --ib-port <N>', 'port to send from'),
  transport: optionalChoice(
    '--transport <way>',
    'how to speak to the kernel: through libibumad, or by /dev/infiniband/umadN itself (device); libibumad if not given',
    ['libibumad', 'device'],
  ),
  header: optionalChoice(
    '--header <kind>',
    'header before each datagram: new, or old (56 bytes, no P_Key index), which needs the device; new if not given',
    ['old', 'new'],
  ),
} as const;

export const PORT_OPTIONS = {
  ...DEVICE_OPTIONS,
  timeout: milliseconds('--timeout <ms>', 'wait so long for an answer, each time; 1000 if not given'),
  retries: wholeNumber('--retries <N>', 'send again so often when no answer comes; 3 if not given', 1000),
} as const;

interface PortOptions {
  readonly ibDev: string | null;
  readonly ibPort: number | null;
  readonly timeout: number | null;
  readonly retries: number | null;
  readonly keyFile?: string | null;
}

/** The session that the options ask for. */
export async function sessionOptions(options: PortOptions, window?: number | null): Promise<SessionOptions> {
  const { DEFAULT_RETRIES, DEFAULT_TIMEOUT_MS, DEFAULT_WINDOW } = await import('../mad/session.ts');
  return {
    device: options.ibDev,
    port: options.ibPort,
    timeoutMs: options.timeout ?? DEFAULT_TIMEOUT_MS,
    retries: options.retries ?? DEFAULT_RETRIES,
    window: window ?? DEFAULT_WINDOW,
    key: readKey(options.keyFile ?? null),
  };
}

/** Throws Failure for what is no target. */
export async function targetOf(argument: string): Promise<Target> {
  const { parseTarget } = await import('../mad/target.ts');
  const { usageFailure } = await import('../mad/failures.ts');
  try {
    return parseTarget(argument);
  } catch (error) {
    throw usageFailure(error);
  }
}

export const TARGET_ARGUMENT =
  'a LID (3), a directed path (0,1,3), a GUID (0x0002c90300001234), a GID (fe80::2:c903:0:1234), or local';

/** Examples of a lab end with 0 on any machine. */
export const IN_LAB = 'rdmatool lab run ib -- rdmatool';

/** As IN_LAB, on the real kernel; a GID of the second of its two devices, rxe1. */
export const IN_ROCE = 'rdmatool lab run roce --';
export const ROCE_TARGET = 'fd09:1::1';

export const KEY_OPTION = text(
  '--key-file <file>',
  'M_Key or SM_Key, as 0x and digits in a file; or in RDMATOOL_MAD_KEY',
);

/** More than any message that RMPP carries; a file without an end is noticed. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The data of a datagram. Throws Failure. */
export const readBytes = (path: string, what: string): Uint8Array => readFile(path, what, MOST_BYTES);

/** A secret: never on the command line, where every user of the machine can read it. */
export function readKey(file: string | null): bigint | null {
  const words =
    file === null
      ? process.env['RDMATOOL_MAD_KEY']
      : Buffer.from(readFile(file, 'the key', 4096)).toString('utf8');
  if (words === undefined) return null;
  if (!/^0x[0-9a-f]{1,16}$/i.test(words.trim())) {
    throw new UsageError('the key is 0x and up to 16 hexadecimal digits');
  }
  return BigInt(words.trim());
}
