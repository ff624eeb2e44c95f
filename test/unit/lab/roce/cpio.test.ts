import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cpioArchive } from '../../../../src/lab/roce/cpio.ts';

describe('an archive for the kernel', () => {
  const bytes = Buffer.from('five!');
  const archive = cpioArchive([
    { path: 'etc', kind: 'directory' },
    { path: 'etc/five', kind: 'file', bytes },
    { path: 'init', kind: 'file', bytes: Buffer.alloc(4), mode: 0o755 },
  ]);
  const text = archive.toString('latin1');

  it('begins every member with the magic number of newc, at a multiple of four', () => {
    const starts = [...text.matchAll(/070701/g)].map(({ index }) => index);
    expect(starts).toHaveLength(4);
    expect(starts.filter((start) => start % 4 !== 0)).toEqual([]);
    expect(archive.length % 4).toBe(0);
  });

  it('tells mode, size and the length of the name in hexadecimal', () => {
    const member = text.slice(text.indexOf('etc/five') - 110);
    expect(member.slice(14, 22)).toBe((0o100644).toString(16).padStart(8, '0'));
    expect(member.slice(54, 62)).toBe('00000005');
    expect(member.slice(94, 102)).toBe('00000009');
    expect(text.slice(text.indexOf('init') - 110).slice(14, 22)).toBe('000081ed');
  });

  it('ends with the trailer, so that another archive may follow', () => {
    expect(text.trimEnd().replace(/\0+$/, '')).toMatch(/TRAILER!!!$/);
  });

  it.skipIf(!existsSync('/usr/bin/cpio'))('is what cpio(1) unpacks', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rdmatool-test-'));
    try {
      const { status } = spawnSync('cpio', ['--extract', '--quiet'], { input: archive, cwd: folder });
      expect(status).toBe(0);
      expect(readFileSync(join(folder, 'etc/five'))).toEqual(bytes);
      expect(statSync(join(folder, 'init')).mode & 0o777).toBe(0o755);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
