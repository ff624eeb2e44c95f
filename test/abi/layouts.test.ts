/** What is declared, and the headers of this system. Those of other releases: test/long. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { bitfield } from '../../src/layout/bits.ts';
import { be32, bytes, s16, s64, u8, u16, u32, u64 } from '../../src/layout/scalar.ts';
import { array, struct, union } from '../../src/layout/struct.ts';
import { testAgainstHeaders } from './against-headers.ts';
import { CHeaders } from './c-headers.ts';
import { declaredConstants, enumerations, flagSets, layouts, WITHOUT_HEADER } from './declared.ts';

describe('what is declared', () => {
  test('is found', () => {
    expect(layouts.length).toBeGreaterThanOrEqual(24);
    expect(new Set(layouts.map(({ title }) => title)).size).toBe(layouts.length);
    expect(enumerations.filter(({ prefix }) => prefix === '').map(({ title }) => title)).toEqual(
      WITHOUT_HEADER,
    );
    expect(flagSets.filter(({ prefix }) => prefix === '')).toEqual([]);
    expect(declaredConstants().length).toBeGreaterThan(180);
  });
});

/** What no header of today has, but the rules of C and GCC say. */
test('the compiler lays out bit fields, packed structures, arrays and unions as the layout facility does', () => {
  const bits = struct('bits', {
    word: bitfield(u32, { a: 3, b: 9, c: 20 }),
    byte: bitfield(u8, { d: 1, e: 7 }),
    half: bitfield(u16, { f: 12, g: 4 }),
    wide: bitfield(u64, { h: 32, i: 31, j: 1 }),
  });
  const packed = struct('packed', { a: u8, bits, b: s64, c: u16 }, { packed: true });
  const mixed = struct('mixed', {
    tag: u8,
    either: union('either', { word: be32, odd: bytes(5), half: s16 }),
    grid: array(array(u16, 3), 2),
    packed,
    last: u8,
  });
  const headers = new CHeaders('/usr/include');
  onTestFinished(() => headers.close());
  const [sizes, hex] = headers.run(`
	struct bits {
		uint32_t a:3, b:9, c:20; uint8_t d:1, e:7; uint16_t f:12, g:4; uint64_t h:32, i:31, j:1;
	};
	struct __attribute__((packed)) packed { uint8_t a; struct bits bits; int64_t b; uint16_t c; };
	union either { uint32_t word; uint8_t odd[5]; int16_t half; };
	struct mixed { uint8_t tag; union either either; uint16_t grid[2][3]; struct packed packed; uint8_t last; } m;
	printf("%zu %zu %zu %zu %zu %zu %zu\\n", sizeof(struct bits), sizeof(struct packed), sizeof(union either),
		_Alignof(struct packed), offsetof(struct mixed, grid), offsetof(struct mixed, packed), sizeof m);
	memset(&m, 0, sizeof m);
	m.tag = 0x11; m.either.word = htobe32(0x01020304); m.last = 0x22;
	for (int i = 0; i < 6; i++) m.grid[i / 3][i % 3] = 0x1000 + i;
	m.packed.a = 0x33; m.packed.b = -2; m.packed.c = 0x4455;
	m.packed.bits = (struct bits){ 5, 300, 0xabcde, 1, 99, 0xabc, 13, 0x89abcdef, 0x7edcba98, 1 };
	for (size_t i = 0; i < sizeof m; i++) printf("%02x", ((unsigned char *)&m)[i]);
	putchar('\\n');`);
  expect(sizes?.split(' ').map(Number)).toEqual([
    bits.size,
    packed.size,
    mixed.fields.either.size,
    packed.align,
    mixed.offsetOf('grid'),
    mixed.offsetOf('packed'),
    mixed.size,
  ]);
  const value = {
    tag: 0x11,
    either: { word: 0x01020304 },
    grid: [
      [0x1000, 0x1001, 0x1002],
      [0x1003, 0x1004, 0x1005],
    ],
    packed: {
      a: 0x33,
      bits: {
        word: { a: 5, b: 300, c: 0xabcde },
        byte: { d: 1, e: 99 },
        half: { f: 0xabc, g: 13 },
        wide: { h: 0x89abcdef, i: 0x7edcba98, j: 1 },
      },
      b: -2n,
      c: 0x4455,
    },
    last: 0x22,
  };
  expect(Buffer.from(mixed.encode(value)).toString('hex')).toBe(hex);
  const decoded = mixed.decode(Buffer.from(hex ?? '', 'hex'));
  expect(decoded).toMatchObject(value);
  expect(decoded.either).toEqual({ word: 0x01020304, odd: Uint8Array.of(1, 2, 3, 4, 0), half: 0x0201 });
});

