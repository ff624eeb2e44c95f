import { decodeMad, recordJson } from '../datagram/message.ts';
import { LayoutError } from '../layout/error.ts';
import type { DecodedMad } from '../model/mad.ts';
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
