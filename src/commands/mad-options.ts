/** Options and values that the mad commands share. */
import { MgmtClass } from '../datagram/codes.ts';
import type { SessionOptions } from '../mad/session.ts';
import type { Target } from '../mad/target.ts';
import { type OptionSpec, positiveInteger, text, UsageError } from './spec.ts';

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

/** A management class by name or number. */
export const CLASS_OPTION: OptionSpec<number | null> = {
  flags: '--class <class>',
  description: 'management class, by name (PERF) or number (0x04)',
  initial: null,
  parse(value) {
    const known = MgmtClass.entries.find(([name]) => name.toLowerCase() === value.toLowerCase());
    if (known) return known[1];
    const number = Number(value);
    if (!/^(\d+|0x[0-9a-f]+)$/i.test(value) || number > 0xff || number === 0) {
      const names = MgmtClass.entries.map(([name]) => name).join(', ');
      throw new UsageError(`--class: there is no class '${value}'; known: ${names}, or a number up to 0xff`);
    }
    return number;
  },
};

export const PORT_OPTIONS = {
  ibDev: text('-d, --ib-dev <name>', 'device to send from; the first with an active port if not given'),
  ibPort: positiveInteger('-i, --ib-port <N>', 'port to send from'),
  timeout: positiveInteger('--timeout <ms>', 'wait so long for an answer, each time; 1000 if not given'),
  retries: wholeNumber('--retries <N>', 'send again so often when no answer comes; 3 if not given', 1000),
} as const;

interface PortOptions {
  readonly ibDev: string | null;
  readonly ibPort: number | null;
  readonly timeout: number | null;
  readonly retries: number | null;
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
