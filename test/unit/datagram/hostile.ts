/** Datagrams that nobody should send: whole ones with changed bytes, cut ones, noise. */
import { ATTRIBUTES, familyOf } from '../../../src/datagram/attributes.ts';
import { MgmtClass } from '../../../src/datagram/classes.ts';
import { encodeMad } from '../../../src/datagram/message.ts';
import type { randomFrom } from '../layout/support.ts';

type Random = ReturnType<typeof randomFrom>;

const CLASSES = [...MgmtClass.entries.map(([, value]) => value), 0x09, 0x0f, 0x30, 0x4f];

/** A datagram of each attribute in each class that has it, and of each class without one. */
const SAMPLES: readonly Uint8Array[] = CLASSES.flatMap((mgmt_class) => {
  const family = familyOf(mgmt_class) ?? 'general';
  const methods = [0x01, 0x81, 0x92, 0x03];
  const own = ATTRIBUTES.filter((each) => each.family === family);
  return methods.flatMap((method) =>
    [...own.map(({ id }) => id), 0xff00].map((attr_id) =>
      encodeMad({
        header: { base_version: 1, mgmt_class, class_version: 1, method, attr_id },
        sections: { sa: { attr_offset: 14 } },
      }),
    ),
  );
});

export function* hostileMads(random: Random, count: number): Generator<Uint8Array> {
  for (let index = 0; index < count; index++) {
    const kind = random.below(4);
    if (kind === 0) {
      yield random.bytes(random.below(400));
      continue;
    }
    const sample = SAMPLES[random.below(SAMPLES.length)] ?? new Uint8Array();
    // Longer, as RMPP joins them, shorter, or as long as they are.
    const length = kind === 1 ? random.below(257) : kind === 2 ? 256 + random.below(2000) : 256;
    const bytes = new Uint8Array(length);
    bytes.set(sample.subarray(0, length));
    const from = random.below(2) === 0 ? 0 : 24;
    for (let change = random.below(32); change > 0 && length > from; change--) {
      bytes[from + random.below(length - from)] = random.below(256);
    }
    yield bytes;
  }
}