testAgainstHeaders('Debian 12: rdma-core 44, Linux 6.1', '/usr/include', {
  absentMembers: [
    'ibv_port_attr.active_speed_ex',
    'ibv_comp_cntr_caps',
    'efadv_device_attr.inline_buf_size_ex',
    'efadv_sq_depth_attr',
    'efadv_rq_depth_attr',
    'ib_uverbs_query_port_resp_ex.active_speed_ex',
    'efa_ibv_alloc_ucontext_resp.inline_buf_size_ex',
    'efa_ibv_alloc_ucontext_resp.reserved_b0',
  ],
  otherMembers: ['ib_uverbs_query_port_resp_ex.reserved: 6 bytes at 42'],
  otherStructs: ['ibv_port_attr: 52 bytes, aligned to 4'],
  absentConstants: [
    'IBV_WR_FLUSH',
    'IBV_WC_FLUSH',
    'RDMA_CM_EVENT_ADDRINFO_RESOLVED',
    'RDMA_CM_EVENT_ADDRINFO_ERROR',
    'RDMA_CM_EVENT_USER',
    'RDMA_CM_EVENT_INTERNAL',
    'IB_UVERBS_DEVICE_FLUSH_GLOBAL',
    'IB_UVERBS_DEVICE_FLUSH_PERSISTENT',
    'IB_UVERBS_DEVICE_ATOMIC_WRITE',
    'IBV_DEVICE_CC_DMA_BOUNCE',
    'IBV_ODP_SUPPORT_FLUSH',
    'IBV_ODP_SUPPORT_ATOMIC_WRITE',
    'IBV_PORT_LINK_SPEED_XDR_SUP',
    'IBV_QP_ATTACH_COMP_CNTR_OP_SEND',
    'IBV_QP_ATTACH_COMP_CNTR_OP_RECV',
    'IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ',
    'IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ',
    'IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE',
    'IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE',
    'IBV_ACCESS_FLUSH_GLOBAL',
    'IBV_ACCESS_FLUSH_PERSISTENT',
    'EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE',
    'EFADV_DEVICE_ATTR_CAPS_UNSOLICITED_WRITE_RECV',
    'EFADV_DEVICE_ATTR_CAPS_CQ_WITH_EXT_MEM_DMABUF',
    'EFADV_DEVICE_ATTR_CAPS_COMP_CNTR',
    'EFA_QUERY_DEVICE_CAPS_DATA_POLLING_128',
    'EFA_QUERY_DEVICE_CAPS_RDMA_WRITE',
    'EFA_QUERY_DEVICE_CAPS_UNSOLICITED_WRITE_RECV',
    'EFA_QUERY_DEVICE_CAPS_CQ_WITH_EXT_MEM',
    'EFA_QUERY_DEVICE_CAPS_COMP_CNTR',
    'EFA_QUERY_DEVICE_CAPS_SQ_64_BIT_REQ_ID',
    'UVERBS_METHOD_QUERY_PORT_SPEED',
    'UVERBS_METHOD_QUERY_COMP_CNTR_CAPS',
    'UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM',
    'UVERBS_ATTR_QUERY_PORT_SPEED_RESP',
    'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS',
    'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE',
    'UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS',
  ],
  undeclaredConstants: ['IBV_PATH_FLAG_BIDIRECTIONAL'],
});
