/** Bytes to a datagram, as far as they can be read: `mad decode`, and both sides of `mad send`. */
import { ibUserMadHdr, ibUserMadHdrOld } from '../abi/umad.ts';
import { parseHexBytes } from '../datagram/field.ts';
import { MAD_SIZE } from '../datagram/headers.ts';
import { decodeMad, recordJson } from '../datagram/message.ts';
import { LayoutError } from '../layout/error.ts';
import { omitting } from '../layout/struct.ts';
import type { DecodedMad, MadDecodeResult } from '../model/mad.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { usageFailure } from './failures.ts';
import { envelopeOf } from './results.ts';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Never throws for what the bytes hold: the reason takes the place of the fields. */
export function describeMad(bytes: Uint8Array): DecodedMad {
  try {
    const mad = decodeMad(bytes);
    const { attribute } = mad;
    return {
      mad: envelopeOf(mad),
      attribute: attribute?.name ?? null,
      records: attribute ? mad.records.map((values) => recordJson(attribute, values)) : [],
      hex: hexOf(bytes),
      undecoded: null,
    };
  } catch (error) {
    if (!(error instanceof LayoutError)) throw error;
    return { mad: null, attribute: null, records: [], hex: hexOf(bytes), undecoded: error.message };
  }
}

/** Which header the kernel's interface has put before the datagram. */
export type UserHeader = 'auto' | 'none' | 'new' | 'old';

const HEADER_BYTES: Readonly<Record<Exclude<UserHeader, 'auto'>, number>> = {
  none: 0,
  old: ibUserMadHdrOld.size,
  new: ibUserMadHdr.size,
};

/** A whole datagram has 256 bytes: what is more is the header. */
function headerFor(length: number): Exclude<UserHeader, 'auto'> {
  if (length === MAD_SIZE + ibUserMadHdr.size) return 'new';
  if (length === MAD_SIZE + ibUserMadHdrOld.size) return 'old';
  return 'none';
}

const userHeader = omitting(ibUserMadHdr, 'reserved');

/**
 * @param text hexadecimal digits; blanks, colons and line ends between them are passed over
 * @throws Failure for what is not hexadecimal, or too short for the header
 */
export function decodeText(text: string, header: UserHeader): MadDecodeResult {
  let bytes: Uint8Array;
  try {
    bytes = parseHexBytes(text);
  } catch (error) {
    throw usageFailure(error);
  }
  return decodeBytes(bytes, header);
}

/** As decodeText, from bytes. */
export function decodeBytes(bytes: Uint8Array, wanted: UserHeader): MadDecodeResult {
  const kind = wanted === 'auto' ? headerFor(bytes.length) : wanted;
  const length = HEADER_BYTES[kind];
  if (bytes.length < length) {
    throw usageFailure(new LayoutError(`the user-MAD header has ${length} bytes; these are ${bytes.length}`));
  }
  const whole = new Uint8Array(ibUserMadHdr.size);
  whole.set(bytes.subarray(0, length));
  const mad = describeMad(bytes.subarray(length));
  const failure = mad.undecoded === null ? null : usageFailure(new LayoutError(mad.undecoded)).toJSON();
  return {
    schema: SCHEMA_IDS.madDecode,
    error: failure,
    header: kind === 'none' ? null : userHeader.toJson(ibUserMadHdr.decode(whole)),
    mad,
  };
}
