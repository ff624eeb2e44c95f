/** Writes and answers of the user CM, read from bytes that are put together here word by word. */
import { describe, expect, test } from 'vitest';
import type { UcmaCommand } from '../../../src/abi/ucma/command.ts';
import { commandNumbered, UCMA_EDITIONS } from '../../../src/abi/ucma/editions.ts';
import { rdmaUcmQueryRouteResp } from '../../../src/abi/ucma/linux.ts';
import { LINUX } from '../../../src/abi/ucma/linux-commands.ts';
import { briefText, readResponse, readWrite, type UcmaReading } from '../../../src/abi/ucma/read.ts';
import { rdmaUcmListen } from '../../../src/abi/ucma/shared.ts';
import { encodeCommand, encodeWrite } from '../../../src/abi/ucma/speak.ts';
import { readFields } from '../../../src/layout/readings.ts';
import { randomFrom, tohex, unhex } from '../layout/support.ts';

const { linux, reference } = UCMA_EDITIONS;

/** `cmd`, `in` and `out`, little-endian, and what follows; spaces are for the eye. */
const hex = unhex;
const values = (reading: UcmaReading): Record<string, unknown> =>
  Object.fromEntries(reading.fields.map(({ name, value }) => [name, value]));
const numbered = (number: number): UcmaCommand => {
  const found = commandNumbered(linux, number);
  if (!found) throw new Error(`no command ${number}`);
  return found;
};

/** RESOLVE_IP of Linux: two sockaddr_in6 of 28 bytes that hold IPv4 addresses, id 3, 2000 ms. */
const RESOLVE_IP = hex(`03000000 4000 0000
  0200 0000 0a090001 0000000000000000 000000000000000000000000
  0200 1c06 0a090101 0000000000000000 000000000000000000000000
  03000000 d0070000`);

describe("a write in Linux's edition", () => {
  test('has its fields with their places', () => {
    const reading = readWrite(linux, RESOLVE_IP);
    expect(reading.command?.name).toBe('RESOLVE_IP');
    expect(reading.fields.map(({ offset, size, name, value }) => [offset, size, name, value])).toEqual([
      [0, 4, 'hdr.cmd', 3],
      [4, 2, 'hdr.in', 64],
      [6, 2, 'hdr.out', 0],
      [8, 28, 'src_addr', '10.9.0.1:0'],
      [36, 28, 'dst_addr', '10.9.1.1:7174'],
      [64, 4, 'id', 3],
      [68, 4, 'timeout_ms', 2000],
    ]);
    expect(reading).toMatchObject({ missing: [], older: [], extra: null, notes: [] });
    expect(reading.fields.every(({ meaning }) => meaning !== '')).toBe(true);
    expect(briefText(reading)).toBe('RESOLVE_IP id=3 10.9.0.1:0 -> 10.9.1.1:7174 timeout 2000 ms');
  });

  test('cut short: what is missing is said, and nothing is made up', () => {
    const reading = readWrite(linux, RESOLVE_IP.subarray(0, 60));
    expect(values(reading)).toEqual({ 'hdr.cmd': 3, 'hdr.in': 64, 'hdr.out': 0, src_addr: '10.9.0.1:0' });
    expect(reading.missing).toEqual([
      { offset: 36, size: 28, name: 'dst_addr' },
      { offset: 64, size: 4, name: 'id' },
      { offset: 68, size: 4, name: 'timeout_ms' },
    ]);
    expect(reading.notes).toEqual([
      'the header tells 64 bytes and 52 follow: the kernel answers EINVAL',
      'RESOLVE_IP has 64 bytes, and 52 are there',
    ]);
    expect(briefText(reading)).toBe('RESOLVE_IP id=? 10.9.0.1:0 -> ? timeout ? ms');
  });

  test('with bytes behind it', () => {
    const reading = readWrite(linux, hex('0a000000 0400 0000 07000000 aabb'));
    expect(values(reading)).toMatchObject({ id: 7 });
    expect(reading.extra).toEqual({ offset: 12, bytes: hex('aabb') });
    expect(reading.notes).toEqual([
      'the header tells 4 bytes and 6 follow: the kernel leaves the rest alone',
    ]);
  });

  test('shorter than its header', () => {
    const reading = readWrite(linux, hex('0a0000'));
    expect(reading.command).toBeNull();
    expect(reading.missing.map(({ name }) => name)).toEqual(['hdr.cmd', 'hdr.in', 'hdr.out']);
    expect(reading.notes).toEqual(['3 bytes, and the header alone has 8: the kernel answers EINVAL']);
    expect(briefText(reading)).toBe('a write without a whole header');
    expect(readWrite(linux, new Uint8Array()).missing.length).toBe(3);
  });

  test('of a number that no edition has, and of one that only Linux has', () => {
    const unknown = readWrite(linux, hex('19000000 0000 0000'));
    expect(unknown.notes).toEqual([
      'command 25 is not known to this edition (0 to 24): the kernel answers EINVAL',
    ]);
    expect(briefText(unknown)).toBe('unknown command 25');
    expect(readWrite(reference, hex('15000000 0000 0000')).command).toBeNull();
    expect(readWrite(linux, hex('15000000 0000 0000')).command?.name).toBe('RESOLVE_ADDR');
  });

  test('an answer without room or without an address', () => {
    const create = (out: string, response: string): readonly string[] =>
      readWrite(linux, hex(`00000000 1800 ${out} 0100000000000000 ${response} 0601 00 0000000000`)).notes;
    expect(create('0400', '0010000000000000')).toEqual([]);
    expect(create('0300', '0010000000000000')).toEqual([
      'room for 3 bytes, and the answer has 4: the kernel answers ENOSPC',
    ]);
    expect(create('0400', '0000000000000000')).toEqual([
      'the answer is to go to address 0: the kernel answers EFAULT',
    ]);
  });

  test('CONNECT of a program that does not know ECE is whole, and one byte shorter is not', () => {
    const long = encodeCommand(LINUX.CONNECT, { id: 5, conn_param: { valid: 1 }, ece: { vendor_id: 2 } }, 0);
    expect(long.length).toBe(8 + 288);
    const short = encodeWrite(6, long.subarray(8, 8 + 280), 0);
    expect(readWrite(linux, short)).toMatchObject({
      missing: [],
      older: [
        { offset: 288, size: 4, name: 'ece.vendor_id' },
        { offset: 292, size: 4, name: 'ece.attr_mod' },
      ],
      notes: [],
    });
    const cut = readWrite(linux, encodeWrite(6, long.subarray(8, 8 + 279), 0));
    expect(cut.missing.map(({ name }) => name)).toEqual(['reserved', 'ece.vendor_id', 'ece.attr_mod']);
    expect(cut.notes).toEqual(['CONNECT has 280, 288 bytes, and 279 are there']);
  });
});

