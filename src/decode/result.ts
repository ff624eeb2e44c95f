/** What decoding gives, made of what the structures of an interface say. */
import { Failure } from '../explain/failure.ts';
import type { FieldReading, MissingField } from '../layout/readings.ts';
import type { DecodedPart, DecodeResult } from '../model/decode.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';

export type Interface = DecodeResult['interface'];

/** What has been found in some bytes. */
export interface Findings {
  readonly edition?: string;
  readonly header?: string;
  readonly name: string | null;
  readonly brief: string | null;
  readonly parts: readonly DecodedPart[];
  readonly missing: readonly MissingField[];
  readonly older?: readonly MissingField[];
  readonly extra: { readonly offset: number; readonly bytes: Uint8Array } | null;
  readonly notes: readonly string[];
  /** Why this cannot be what it is taken for, null where it can. */
  readonly wrong: string | null;
}

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export const partOf = (title: string, fields: readonly FieldReading[]): DecodedPart => ({
  title,
  fields: fields.map(({ bitOffset = null, bitWidth = null, ...field }) => ({
    ...field,
    bit_offset: bitOffset,
    bit_width: bitWidth,
  })),
});

/** @param cut the text that spelled the bytes says that it leaves some out: then none are missing */
export function decodeResult(
  kind: Interface,
  length: number,
  cut: boolean,
  findings: Findings,
): DecodeResult {
  const { missing } = findings;
  const error =
    findings.wrong !== null
      ? new Failure('INCOMPLETE', findings.wrong, CHECK_KIND)
      : missing.length > 0 && !cut
        ? new Failure('INCOMPLETE', missingText(missing, length), CHECK_LENGTH)
        : null;
  return {
    schema: SCHEMA_IDS.decode,
    error: error?.toJSON() ?? null,
    interface: kind,
    edition: findings.edition ?? null,
    header: findings.header ?? null,
    name: findings.name,
    brief: findings.brief,
    length,
    cut,
    parts: [...findings.parts],
    missing: [...missing],
    older: [...(findings.older ?? [])],
    extra: findings.extra && { offset: findings.extra.offset, hex: hexOf(findings.extra.bytes) },
    notes: [...findings.notes],
  };
}

const CHECK_LENGTH = 'check that the bytes are whole: strace cuts strings at 32 bytes without -s 4096';
const CHECK_KIND = 'check the kind (ucma, umad, mad), --edition and --header';

function missingText(missing: readonly MissingField[], length: number): string {
  const names = missing.map(({ name }) => name);
  const few =
    names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
  const end = Math.max(...missing.map(({ offset, size }) => offset + size));
  return `${end - length} bytes are missing: ${length} were given, and ${few} ${names.length === 1 ? 'lies' : 'lie'} in the first ${end}`;
}

/** What `--json` prints where decoding failed before anything was found. */
export const emptyDecode = (kind: Interface, error: DecodeResult['error']): DecodeResult => ({
  ...decodeResult(kind, 0, false, {
    name: null,
    brief: null,
    parts: [],
    missing: [],
    extra: null,
    notes: [],
    wrong: null,
  }),
  error,
});
