/** `rdmatool decode`: the programs that spell bytes, and the command as a user has it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readHexDump } from '../../src/decode/hex-dump.ts';
import { product } from './support/json.ts';

const RDMATOOL = join(import.meta.dirname, '../../bin/rdmatool.js');
const folder = mkdtempSync(join(tmpdir(), 'rdmatool-decode-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function rdmatool(args: readonly string[], input: string | Uint8Array = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RDMATOOL, ...args], {
    input,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const DUMPERS = [
  'xxd',
  'xxd -p',
  'xxd -i',
  'xxd -g1 -u',
  'xxd -b',
  'xxd -a -c 8',
  'hexdump',
  'hexdump -C',
  'hexdump -v',
  'od',
  'od -x',
  'od -b',
  'od -t x8',
  'od -A x -t x1z',
  'od -A d -t o4',
  'od -v -A x -t x2',
];

describe('bytes survive', () => {
  it.each(DUMPERS)('%s', (command) => {
    for (const length of [1, 8, 16, 17, 40, 73, 320]) {
      for (const zeros of [false, true]) {
        const bytes = Uint8Array.from({ length }, (_, index) =>
          zeros ? (index > length - 5 ? index : 0) : index * 37 + 11,
        );
        const { stdout, status } = spawnSync('sh', ['-c', command], { input: bytes, encoding: 'utf8' });
        expect(status).toBe(0);
        expect(Buffer.from(readHexDump(stdout).bytes).toString('hex'), stdout).toBe(
          Buffer.from(bytes).toString('hex'),
        );
      }
    }
  });
});

describe('the command', () => {
  const HEX = '04000000 0800 0000 01000000 d0070000';
  const BYTES = Buffer.from(HEX.replaceAll(' ', ''), 'hex');
  const file = join(folder, 'bytes');
  writeFileSync(file, BYTES);

  it.each([
    ['digits as an argument', [HEX], ''],
    ['digits as several arguments', HEX.split(' '), ''],
    ['digits on stdin', [], HEX],
    ['bytes on stdin', ['-'], BYTES],
    ['bytes in a file', [file], ''],
    ["strace's string", ['"\\4\\0\\0\\0\\10\\0\\0\\0\\1\\0\\0\\0\\320\\7\\0\\0"'], ''],
  ] as const)('takes %s', (_name, args, input) => {
    const { status, stdout } = rdmatool(['decode', 'ucma', ...args, '--json'], input);
    expect(status).toBe(0);
    const document = product(stdout);
    expect(document).toMatchObject({ error: null, name: 'RESOLVE_ROUTE', length: 16, missing: [] });
  });

  it.each([
    [['decode', 'ucma', '0400'], 1, 'missing'],
    [['decode', 'ucma', 'ff000000 0000 0000'], 1, 'not known'],
    [['decode', 'ucma', '--response', 'CREATE_IT', '00'], 2, 'CREATE_ID'],
    [['decode', 'ucma', '--edition', 'solaris', '00'], 2, 'linux, reference'],
    [['decode', 'mad', '0101'], 1, '22 bytes are missing'],
    [['decode', 'mad', '/nonexistent'], 2, '/nonexistent'],
    [['decode', 'mad', '0'], 2, 'pairs of digits'],
    [['decode', 'umad', ''], 2, 'there are none'],
  ] as const)('%j ends with %i and says %s', (args, status, message) => {
    const outcome = rdmatool(args);
    expect([outcome.status, outcome.stderr]).toEqual([status, expect.stringContaining(message)]);
    const json = rdmatool([...args, '--json']);
    product(json.stdout);
  });

  it('needs no koffi', () => {
    const blocked = join(folder, 'block.cjs');
    writeFileSync(
      blocked,
      `const { Module } = require('node:module');
       const load = Module._load;
       Module._load = function (name, ...rest) {
         if (name === 'koffi') throw new Error('koffi was loaded');
         return load.call(this, name, ...rest);
       };`,
    );
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ['--require', blocked, RDMATOOL, ...args], { encoding: 'utf8' });
    expect(run('decode', 'ucma', HEX)).toMatchObject({ status: 0, stderr: '' });
    const log = join(import.meta.dirname, '../fixtures/strace/rping-client.log');
    expect(run('trace', '--read', log)).toMatchObject({ status: 0, stderr: '' });
  });
});
