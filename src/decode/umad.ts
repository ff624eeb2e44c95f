/** What is read from and written to /dev/infiniband/umadN: a user-MAD header of either kind, and a datagram. */
import { constants } from 'node:os';
import { ibUserMadHdr, ibUserMadHdrOld } from '../abi/umad.ts';
import { isVendor1, isVendor2, MgmtClass } from '../datagram/classes.ts';
import { HEADER_SIZE, MAD_SIZE } from '../datagram/headers.ts';
import { readFields } from '../layout/readings.ts';
import { findMad, madBrief } from './mad.ts';
import { type Findings, partOf } from './result.ts';

export type UserMadHeader = 'old' | 'new';

const LAYOUTS = { old: ibUserMadHdrOld, new: ibUserMadHdr } as const;

/** Which header these bytes begin with; null where nothing tells. */
export function headerIn(bytes: Uint8Array): UserMadHeader | null {
  const candidates = (['new', 'old'] as const).filter((kind) =>
    looksLikeMad(bytes.subarray(LAYOUTS[kind].size)),
  );
  if (candidates.length === 1) return candidates[0] ?? null;
  const kinds: readonly UserMadHeader[] = ['new', 'old'];
  return (
    kinds.find((kind) => bytes.length === LAYOUTS[kind].size + MAD_SIZE) ??
    kinds.find((kind) => bytes.length === LAYOUTS[kind].size + HEADER_SIZE) ??
    null
  );
}

/** Base version 1, a class that there is, and a class version. */
function looksLikeMad([base, mgmtClass = 0, version = 0]: Uint8Array): boolean {
  const isClass = MgmtClass.nameOf(mgmtClass) !== null || isVendor1(mgmtClass) || isVendor2(mgmtClass);
  return base === 1 && isClass && version >= 1 && version <= 2;
}

export function findUmad(bytes: Uint8Array, wanted: UserMadHeader | 'auto'): Findings {
  const detected = wanted === 'auto' ? headerIn(bytes) : wanted;
  const kind = detected ?? 'new';
  const layout = LAYOUTS[kind];
  const header = readFields(layout, bytes, { prefix: 'umad.' });
  const parts = [partOf(layout.title, header.fields)];
  const notes =
    detected === null
      ? [
          'nothing tells which header this is: taken for the new one, of 64 bytes (--header old for the other)',
        ]
      : [];
  if (header.missing.length > 0) {
    return {
      header: kind,
      name: null,
      brief: null,
      parts,
      missing: header.missing,
      extra: null,
      notes,
      wrong: null,
    };
  }
  const { status } = layout.decode(bytes);
  const isTimeout = status === constants.errno.ETIMEDOUT;
  if (isTimeout) {
    notes.push(
      'status ETIMEDOUT (110): no answer came; what follows is the beginning of the request, with its TID',
    );
  }
  const mad = findMad(bytes.subarray(layout.size), layout.size, isTimeout);
  return {
    ...mad,
    header: kind,
    brief: umadBrief(bytes, kind),
    parts: [...parts, ...mad.parts],
    notes: [...notes, ...mad.notes],
  };
}

/** One line: the datagram, and where it goes or comes from. */
export function umadBrief(bytes: Uint8Array, kind: UserMadHeader): string | null {
  const layout = LAYOUTS[kind];
  if (bytes.length < layout.size) return null;
  const { id, status, timeout_ms, retries, qpn, lid, grh_present, length } = layout.decode(bytes);
  const text = madBrief(bytes.subarray(layout.size)) ?? 'a datagram that is cut';
  return [
    text,
    `lid ${lid} qpn ${qpn}`,
    ...(grh_present === 0 ? [] : ['with GRH']),
    `agent ${id}`,
    // The kernel fills in the length of what it gives, and no timeout.
    ...(length === 0 ? [`timeout ${timeout_ms} ms`, ...(retries === 0 ? [] : [`retries ${retries}`])] : []),
    ...(status === 0
      ? []
      : [status === constants.errno.ETIMEDOUT ? 'ETIMEDOUT: no answer' : `status ${status}`]),
  ].join(', ');
}
