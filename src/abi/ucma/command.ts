import type { Fields, Struct } from '../../layout/struct.ts';

/** A structure as a command has it: with the shorter sizes of older kernels or programs. */
export interface UcmaForm<F extends Fields = Fields> {
  readonly layout: Struct<F>;
  /** The sizes that are valid, ascending; the last is the whole structure's. */
  readonly sizes: readonly number[];
  /** What follows the structure, as often as `count` says. */
  readonly list: { readonly name: string; readonly count: string; readonly layout: Struct<Fields> } | null;
}

/** One command of an edition. */
export interface UcmaCommand<Q extends Fields = Fields, R extends Fields = Fields> {
  readonly number: number;
  /** In the edition's header, after RDMA_USER_CM_CMD_. */
  readonly name: string;
  /** What it does, one sentence without a full stop. */
  readonly meaning: string;
  /** null where the edition describes no structure. */
  readonly request: UcmaForm<Q> | null;
  /** null where nothing is answered. */
  readonly response: UcmaForm<R> | null;
  /** Where a member of the request decides what is answered: its values with their answers. */
  readonly answers: UcmaAnswers | null;
  /** The first kernel that knows it, as people call it; null: all do. */
  readonly since: string | null;
  /** What a line about the command shows after its name, from the texts of its request's fields. */
  readonly brief: Brief;
}

/** @param field gives the text of a field by its path, `?` where the bytes do not hold it */
export type Brief = (field: (path: string) => string) => string;

export interface UcmaAnswers {
  readonly member: string;
  readonly byValue: ReadonlyMap<number, UcmaForm>;
}

/** A structure that is always whole. */
export function whole<F extends Fields>(layout: Struct<F>): UcmaForm<F> {
  return { layout, sizes: [layout.size], list: null };
}

/**
 * A structure that may end early.
 * @param sizes where it may end; members that newer editions added lie behind
 */
export function endingAt<F extends Fields>(layout: Struct<F>, ...sizes: number[]): UcmaForm<F> {
  return { layout, sizes: [...sizes, layout.size], list: null };
}

/** A structure that a list of others follows. */
export function withList<F extends Fields>(
  layout: Struct<F>,
  name: string,
  count: keyof F & string,
  element: Struct<Fields>,
): UcmaForm<F> {
  return { layout, sizes: [layout.size], list: { name, count, layout: element } };
}

export interface UcmaParts<Q extends Fields, R extends Fields> {
  readonly request?: UcmaForm<Q>;
  readonly response?: UcmaForm<R>;
  readonly answers?: UcmaAnswers;
  readonly brief?: Brief;
  readonly since?: string;
}

/** Declares a command. */
export function command<Q extends Fields, R extends Fields>(
  number: number,
  name: string,
  meaning: string,
  { request, response, answers, since, brief = () => '' }: UcmaParts<Q, R>,
): UcmaCommand<Q, R> {
  return {
    number,
    name,
    meaning,
    request: request ?? null,
    response: response ?? null,
    answers: answers ?? null,
    since: since ?? null,
    brief,
  };
}
