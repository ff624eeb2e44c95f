/** Archives as the kernel unpacks them at its start: cpio, format `newc`, not compressed. */

export type ArchiveEntry =
  | { readonly path: string; readonly kind: 'directory'; readonly mode?: number }
  | { readonly path: string; readonly kind: 'file'; readonly bytes: Uint8Array; readonly mode?: number };

const S_IFDIR = 0o040000;
const S_IFREG = 0o100000;
const TRAILER = 'TRAILER!!!';

/**
 * An archive. The kernel takes several, one after another, as one.
 * @param entries in order: a directory before what is in it. Paths have no leading slash
 */
export function cpioArchive(entries: readonly ArchiveEntry[]): Buffer {
  const parts = entries.flatMap((entry, index) =>
    entry.kind === 'directory'
      ? member(index + 1, entry.path, S_IFDIR | (entry.mode ?? 0o755), new Uint8Array())
      : member(index + 1, entry.path, S_IFREG | (entry.mode ?? 0o644), entry.bytes),
  );
  return Buffer.concat([...parts, ...member(0, TRAILER, 0, new Uint8Array())]);
}

function member(inode: number, path: string, mode: number, bytes: Uint8Array): Uint8Array[] {
  const name = Buffer.from(`${path}\0`);
  const fields = [inode, mode, 0, 0, 1, 0, bytes.length, 0, 0, 0, 0, name.length, 0];
  const header = `070701${fields.map((value) => value.toString(16).padStart(8, '0')).join('')}`;
  return [padded(Buffer.concat([Buffer.from(header), name])), padded(bytes)];
}

/** Headers and contents begin at multiples of four. */
function padded(bytes: Uint8Array): Uint8Array {
  const gap = (4 - (bytes.length % 4)) % 4;
  return gap === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(gap)]);
}
