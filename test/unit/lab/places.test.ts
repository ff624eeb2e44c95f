import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cacheDirectory } from '../../../src/lab/cache.ts';
import { TemporaryTree, temporaryBase } from '../../../src/lab/temporary-tree.ts';

describe('cacheDirectory', () => {
  it('follows the XDG base directory specification', () => {
    expect(cacheDirectory({ XDG_CACHE_HOME: '/c' })).toBe('/c/rdmatool');
    expect(cacheDirectory({})).toBe(join(homedir(), '.cache/rdmatool'));
    // Relative paths are to be ignored.
    expect(cacheDirectory({ XDG_CACHE_HOME: 'c' })).toBe(join(homedir(), '.cache/rdmatool'));
  });
});

describe('temporaryBase', () => {
  it('takes TMPDIR where it is set', () => {
    expect(temporaryBase({ TMPDIR: '/tmp' })).toBe('/tmp');
  });

  it('is a directory', () => {
    expect(statSync(temporaryBase({})).isDirectory()).toBe(true);
  });
});

describe('TemporaryTree', () => {
  it('is removed with all that is in it, once', () => {
    const tree = new TemporaryTree('test');
    expect(tree.path).toMatch(/\/rdmatool-test-\w+$/);
    mkdirSync(join(tree.path, 'a/b'), { recursive: true });
    writeFileSync(join(tree.path, 'a/b/c'), '');
    tree.remove();
    tree.remove();
    expect(existsSync(tree.path)).toBe(false);
  });

  it('survives that somebody else has removed it', () => {
    const tree = new TemporaryTree('test');
    const other = new TemporaryTree('test');
    tree.remove();
    expect(() => tree.remove()).not.toThrow();
    other.remove();
  });
});
