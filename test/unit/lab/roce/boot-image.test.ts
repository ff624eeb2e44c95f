import { describe, expect, it } from 'vitest';
import { compressionOf, kernelPayload } from '../../../../src/lab/roce/boot-image.ts';

const XZ = Buffer.from('fd377a585a00', 'hex');

/** A bzImage with the given payload behind two sectors of set-up code. */
function bzImage(payload: Buffer, change: (image: Buffer) => void = () => {}): Buffer {
  const offset = 16;
  const image = Buffer.concat([Buffer.alloc(3 * 512 + offset), payload]);
  image.writeUInt8(2, 0x1f1);
  image.write('HdrS', 0x202);
  image.writeUInt16LE(0x020f, 0x206);
  image.writeUInt32LE(offset, 0x248);
  image.writeUInt32LE(payload.length, 0x24c);
  change(image);
  return image;
}

describe('the kernel in a bzImage', () => {
  it('is found by the header, without the size that follows it', () => {
    const compressed = Buffer.concat([XZ, Buffer.from('kernel')]);
    const image = bzImage(Buffer.concat([compressed, Buffer.from([1, 2, 3, 4])]));
    expect(kernelPayload(image)).toEqual({ compression: 'xz', bytes: compressed });
  });

  it('may be not compressed at all', () => {
    const elf = Buffer.from('\x7fELFkernel');
    expect(kernelPayload(bzImage(elf))).toEqual({ compression: 'none', bytes: elf });
  });

  it.each<[string, Buffer]>([
    ['not a bzImage', Buffer.alloc(4096)],
    ['not a bzImage', Buffer.alloc(10)],
    ['of before 2008', bzImage(XZ, (image) => image.writeUInt16LE(0x0207, 0x206))],
    ['cut short', bzImage(XZ, (image) => image.writeUInt32LE(9999, 0x24c))],
    ['unknown way', bzImage(Buffer.from('LZMA?payload'))],
  ])('is refused: %s', (message, image) => {
    expect(() => kernelPayload(image)).toThrow(message);
  });
});

describe('how a file is compressed', () => {
  it.each([
    ['28b52ffd00', 'zstd'],
    ['1f8b08', 'gzip'],
    ['7f454c4602', 'none'],
    ['00', null],
  ])('%s is %s', (bytes, compression) => {
    expect(compressionOf(Buffer.from(bytes, 'hex'))).toBe(compression);
  });
});
