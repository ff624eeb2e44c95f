/** Logs that strace 6.1 has written of rdma-core's programs on a soft-RoCE kernel. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TraceEntry } from '../../../src/model/trace.ts';
import { LogReader } from '../../../src/trace/read-log.ts';

const FIXTURES = resolve(import.meta.dirname, '../../fixtures/strace');

function read(text: string): { entries: TraceEntry[]; summary: ReturnType<LogReader['summary']> } {
  const reader = new LogReader();
  const entries = text.split('\n').flatMap((line) => reader.line(line) ?? []);
  entries.push(...reader.rest());
  return { entries, summary: reader.summary(null) };
}
const readFile = (name: string) => read(readFileSync(resolve(FIXTURES, name), 'utf8'));

/** The number of each command as the log has it: the first four bytes of a write, \x escaped. */
function commandNumbers(name: string): number[] {
  const log = readFileSync(resolve(FIXTURES, name), 'utf8');
  return [...log.matchAll(/write\(3<[^>]*>, "\\x([0-9a-f]{2})\\x00\\x00\\x00/g)].map(([, byte]) =>
    Number.parseInt(byte ?? '', 16),
  );
}

/** enum in <rdma/rdma_user_cm.h>. */
const LINUX_NAMES: Readonly<Record<number, string>> = {
  0: 'CREATE_ID',
  1: 'DESTROY_ID',
  4: 'RESOLVE_ROUTE',
  6: 'CONNECT',
  8: 'ACCEPT',
  10: 'DISCONNECT',
  11: 'INIT_QP_ATTR',
  12: 'GET_EVENT',
  19: 'QUERY',
  20: 'BIND',
  21: 'RESOLVE_ADDR',
};

describe('a log of rping, with all that strace can tell', () => {
  const { entries, summary } = readFile('rping-client.log');

  it('has every command that was written, by name', () => {
    const named = entries.filter(({ call }) => call === 'write').sort((a, b) => a.line - b.line);
    expect(named.map(({ name }) => name)).toEqual(
      commandNumbers('rping-client.log').map((number) => LINUX_NAMES[number]),
    );
    expect(summary.error).toBeNull();
  });

  it('tells who, when, what and how long', () => {
    const resolveAddr = entries.find(({ name }) => name === 'RESOLVE_ADDR');
    expect(resolveAddr).toMatchObject({
      program: 'rping',
      device: '/dev/infiniband/rdma_cm',
      result: { errno: null },
      fields: { 'hdr.in': 272, timeout_ms: 2000 },
      brief: 'RESOLVE_ADDR id=1 10.9.1.1:0 -> 10.9.0.1:7174 timeout 2000 ms',
      unseen: null,
    });
    expect(resolveAddr?.time).toMatch(/^20\d\d-\d\d-\d\dT.*Z$/);
    expect(resolveAddr?.duration_ms).toBeGreaterThan(0);
  });

  it('says what strace does not see, and what never came back', () => {
    const events = entries.filter(({ name }) => name === 'GET_EVENT');
    expect(events.every(({ unseen }) => unseen !== null)).toBe(true);
    expect(events.at(-1)?.result).toEqual({ value: null, errno: null });
  });

  it('counts', () => {
    const rows = new Map(summary.calls.map((row) => [row.name, row.calls]));
    const numbers = commandNumbers('rping-client.log').map((number) => LINUX_NAMES[number]);
    for (const name of new Set(numbers)) {
      expect(rows.get(name ?? '')).toBe(numbers.filter((each) => each === name).length);
    }
  });
});

describe('a log with strings cut at 32 bytes, without times and paths', () => {
  const { entries, summary } = readFile('ucmatose-server-cut.log');

  it('follows the descriptor from its open on', () => {
    expect(entries.map(({ name }) => name)).toContain('LISTEN');
    expect(entries.every(({ device }) => device === '/dev/infiniband/rdma_cm')).toBe(true);
    expect(summary.error).toBeNull();
  });

  it('shows of a cut command what is left, and says so', () => {
    const accept = entries.find(({ name }) => name === 'ACCEPT');
    expect(accept).toMatchObject({ cut: true, notes: [] });
    expect(Object.keys(accept?.fields ?? {})).toContain('conn_param.qp_num');
    expect(Object.keys(accept?.fields ?? {})).not.toContain('id');
  });
});

it('a log with times of the day counts from the first call', () => {
  const { entries } = readFile('udaddy-client.log');
  expect(entries[0]).toMatchObject({ at_ms: 0, time: null, call: 'open' });
  expect(entries.filter(({ name }) => name === 'CREATE_ID').map(({ brief }) => brief)).toContain(
    'CREATE_ID port space UDP',
  );
});

describe('a log into which the program has written too', () => {
  const { entries, summary } = readFile('ibping-mixed-with-output.log');

  it('names the first damaged line, and shows what is whole', () => {
    expect(summary.error).toMatchObject({ code: 'DAMAGED_LOG' });
    const [first] = summary.damaged;
    const lines = readFileSync(resolve(FIXTURES, 'ibping-mixed-with-output.log'), 'utf8').split('\n');
    expect(lines[(first?.line ?? 0) - 1]).toContain('ibwarn');
    expect(summary.error?.message).toContain(`line ${first?.line} `);
    expect(entries.map(({ name }) => name)).toContain('ENABLE_PKEY');
  });

  it('knows the header from ENABLE_PKEY, and decodes the datagram behind it', () => {
    const sent = entries.find(({ call }) => call === 'write');
    // ibping asks with Get of the vendor class 0x32 and OpenIB's OUI.
    expect(sent?.fields).toMatchObject({
      header: 'new',
      'umad.lid': 1,
      'umad.qpn': 1,
      'mad.mgmt_class': { value: 0x32 },
      'vendor.oui': '0x001405',
      'umad.timeout_ms': 1000,
    });
    expect(sent?.result.errno).toBe('EINVAL');
  });
});

describe('descriptors', () => {
  const OPEN = 'openat(AT_FDCWD, "/dev/infiniband/rdma_cm", O_RDWR) = 3';
  const GET = (fd: number): string =>
    `write(${fd}, "\\f\\0\\0\\0\\10\\0P\\1\\340\\254\\313\\274\\232\\177\\0\\0", 16) = 16`;
  const names = (...lines: string[]): (string | null)[] =>
    read(lines.join('\n')).entries.map(({ name }) => name);

  it('are forgotten when they are closed', () => {
    expect(names(OPEN, 'close(3) = 0', GET(3))).toEqual(['open', 'close']);
    expect(names(OPEN, 'close_range(3, ~0U, 0) = 0', GET(3))).toEqual(['open']);
    // A close that the log does not have.
    expect(names(OPEN, 'openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3', GET(3))).toEqual(['open']);
  });

  it('are duplicated', () => {
    expect(names(OPEN, 'dup2(3, 9) = 9', 'close(3) = 0', GET(9))).toEqual(['open', 'close', 'GET_EVENT']);
    expect(names(OPEN, 'fcntl(3, F_DUPFD_CLOEXEC, 0) = 4', GET(4))).toEqual(['open', 'GET_EVENT']);
    expect(names(OPEN, 'fcntl(3, F_SETFL, O_RDWR) = 0', GET(3))).toEqual(['open', 'GET_EVENT']);
  });

  it('are shared by threads and copied by processes', () => {
    const thread = ['7 clone3({flags=CLONE_VM|CLONE_FILES}, 88) = 8', '8 close(3) = 0', `7 ${GET(3)}`];
    expect(names(`7 ${OPEN}`, ...thread)).toEqual(['open', 'close']);
    const child = ['7 clone(child_stack=NULL, flags=SIGCHLD) = 8', '8 close(3) = 0', `7 ${GET(3)}`];
    expect(names(`7 ${OPEN}`, ...child)).toEqual(['open', 'close', 'GET_EVENT']);
  });

  it('end with exec where they are told to', () => {
    const opened = OPEN.replace('O_RDWR', 'O_RDWR|O_CLOEXEC');
    expect(names(opened, 'execve("/bin/x", ["x"], 0x7ff /* 3 vars */) = 0', GET(3))).toEqual(['open']);
    expect(names(OPEN, 'execve("/bin/x", ["x"], 0x7ff /* 3 vars */) = 0', GET(3))).toEqual([
      'open',
      'GET_EVENT',
    ]);
  });
});

describe('the header of a umad device', () => {
  const OPEN = 'openat(AT_FDCWD, "/dev/infiniband/umad0", O_RDWR) = 3';
  /** A Get NodeInfo with the old header: 56 bytes, then the datagram's first 24. */
  const OLD = `"${'\\0'.repeat(56)}\\1\\1\\1\\1${'\\0'.repeat(11)}\\7\\0\\21${'\\0'.repeat(6)}"`;
  const last = (...lines: string[]): TraceEntry | undefined =>
    read([OPEN, ...lines].join('\n')).entries.at(-1);

  it('is the old one after an old registration', () => {
    const registered = 'ioctl(3, IB_USER_MAD_REGISTER_AGENT, 0x7ffd) = 0';
    expect(last(registered, `write(3, ${OLD}, 80) = 80`)).toMatchObject({
      name: 'NodeInfo',
      fields: { header: 'old', 'mad.tid': '0x0000000000000007' },
    });
  });

  it('is the new one after REGISTER_AGENT2, in any way that strace names it', () => {
    const NEW = OLD.replace('"', `"${'\\0'.repeat(8)}`);
    for (const request of [
      'IB_USER_MAD_REGISTER_AGENT2',
      '0xc0281b04',
      '_IOC(_IOC_READ|_IOC_WRITE, 0x1b, 0x4, 0x28)',
    ]) {
      expect(last(`ioctl(3, ${request}, 0x7ffd) = 0`, `write(3, ${NEW}, 88) = 88`)).toMatchObject({
        name: 'NodeInfo',
        fields: { header: 'new' },
      });
    }
  });

  it('is found in the bytes where nothing has told', () => {
    expect(last(`write(3, ${OLD}, 80) = 80`)).toMatchObject({ fields: { header: 'old' } });
  });
});

it('a log without RDMA says so', () => {
  const { summary } = read('close(3) = 0\nexit_group(0) = ?');
  expect(summary.error).toMatchObject({ code: 'NOT_TRACED', message: expect.stringContaining('2 lines') });
});

it('no line of any kind is too much', () => {
  const log = readFileSync(resolve(FIXTURES, 'rping-client.log'), 'latin1');
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed % below;
  };
  for (let round = 0; round < 300; round++) {
    const at = random(log.length);
    const cut = log.slice(0, at) + String.fromCharCode(random(256)) + log.slice(at + random(200));
    expect(() => read(cut)).not.toThrow();
  }
});

it('junk without an end is counted, and not kept', () => {
  const reader = new LogReader();
  for (let line = 0; line < 1000; line += 1) reader.line('y');
  const summary = reader.summary(null);
  expect(summary.damaged).toHaveLength(20);
  expect(summary.error?.message).toContain('and 999 more lines');
});
