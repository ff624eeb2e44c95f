/** How a lab is declared for the command line: once, and `lab run`, `up`, `down` and `status` serve it. */
import type { LabStatus } from '../lab/status.ts';
import {
  type Example,
  type OptionSpec,
  type OptionSpecs,
  type OptionValues,
  type ReferenceTable,
  UsageError,
} from './spec.ts';

/** Takes a line for people. */
export type Say = (line: string) => void;

/** Looks from now on whether somebody reads stdout, and gives what aborts when nobody does any more. */
export type Unread = () => AbortSignal;

export interface LabKind<R extends OptionSpecs = OptionSpecs, U extends OptionSpecs = OptionSpecs> {
  readonly name: string;
  /** What it is, for the description of an argument. */
  readonly about: string;
  /** Paragraphs of the manual page of `lab run`. */
  readonly details: readonly string[];
  readonly examples: readonly Example[];
  /** Options of `lab run`. */
  readonly options: R;
  reference?(): Promise<readonly ReferenceTable[]>;
  /** Runs a command in it. Returns the exit status. */
  run(command: readonly string[], options: OptionValues<R>, say: Say, unread: Unread): Promise<number>;
  /** Of a lab that can stay up. */
  readonly residence?: Residence<U>;
}

export interface Residence<U extends OptionSpecs = OptionSpecs> {
  /** Options of `lab up`. */
  readonly options: U;
  /** Paragraphs of the manual page of `lab up`. */
  readonly details: readonly string[];
  readonly examples: readonly Example[];
  /** Starts it, and comes back when it is ready. */
  up(options: OptionValues<U>, say: Say): Promise<LabStatus | Interrupted>;
  /** Starts it, and stays until it ends. Returns the exit status. */
  keep?(options: OptionValues<U>, say: Say): Promise<number>;
  down(say: Say): Promise<LabStatus | Interrupted>;
  status(): Promise<LabStatus>;
}

/** Ended by a signal, with this exit status. */
export interface Interrupted {
  readonly interrupted: number;
}

/** Keeps the types of the options with the actions. */
export const defineLab = <R extends OptionSpecs, U extends OptionSpecs>(kind: LabKind<R, U>): LabKind<R, U> =>
  kind;

/**
 * The options of several labs for one command, each described with the labs that it is for.
 * @param of the options that a lab has for that command
 */
export function mergedOptions(
  kinds: readonly LabKind[],
  of: (kind: LabKind) => OptionSpecs | undefined,
): OptionSpecs {
  const merged = new Map<string, { readonly labs: string[]; readonly spec: OptionSpec<unknown> }>();
  for (const kind of kinds) {
    for (const [name, spec] of Object.entries(of(kind) ?? {})) {
      const known = merged.get(name);
      if (known) known.labs.push(kind.name);
      else merged.set(name, { labs: [kind.name], spec });
    }
  }
  return Object.fromEntries(
    [...merged].map(([name, { labs, spec }]) => [
      name,
      { ...spec, description: `${labs.join(', ')}: ${spec.description}` },
    ]),
  );
}

/**
 * The values for one lab. An option of another lab is a mistake, and not to be ignored.
 * @throws UsageError
 */
export function ownOptions(
  command: string,
  kind: LabKind,
  own: OptionSpecs,
  all: OptionSpecs,
  values: OptionValues<OptionSpecs>,
): OptionValues<OptionSpecs> {
  for (const [name, spec] of Object.entries(all)) {
    const value = values[name];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== spec.initial;
    if (isGiven && !(name in own)) {
      const flag = /--[\w-]+/.exec(spec.flags)?.[0] ?? name;
      throw new UsageError(`lab ${command} ${kind.name}: ${flag} is not for this lab`);
    }
  }
  return Object.fromEntries(Object.keys(own).map((name) => [name, values[name]]));
}
