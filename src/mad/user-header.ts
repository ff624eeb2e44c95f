/** The header that stands before each datagram on the umad device: old and new, as sent and as received. */
import { ibUserMadHdr, ibUserMadHdrOld, UNSET_ON_RECEIVE } from '../abi/umad.ts';
import { FieldValueError, parseGid, parseInteger } from '../datagram/field.ts';
import { errnoName } from '../explain/errno.ts';
import type { Decoded, JsonOf } from '../layout/codec.ts';
import { LayoutError } from '../layout/error.ts';
import { type Encodable, omitting } from '../layout/struct.ts';
import type { ReceivedHeader } from '../model/mad.ts';
import type { HeaderKind } from './backend.ts';

/** What a header is made from; members left out are zero. */
export type HeaderValues = Encodable<Omit<Decoded<typeof ibUserMadHdr>, 'reserved'>>;

export interface UserHeader extends Decoded<typeof ibUserMadHdrOld> {
  readonly kind: HeaderKind;
  /** null: the old header has none. */
  readonly pkey_index: number | null;
}

const LAYOUTS = { old: ibUserMadHdrOld, new: ibUserMadHdr } as const;

export const headerBytes = (kind: HeaderKind): number => LAYOUTS[kind].size;

/** @throws LayoutError where a value does not fit, or the header has no place for it */
export function encodeUserHeader(kind: HeaderKind, values: HeaderValues): Uint8Array {
  if (kind === 'new') return ibUserMadHdr.encode(values);
  const { pkey_index = 0, ...old } = values;
  if (pkey_index !== 0) {
    throw new LayoutError('the old header has no pkey_index: the kernel uses index 0 with it');
  }
  return ibUserMadHdrOld.encode(old);
}

/** @throws LayoutError where the bytes are too few */
export function decodeUserHeader(kind: HeaderKind, bytes: Uint8Array): UserHeader {
  if (kind === 'old') return { kind, ...ibUserMadHdrOld.decode(bytes), pkey_index: null };
  const { reserved: _, ...values } = ibUserMadHdr.decode(bytes);
  return { kind, ...values };
}

type UnsetField = (typeof UNSET_ON_RECEIVE)[number];

const UNSET = 'unset';
const shown = omitting(ibUserMadHdr, 'reserved', 'status', 'pkey_index', ...UNSET_ON_RECEIVE);

/** Why a field that is documented as unset has a value after all. */
function noteOf(name: UnsetField, header: UserHeader): string {
  if (header.status !== 0) return 'as it was sent: this is the own request, come back';
  return name === 'gid_index' && header.grh_present !== 0
    ? 'documented as unset on receipt; this kernel fills it from the route header: the local GID that it came to'
    : 'documented as unset on receipt; this kernel has set it';
}

/** A received header as the commands show it: what is documented as unset and is zero is null, with that word. */
export function userHeaderJson(header: UserHeader): ReceivedHeader {
  const unavailable: Record<string, string> = {};
  const notes: Record<string, string> = {};
  const orUnset = (name: UnsetField): number | null => {
    if (header[name] === 0) {
      unavailable[name] = UNSET;
      return null;
    }
    notes[name] = noteOf(name, header);
    return header[name];
  };
  if (header.pkey_index === null) unavailable['pkey_index'] = 'the old header has none';
  const { kind, status, pkey_index, timeout_ms: _t, qkey: _q, gid_index: _g, ...rest } = header;
  const values: JsonOf<typeof shown> = shown.toJson(rest);
  return {
    kind,
    ...values,
    status: { value: status, name: status === 0 ? 'SUCCESS' : errnoName(status) },
    timeout_ms: orUnset('timeout_ms'),
    qkey: orUnset('qkey'),
    gid_index: orUnset('gid_index'),
    pkey_index,
    unavailable,
    notes,
  };
}

const SETTABLE = ibUserMadHdr.members.filter(({ name }) => name !== 'reserved');

/** Names and meanings of the fields that can be set, for help. */
export const HEADER_FIELDS: ReadonlyArray<readonly [name: string, meaning: string]> = SETTABLE.map(
  ({ name, codec }) => [name, codec.meaning ?? ''],
);

/**
 * Values of the header from `field=value` texts.
 * @throws FieldValueError for a field that there is not, and for a value that does not fit
 */
export function parseHeaderFields(assignments: readonly string[]): HeaderValues {
  const values: Record<string, number | Uint8Array> = {};
  for (const assignment of assignments) {
    const [, name = '', value] = /^([a-z]\w*)=(.*)$/is.exec(assignment) ?? [];
    if (value === undefined) throw new FieldValueError(`'${assignment}' is not FIELD=VALUE`);
    const member = SETTABLE.find((candidate) => candidate.name === name.toLowerCase());
    if (!member) {
      const names = SETTABLE.map((each) => each.name).join(', ');
      throw new FieldValueError(`the user-MAD header has no field ${name}; it has: ${names}`);
    }
    if (Object.hasOwn(values, member.name)) throw new FieldValueError(`${member.name} is given twice`);
    values[member.name] =
      member.name === 'gid' ? parseGid(value) : Number(parseInteger(value, member.size * 8));
  }
  // The names are those of the header, each with a value of its member.
  return values as HeaderValues;
}
