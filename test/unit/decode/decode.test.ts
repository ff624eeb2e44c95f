import { describe, expect, it } from 'vitest';
import { findMad } from '../../../src/decode/mad.ts';
import { decodeResult, emptyDecode, type Findings } from '../../../src/decode/result.ts';
import { findResponse, findWrite } from '../../../src/decode/ucma.ts';
import { findUmad, headerIn } from '../../../src/decode/umad.ts';
import { Failure } from '../../../src/explain/failure.ts';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'));
const fields = (findings: Findings) =>
  new Map(findings.parts.flatMap((part) => part.fields).map((field) => [field.name, field]));

/** Get NodeInfo along a directed path, 256 bytes: IBTA volume 1, 13.4.2 and 14.2.1.2. */
const NODE_INFO = bytes(`01 81 01 01 0000 01 02 00000000000000aa 0011 0000 00000000
  ${'00'.repeat(8)} ffff ffff ${'00'.repeat(28)} ${'00'.repeat(64)} 00 01 03 ${'00'.repeat(61)} ${'00'.repeat(64)}`);

describe('a write to rdma_cm', () => {
  /** RESOLVE_IP of Linux and RESOLVE_ADDR of the reference document: number 3 in both. */
  const RESOLVE = bytes('03000000 4000 0000');

  it('is told by its number, in the edition that is asked for', () => {
    expect(findWrite(RESOLVE, 'linux').name).toBe('RESOLVE_IP');
    expect(findWrite(RESOLVE, 'reference').name).toBe('RESOLVE_ADDR');
  });

  it('has every field with its place', () => {
    const found = findWrite(bytes('04000000 0800 0000 01000000 d0070000'), 'linux');
    expect(found).toMatchObject({ name: 'RESOLVE_ROUTE', missing: [], extra: null, wrong: null });
    expect(fields(found).get('timeout_ms')).toMatchObject({ offset: 12, size: 4, value: 2000, type: 'u32' });
    expect(fields(found).get('hdr.in')).toMatchObject({ offset: 4, size: 2, value: 8 });
  });

  it('says what is missing and what is too much', () => {
    const short = findWrite(bytes('04000000 0800 0000 01000000'), 'linux');
    expect(short.missing).toEqual([{ name: 'timeout_ms', offset: 12, size: 4 }]);
    const result = decodeResult('ucma', 12, false, short);
    expect(result.error).toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringContaining('4 bytes are missing'),
    });
    expect(decodeResult('ucma', 12, true, short).error).toBeNull();
    const long = findWrite(bytes('04000000 0800 0000 01000000 d0070000 ffee'), 'linux');
    expect(long.extra).toEqual({ offset: 16, bytes: bytes('ffee') });
  });

  it('is nothing where the number is not one', () => {
    expect(findWrite(bytes('63000000 0000 0000'), 'linux').wrong).toContain('99');
    expect(findWrite(bytes('12000000 0000 0000'), 'reference').wrong).toContain('18');
  });
});

describe('an answer of rdma_cm', () => {
  it('is that of a command, by name or number', () => {
    for (const command of ['CREATE_ID', 'create-id', '0', 'RDMA_USER_CM_CMD_CREATE_ID']) {
      const found = findResponse(bytes('05000000'), 'linux', { command, parameters: null });
      expect(found.brief).toBe('answer to CREATE_ID');
      expect(fields(found).get('id')).toMatchObject({ offset: 0, value: 5 });
    }
  });

  it('of QUERY is what was asked for', () => {
    const paths = bytes('00000000 00000000');
    const found = findResponse(paths, 'linux', { command: 'QUERY:PATH', parameters: null });
    expect(fields(found).get('num_paths')).toMatchObject({ value: 0 });
    const query = (command: string) => () => findResponse(paths, 'linux', { command, parameters: null });
    expect(query('QUERY:NOTHING')).toThrow(Failure);
    expect(query('CREATE_ID:PATH')).toThrow(Failure);
    expect(query('CREAT_ID')).toThrow('no command');
  });
});