describe('the editions', () => {
  test('read the same number each in its own way', () => {
    // The document's RESOLVE_ADDR: addresses of 32 bytes, the family of IPv6 is 26.
    const bytes = hex(`03000000 4800 0000
      1a00 0000 00000000 fd000000000000000000000000000001 00000000 00000000
      1a00 1c06 00000000 fd000000000000000000000000000002 00000000 00000000
      09000000 e8030000`);
    const reading = readWrite(reference, bytes);
    expect(briefText(reading)).toBe('RESOLVE_ADDR id=9 [fd00::1]:0 -> [fd00::2]:7174 timeout 1000 ms');
    expect(reading.notes).toEqual([]);
    // Linux takes 26 for no family that it knows, and 8 bytes are too many.
    const misread = readWrite(linux, bytes);
    expect(misread.command?.name).toBe('RESOLVE_IP');
    expect(String(values(misread)['src_addr'])).toMatch(/^family 26: /);
    expect(misread.extra?.bytes.length).toBe(8);
  });

  test('have their numbers without a gap, and names of their own for 2, 3 and 16', () => {
    for (const { commands } of [linux, reference]) {
      expect(commands.map(({ number }) => number)).toEqual(commands.map((_, index) => index));
    }
    expect(linux.commands.length).toBe(25);
    expect(reference.commands.length).toBe(18);
    const differing = reference.commands
      .filter(({ number, name }) => commandNumbered(linux, number)?.name !== name)
      .map(({ number, name }) => [number, name, commandNumbered(linux, number)?.name]);
    expect(differing).toEqual([
      [2, 'BIND_ADDR', 'BIND_IP'],
      [3, 'RESOLVE_ADDR', 'RESOLVE_IP'],
      [16, 'JOIN_MCAST', 'JOIN_IP_MCAST'],
    ]);
  });

  test('name only fields that there are in their lines', () => {
    for (const { commands } of [linux, reference]) {
      for (const command of commands) {
        const { fields } = readWrite(
          UCMA_EDITIONS[commands === linux.commands ? 'linux' : 'reference'],
          encodeWrite(command.number, new Uint8Array(command.request?.layout.size ?? 0), 0),
        );
        const known = new Set(fields.map(({ name }) => name));
        command.brief((path) => {
          expect(known, command.name).toContain(path);
          return '';
        });
      }
    }
  });
});

