import { describe, expect, it } from 'vitest';
import { FieldValueError, parseGid } from '../../../src/datagram/field.ts';
import { LayoutError } from '../../../src/layout/error.ts';
import {
  decodeUserHeader,
  encodeUserHeader,
  headerBytes,
  parseHeaderFields,
  userHeaderJson,
} from '../../../src/mad/user-header.ts';

/** Every field another value; where each lies is the kernel's documentation of ib_user_mad_hdr. */
const VALUES = {
  id: 1,
  status: 2,
  timeout_ms: 3,
  retries: 4,
  length: 5,
  qpn: 6,
  qkey: 0x80010000,
  lid: 0x0708,
  sl: 9,
  path_bits: 10,
  grh_present: 1,
  gid_index: 12,
  hop_limit: 13,
  traffic_class: 14,
  gid: parseGid('fe80::102:304'),
  flow_label: 0x15161,
};
const OLD = [
  '01000000 02000000 03000000 04000000 05000000',
  '00000006 80010000 0708 09 0a 01 0c 0d 0e',
  'fe800000000000000000000001020304 00015161',
]
  .join('')
  .replaceAll(' ', '');

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the header in bytes', () => {
  it('has 56 of them, or 64 with a P_Key index', () => {
    expect([headerBytes('old'), headerBytes('new')]).toEqual([56, 64]);
    expect(hexOf(encodeUserHeader('old', VALUES))).toBe(OLD);
    expect(hexOf(encodeUserHeader('new', { ...VALUES, pkey_index: 0x0203 }))).toBe(`${OLD}0302000000000000`);
  });

  it('comes back as it was', () => {
    expect(decodeUserHeader('old', Buffer.from(OLD, 'hex'))).toEqual({
      kind: 'old',
      ...VALUES,
      pkey_index: null,
    });
    expect(decodeUserHeader('new', Buffer.from(`${OLD}0302000000000000`, 'hex'))).toEqual({
      kind: 'new',
      ...VALUES,
      pkey_index: 0x0203,
    });
    expect(() => decodeUserHeader('new', Buffer.from(OLD, 'hex'))).toThrow(LayoutError);
  });

  it('of the old kind has no place for a P_Key index', () => {
    expect(() => encodeUserHeader('old', { pkey_index: 1 })).toThrow(/pkey_index/);
    expect(encodeUserHeader('old', { pkey_index: 0 }).length).toBe(56);
  });

  it('refuses what does not fit', () => {
    expect(() => encodeUserHeader('new', { lid: 0x10000 })).toThrow(LayoutError);
  });
});

describe('a received header', () => {
  const received = (values: object) =>
    userHeaderJson(decodeUserHeader('new', encodeUserHeader('new', { id: 1, qpn: 1, ...values })));

  it('is unset where the documentation says so and it is zero', () => {
    expect(received({})).toMatchObject({
      kind: 'new',
      status: { value: 0, name: 'SUCCESS' },
      timeout_ms: null,
      qkey: null,
      gid_index: null,
      pkey_index: 0,
      retries: 0,
      unavailable: { timeout_ms: 'unset', qkey: 'unset', gid_index: 'unset' },
      notes: {},
    });
  });

  it('keeps the value of such a field that is not zero, with a note', () => {
    const header = received({ gid_index: 2, grh_present: 1, qkey: 5 });
    expect(header).toMatchObject({ gid_index: 2, qkey: 5, timeout_ms: null });
    expect(Object.keys(header.unavailable)).toEqual(['timeout_ms']);
    expect(header.notes['gid_index']).toMatch(/documented as unset.*route header/);
    expect(header.notes['qkey']).toMatch(/documented as unset/);
  });

  it('of a request that came back says so', () => {
    const header = received({ status: 110, timeout_ms: 100 });
    expect(header.status).toEqual({ value: 110, name: 'ETIMEDOUT' });
    expect(header.notes['timeout_ms']).toMatch(/own request/);
  });

  it('of the old kind has no P_Key index, and says why', () => {
    const header = userHeaderJson(decodeUserHeader('old', new Uint8Array(56)));
    expect([header.kind, header.pkey_index, header.unavailable['pkey_index']]).toEqual([
      'old',
      null,
      'the old header has none',
    ]);
  });
});

describe('fields as they are typed', () => {
  it('are read by the names of the header', () => {
    expect(parseHeaderFields(['qkey=0x11', 'LID=3', 'gid=fe80::1', 'pkey_index=1'])).toEqual({
      qkey: 0x11,
      lid: 3,
      gid: parseGid('fe80::1'),
      pkey_index: 1,
    });
  });

  it.each(['reserved=1', 'nosuch=1', 'lid=65536', 'lid=-1', 'gid=7', 'sl', 'sl=256', 'qpn=1.5'])(
    '%s is refused',
    (text) => {
      expect(() => parseHeaderFields([text])).toThrow(FieldValueError);
    },
  );

  it('twice is refused', () => {
    expect(() => parseHeaderFields(['lid=1', 'lid=2'])).toThrow(/twice/);
  });
});