describe('a datagram', () => {
  it('has its header, the section of its class, and its attribute', () => {
    const found = findMad(NODE_INFO);
    expect(found).toMatchObject({ name: 'NodeInfo', missing: [], extra: null, wrong: null, notes: [] });
    expect(found.parts.map(({ title }) => title)).toEqual(['mad_hdr', 'dr_smp', 'NodeInfo']);
    expect(fields(found).get('dr_smp.dr_slid')).toMatchObject({ offset: 32, size: 2, value: 65535 });
    expect(fields(found).get('node_type')).toMatchObject({ offset: 66, size: 1 });
    expect(fields(found).get('dr_smp.direction')).toMatchObject({ bit_offset: 32, bit_width: 1 });
  });

  it('that is short says what is missing', () => {
    const found = findMad(NODE_INFO.subarray(0, 70));
    expect(found.missing.map(({ name }) => name)).toContain('node_guid');
    expect(fields(found).get('mad.class_version')?.value).toBe(1);
  });

  it('that is too long, or none, says so', () => {
    const long = new Uint8Array(300);
    long.set(NODE_INFO);
    expect(findMad(long).extra?.offset).toBe(256);
    expect(findMad(new Uint8Array(256)).wrong).toContain('base version 0');
  });

  it('with an error has no attribute', () => {
    const failed = Uint8Array.from(NODE_INFO);
    failed[3] = 0x81;
    failed[4] = 0x80;
    failed[5] = 0x0c;
    const found = findMad(failed);
    expect(found.notes.join(' ')).toContain('UNSUPPORTED_METHOD_ATTRIB');
    expect(found.parts.map(({ title }) => title)).not.toContain('NodeInfo');
  });
});

describe('what umadN carries', () => {
  const withHeader = (size: number): Uint8Array => {
    const all = new Uint8Array(size + NODE_INFO.length);
    all.set(NODE_INFO, size);
    return all;
  };

  it.each([
    ['old', 56],
    ['new', 64],
  ] as const)('has the %s header of %i bytes, found by what follows', (kind, size) => {
    expect(headerIn(withHeader(size))).toBe(kind);
    const found = findUmad(withHeader(size), 'auto');
    expect(found).toMatchObject({ header: kind, name: 'NodeInfo', missing: [] });
    expect(fields(found).get('mad.base_version')).toMatchObject({ offset: size, value: 1 });
    expect(fields(found).has('umad.pkey_index')).toBe(kind === 'new');
  });

  it('is a request without an answer where the status is ETIMEDOUT', () => {
    const back = withHeader(56).subarray(0, 80);
    back[4] = 110;
    const found = findUmad(back, 'auto');
    expect(found).toMatchObject({ header: 'old', missing: [] });
    expect(found.notes.join(' ')).toContain('ETIMEDOUT');
    expect(fields(found).get('mad.tid')?.value).toBe('0x00000000000000aa');
  });

  it('may be too short for a header', () => {
    expect(findUmad(new Uint8Array(20), 'auto').missing.length).toBeGreaterThan(0);
  });
});

it('no bytes at all are a document too', () => {
  expect(emptyDecode('mad', null)).toMatchObject({ length: 0, parts: [], interface: 'mad' });
});

it('random bytes are never too much', () => {
  let seed = 11;
  const random = (): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >> 8) & 0xff;
  };
  for (let round = 0; round < 500; round++) {
    const some = Uint8Array.from({ length: random() + (round % 2) * 100 }, random);
    if (some.length > 4 && round % 3 === 0) some.set([random() % 26, 0, 0, 0]);
    const whole = [
      findMad(some),
      findUmad(some, 'auto'),
      findWrite(some, 'linux'),
      findWrite(some, 'reference'),
    ];
    for (const { parts } of whole) {
      const ends = parts.flatMap((part) => part.fields).map(({ offset, size }) => offset + size);
      expect(Math.max(0, ...ends)).toBeLessThanOrEqual(some.length);
    }
  }
});
