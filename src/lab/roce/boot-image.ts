/** What is inside a bzImage, the form in which distributions ship the kernel of an x86 machine. */

export type Compression = 'xz' | 'zstd' | 'gzip' | 'none';

export interface Payload {
  readonly compression: Compression;
  readonly bytes: Buffer;
}

/** Fields of the setup header, Documentation/arch/x86/boot.rst of Linux. */
const SETUP_SECTORS = 0x1f1;
const MAGIC = 0x202;
const VERSION = 0x206;
const PAYLOAD_OFFSET = 0x248;
const PAYLOAD_LENGTH = 0x24c;
const SECTOR = 512;
/** The first version of the boot protocol whose header tells where the payload is. */
const VERSION_WITH_PAYLOAD = 0x0208;
/** After the compressed bytes stand four with the size of what they hold. */
const SIZE_FIELD = 4;

const MAGICS: ReadonlyArray<readonly [Compression, string]> = [
  ['xz', 'fd377a585a00'],
  ['zstd', '28b52ffd'],
  ['gzip', '1f8b'],
  ['none', '7f454c46'],
];

/**
 * The compressed kernel proper in a bzImage. QEMU starts an uncompressed one directly, which spares an emulated
 * processor the unpacking.
 * @throws RangeError where the bytes are no bzImage, or compressed in another way
 */
export function kernelPayload(image: Buffer): Payload {
  if (image.length < PAYLOAD_LENGTH + 4 || image.toString('latin1', MAGIC, MAGIC + 4) !== 'HdrS') {
    throw new RangeError('not a bzImage');
  }
  if (image.readUInt16LE(VERSION) < VERSION_WITH_PAYLOAD) throw new RangeError('a bzImage of before 2008');
  // Zero stands for the four sectors of very old images.
  const sectors = image.readUInt8(SETUP_SECTORS) || 4;
  const start = (sectors + 1) * SECTOR + image.readUInt32LE(PAYLOAD_OFFSET);
  const end = start + image.readUInt32LE(PAYLOAD_LENGTH);
  if (end > image.length) throw new RangeError('the bzImage is cut short');
  const compression = compressionOf(image.subarray(start));
  if (compression === null) throw new RangeError('the kernel in the bzImage is compressed in an unknown way');
  return { compression, bytes: image.subarray(start, compression === 'none' ? end : end - SIZE_FIELD) };
}

/** How a file is compressed, by its first bytes; `none` for an ELF file; null for anything else. */
export function compressionOf(bytes: Buffer): Compression | null {
  const found = MAGICS.find(([, magic]) => bytes.toString('hex', 0, magic.length / 2) === magic);
  return found?.[0] ?? null;
}