describe('an answer', () => {
  test('of QUERY_ROUTE: both routes, and the device index of newer kernels', () => {
    const bytes = rdmaUcmQueryRouteResp.encode({
      node_guid: 0x0200_00ff_fe00_0001n,
      ib_route: [{ mtu: 3, hop_limit: 64 }, { mtu: 5 }],
      num_paths: 2,
      ibdev_index: 4,
    });
    const all = readResponse(LINUX.QUERY_ROUTE, bytes);
    expect(values(all)).toMatchObject({
      node_guid: '0200:00ff:fe00:0001',
      'ib_route[0].mtu': { value: 3, name: '1024' },
      'ib_route[0].hop_limit': 64,
      'ib_route[1].mtu': { value: 5, name: '4096' },
      src_addr: 'none',
      num_paths: 2,
      ibdev_index: 4,
    });
    const older = readResponse(LINUX.QUERY_ROUTE, bytes.subarray(0, 200));
    expect(older).toMatchObject({ missing: [], notes: [] });
    expect(older.older.map(({ name }) => name)).toEqual(['ibdev_index', 'reserved1']);
  });

  test('of QUERY depends on what was asked', () => {
    const path = hex('0000000000000000 05000000 01000000');
    const answer = hex(`02000000 00000000 33000000 00000000 ${'00'.repeat(64)}`);
    const reading = readResponse(LINUX.QUERY, answer, path);
    expect(values(reading)).toMatchObject({
      num_paths: 2,
      'path_data[0].flags': { value: '0x33', flags: ['GMP', 'PRIMARY', 'INBOUND', 'INBOUND_REVERSE'] },
    });
    // Of the second path there was no room: that is not an error.
    expect(reading).toMatchObject({ missing: [], extra: null, notes: [] });
    const unknown = readResponse(LINUX.QUERY, answer);
    expect(unknown.fields).toEqual([]);
    expect(unknown.notes).toEqual(['what QUERY answers depends on option, which is not known']);
  });

  test('of GET_EVENT: by the port space of the id where that is known, its status signed too', () => {
    // ADDR_ERROR of uid 1, id 2: -110.
    const head = '0100000000000000 02000000 01000000 92ffffff';
    const bytes = hex(`${head} 11000000 22000000 ${'00'.repeat(296)}`);
    expect(bytes.length).toBe(324);
    const both = readResponse(LINUX.GET_EVENT, bytes);
    expect(both.fields.filter(({ name }) => name.endsWith('qp_num')).map(({ name }) => name)).toEqual([
      'param.conn.qp_num',
      'param.ud.qp_num',
    ]);
    const ud = readResponse(LINUX.GET_EVENT, bytes, null, 'ud');
    expect(values(ud)).toMatchObject({
      event: { value: 1, name: 'ADDR_ERROR' },
      status: { value: 4294967186, signed: -110 },
      'param.ud.qkey': '0x22',
    });
    expect(ud.fields.some(({ name }) => name.startsWith('param.conn'))).toBe(false);
    expect(ud).toMatchObject({ missing: [], notes: [] });
    // MULTICAST_JOIN, whatever else is known.
    const multicast = hex(`0100000000000000 02000000 0c000000 00000000 ${'00'.repeat(304)}`);
    expect(readResponse(LINUX.GET_EVENT, multicast).fields.map(({ name }) => name)).not.toContain(
      'param.conn.qp_num',
    );
  });

  test('of a command that has none', () => {
    expect(readResponse(LINUX.LISTEN, new Uint8Array())).toMatchObject({ fields: [], notes: [] });
    expect(readResponse(LINUX.LISTEN, hex('00')).notes).toEqual(['LISTEN has no answer']);
  });
});

test('any bytes at all are read without an error', () => {
  const random = randomFrom(7);
  for (let round = 0; round < 3000; round++) {
    const bytes = random.bytes(random.below(400));
    // Mostly numbers that mean something.
    if (bytes.length > 3 && random.below(4) > 0) bytes.set([random.below(26), 0, 0, 0]);
    for (const edition of [linux, reference]) {
      const reading = readWrite(edition, bytes);
      const places = [...reading.fields, ...reading.missing].map(({ offset, size }) => offset + size);
      expect(Math.max(0, ...reading.fields.map(({ offset, size }) => offset + size))).toBeLessThanOrEqual(
        bytes.length,
      );
      expect(places.every(Number.isSafeInteger)).toBe(true);
      briefText(reading);
      if (reading.command) readResponse(reading.command, bytes, random.bytes(random.below(20)));
    }
  }
});

test('what is encoded reads back', () => {
  const bytes = encodeCommand(
    LINUX.SET_OPTION,
    { optval: 0x7000n, id: 1, level: 0, optname: 3, optlen: 1 },
    0,
  );
  expect(tohex(bytes)).toBe(
    '0e00000018000000' + '0070000000000000' + '01000000' + '00000000' + '03000000' + '01000000',
  );
  expect(briefText(readWrite(linux, bytes))).toBe('SET_OPTION id=1 level 0 option 3 1 bytes');
  expect(numbered(13).request).toBeNull();
  expect(tohex(encodeCommand(LINUX.GET_OPTION, {}, 0))).toBe('0d00000000000000');
});

test('readFields counts from where it is told to', () => {
  const reading = readFields(rdmaUcmListen, hex('01000000'), { offset: 100, prefix: 'x.' });
  expect(reading.fields.map(({ offset, name }) => [offset, name])).toEqual([[100, 'x.id']]);
  expect(reading.missing).toEqual([{ offset: 104, size: 4, name: 'x.backlog' }]);
});
