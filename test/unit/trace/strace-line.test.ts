import { describe, expect, it } from 'vitest';
import { StraceTextError, stringArgument, unescapeBytes } from '../../../src/decode/strace-string.ts';
import { descriptorArgument, parseStraceLine } from '../../../src/trace/strace-line.ts';

describe('a line of strace', () => {
  it.each([
    ['close(3) = 0', null, null],
    ['214   close(3) = 0', 214, null],
    ['[pid   214] close(3) = 0', 214, null],
    ['[pid 214<rping>] close(3) = 0', 214, null],
    ['00:52:47 close(3) = 0', null, { kind: 'day', seconds: 3167 }],
    ['214 00:52:47.177588 close(3) = 0', 214, { kind: 'day', seconds: 3167.177588 }],
    ['1795999952.845812 close(3) = 0', null, { kind: 'epoch', seconds: 1795999952.845812 }],
    ['214 1795999952.845812 close(3) = 0', 214, { kind: 'epoch', seconds: 1795999952.845812 }],
    ['214      0.034636 close(3) = 0', 214, { kind: 'relative', seconds: 0.034636 }],
    ['214 00:52:47 (+     0.034636) close(3) = 0', 214, { kind: 'day', seconds: 3167 }],
    ['214 [   3] [00007f1234567890] close(3) = 0', 214, null],
  ])('%s', (line, pid, moment) => {
    const parsed = parseStraceLine(line);
    expect(parsed).toMatchObject({ kind: 'call', pid, name: 'close', args: ['3'], result: { value: 0 } });
    expect(parsed.moment).toEqual(moment);
  });

  it('has arguments with brackets, strings, paths and comments in them', () => {
    const line =
      'poll([{fd=3</dev/infiniband/rdma_cm>, events=POLLIN}, {fd=-1}], 2, 1000 /* ms, about */) = 1 ([{fd=3, revents=POLLIN}]) <0.5>';
    expect(parseStraceLine(line)).toMatchObject({
      name: 'poll',
      args: ['[{fd=3</dev/infiniband/rdma_cm>, events=POLLIN}, {fd=-1}]', '2', '1000 /* ms, about */'],
      result: { value: 1, errno: null },
      duration: 0.5,
    });
    expect(parseStraceLine('write(1<pipe:[10924]>, "a) = 3, \\"b", 10) = 10')).toMatchObject({
      args: ['1<pipe:[10924]>', '"a) = 3, \\"b"', '10'],
    });
  });

  it.each([
    ['read(3, "", 8) = 0', 0, null],
    ['read(3, 0x7ff, 8) = -1 EAGAIN (Resource temporarily unavailable)', -1, 'EAGAIN'],
    ['read(3, 0x7ff, 8) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)', null, 'ERESTARTSYS'],
    ['exit_group(0) = ?', null, null],
    ['mmap(NULL, 1, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f00', 0x7f00, null],
    ['clone3({flags=CLONE_FILES}, 88) = 141', 141, null],
    ['clone3({flags=CLONE_FILES} => {parent_tid=[141]}, 88) = 141 <0.1>', 141, null],
  ])('%s tells its result', (line, value, errno) => {
    expect(parseStraceLine(line)).toMatchObject({ kind: 'call', result: { value, errno } });
  });

  it('tells the path of a new descriptor', () => {
    const line = 'openat(AT_FDCWD</>, "x", O_RDWR) = 3<\\x2f\\x64\\x65\\x76> <0.000616>';
    expect(parseStraceLine(line)).toMatchObject({ result: { value: 3, path: '/dev' }, duration: 0.000616 });
  });

  it.each(['+++ exited with 0 +++', '--- SIGINT {si_signo=SIGINT} ---', 'strace: Process 7 attached', ''])(
    '%j is a message',
    (line) => {
      expect(parseStraceLine(line).kind).toBe('message');
    },
  );

  it.each([
    'write(3, "abc',
    'write(3, "abc", 3',
    'write(3, "abc", 3)',
    'write(3, "abc", 3) = ',
    'write(3, "abc", 3) = three',
    'hello, world',
    '214 hello (world)',
    '/* write(3) = 3',
  ])('%j is none', (line) => {
    expect(() => parseStraceLine(line)).toThrow(StraceTextError);
  });
});

describe('an argument', () => {
  it('is bytes, in any escape', () => {
    const bytes = stringArgument('"\\x01\\2\\1774\\n\\t\\\\\\"A\\0"')?.bytes;
    expect([...(bytes ?? [])]).toEqual([1, 2, 127, 52, 10, 9, 92, 34, 65, 0]);
    expect(stringArgument('"ab"...')).toMatchObject({ cut: true });
    expect(stringArgument('0x7ffd')).toBeNull();
    expect(() => unescapeBytes('\\q')).toThrow(StraceTextError);
    expect(() => unescapeBytes('\\')).toThrow(StraceTextError);
  });

  it('is a descriptor, with its path or without', () => {
    expect(descriptorArgument('3')).toEqual({ fd: 3, path: null });
    expect(descriptorArgument('3</dev/infiniband/rdma_cm>')).toEqual({
      fd: 3,
      path: '/dev/infiniband/rdma_cm',
    });
    expect(descriptorArgument('AT_FDCWD</>')).toBeNull();
  });
});
