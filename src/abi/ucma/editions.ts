/**
 * The two editions of the interface. They agree on numbers, not on names: a command is looked up by its number, in
 * the edition that the bytes belong to.
 */
import type { UcmaCommand } from './command.ts';
import { LINUX } from './linux-commands.ts';
import { REFERENCE } from './reference-commands.ts';

export type UcmaEditionName = 'linux' | 'reference';

export interface UcmaEdition {
  readonly name: UcmaEditionName;
  /** Whose it is, for people. */
  readonly title: string;
  /** In order of their numbers. */
  readonly commands: readonly UcmaCommand[];
}

export const UCMA_EDITIONS: Readonly<Record<UcmaEditionName, UcmaEdition>> = {
  linux: {
    name: 'linux',
    title: 'Linux (<rdma/rdma_user_cm.h>)',
    commands: Object.values(LINUX),
  },
  reference: {
    name: 'reference',
    title: 'the reference document (illumos sol_ucma, packed)',
    commands: REFERENCE,
  },
};

/** The command of that number, null where the edition has none. */
export const commandNumbered = (edition: UcmaEdition, number: number): UcmaCommand | null =>
  edition.commands.find((command) => command.number === number) ?? null;
