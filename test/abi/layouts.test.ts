/**
 * Every declared structure, constant and code of src/abi against the C compiler's view of the headers. What
 * the headers do not have yet is listed by name, so that nothing is passed over in silence.
 */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { bitfield } from '../../src/layout/bits.ts';
import { be32, bytes, s16, s64, u8, u16, u32, u64 } from '../../src/layout/scalar.ts';
import { array, type Fields, type Struct, struct, union } from '../../src/layout/struct.ts';
import { IBV_CONTEXT, IBV_DEVICE, VERBS_CONTEXT_BELOW } from '../../src/native/libibverbs.ts';
import { IBV_COMP_CHANNEL, IBV_CONTEXT_OPS, IBV_QP } from '../../src/native/verbs-data-path.ts';
import { randomFrom } from '../unit/layout/support.ts';
import { expectedOf, fill } from './c-fill.ts';
import { CHeaders, type CMember, type CStruct, memberPaths } from './c-headers.ts';
import {
  declaredConstants,
  enumerations,
  flagSets,
  KERNEL_NAMES,
  layouts,
  OTHER_FAMILIES,
  WITHOUT_HEADER,
} from './declared.ts';

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

/** What the headers of one release do not have, or have and we do not. */
interface Differences {
  /** Structures, and members as `structure.member`. */
  readonly absentMembers: readonly string[];
  /** Members of another size or type there: `structure.member: SIZE bytes at OFFSET`, an integer's type. */
  readonly otherMembers: readonly string[];
  /** Structures of another size there, as `structure: SIZE bytes, aligned to ALIGN` tells. */
  readonly otherStructs: readonly string[];
  readonly absentConstants: readonly string[];
  /** Constants with the prefix of one of our tables that are in none of them. */
  readonly undeclaredConstants: readonly string[];
}

/** @param includePath holds infiniband/ and rdma/ */
function testAgainstHeaders(release: string, includePath: string, expected: Differences): void {
  describe(`headers of ${release}`, () => {
    const headers = new CHeaders(includePath);
    afterAll(() => headers.close());
    let known: Map<string, CStruct | null> | undefined;
    const structs = (): Map<string, CStruct | null> => {
      known ??= headers.structs(layouts);
      return known;
    };
    /** Declared structures that the headers have. */
    const present = (): { layout: Struct<Fields>; c: CStruct }[] =>
      layouts.flatMap((layout) => {
        const c = structs().get(layout.title);
        return c ? [{ layout, c }] : [];
      });

    test('have every structure and member but those listed', () => {
      const absent = layouts.flatMap((layout) => {
        const c = structs().get(layout.title);
        if (!c) return [layout.title];
        return memberPaths(layout.members)
          .filter(({ path }) => !c.members.has(path))
          .map(({ path }) => `${layout.title}.${path}`);
      });
      expect(absent).toEqual(expected.absentMembers);
    });

    test('place and size every member as declared, but those listed', () => {
      const places = present().flatMap(({ layout, c }) =>
        memberPaths(layout.members).flatMap(({ path, offset, member }) => {
          const compiled = c.members.get(path);
          if (!compiled) return [];
          const isInteger = /^(u|s|be)\d+$/.test(member.codec.type);
          const type = member.codec.type.replace('be', 'u');
          const text = (place: CMember): string =>
            `${layout.title}.${path}: ${place.size} bytes at ${place.offset}${isInteger ? `, ${place.type}` : ''}`;
          return [{ declared: text({ offset, size: member.size, type }), compiled: text(compiled) }];
        }),
      );
      expect(places.length).toBeGreaterThan(300);
      const others = places.filter(({ declared, compiled }) => declared !== compiled);
      expect(others.map(({ compiled }) => compiled)).toEqual(expected.otherMembers);
    });

    test('size and align every structure as declared, but those listed', () => {
      const text = (layout: Struct<Fields>, { size, align }: { size: number; align: number }): string =>
        `${layout.title}: ${size} bytes, aligned to ${align}`;
      const others = present().filter(({ layout, c }) => text(layout, layout) !== text(layout, c));
      expect(others.map(({ layout, c }) => text(layout, c))).toEqual(expected.otherStructs);
    });

    test('give every constant the declared value, or are listed as not having it', () => {
      const declared = declaredConstants();
      const values = headers.constants(declared.map(([name]) => name));
      expect(declared.map(([name]) => name).filter((name) => values.get(name) === null)).toEqual(
        expected.absentConstants,
      );
      const compared = declared.filter(([name]) => values.get(name) !== null);
      expect(compared.map(([name]) => `${name} = ${values.get(name)}`)).toEqual(
        compared.map(([name, value]) => `${name} = ${value}`),
      );
    });

    test('name nothing with the prefix of a table that the table does not have, but those listed', () => {
      const declared = new Set([
        ...declaredConstants().map(([name]) => name),
        ...[...KERNEL_NAMES.keys()],
        ...[...enumerations, ...flagSets].flatMap(({ prefix, entries }) =>
          entries.map(([name]) => prefix + name),
        ),
      ]);
      const prefixes = [...enumerations, ...flagSets]
        .map(({ prefix }) => prefix)
        .filter((prefix) => prefix !== '');
      const names = headers.constantNames();
      const ours = (name: string): string =>
        name.replace(/^IB_UVERBS_DEVICE_/, 'IBV_DEVICE_').replace(/^IB_UVERBS_PCF_/, 'IBV_PORT_');
      expect(
        names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix))).length,
      ).toBeGreaterThan(100);
      const undeclared = names.filter(
        (name) =>
          prefixes.some((prefix) => ours(name).startsWith(prefix)) &&
          !declared.has(ours(name)) &&
          !OTHER_FAMILIES.test(name),
      );
      expect(undeclared).toEqual(expected.undeclaredConstants);
    });

    test('place what libibverbs.ts and verbs-data-path.ts reach for beside the structures', () => {
      const places = {
        'offsetof(struct ibv_device, node_type)': IBV_DEVICE.node_type,
        'offsetof(struct ibv_device, transport_type)': IBV_DEVICE.transport_type,
        'sizeof(struct ibv_context)': IBV_CONTEXT.size,
        'offsetof(struct ibv_context, num_comp_vectors)': IBV_CONTEXT.num_comp_vectors,
        'offsetof(struct ibv_context, abi_compat)': IBV_CONTEXT.abi_compat,
        ...Object.fromEntries(
          Object.entries(IBV_CONTEXT_OPS).map(([name, offset]) => [
            `offsetof(struct ibv_context, ops.${name})`,
            offset,
          ]),
        ),
        'offsetof(struct ibv_qp, context)': IBV_QP.context,
        'offsetof(struct ibv_qp, qp_num)': IBV_QP.qp_num,
        'offsetof(struct ibv_comp_channel, fd)': IBV_COMP_CHANNEL.fd,
        ...Object.fromEntries(
          Object.entries(VERBS_CONTEXT_BELOW).map(([name, below]) => [
            `offsetof(struct verbs_context, context) - offsetof(struct verbs_context, ${name})`,
            below,
          ]),
        ),
      };
      const compiled = headers.constants(Object.keys(places));
      expect(Object.fromEntries([...compiled].map(([name, value]) => [name, Number(value)]))).toEqual(places);
    });

    test('structures that C fills decode to the same values, which encode to the same bytes', () => {
      const random = randomFrom(65);
      const filled = present().map(({ layout, c }) => {
        const sizes = new Map(memberPaths(layout.members).map(({ path, member }) => [path, member.size]));
        const isSame = (path: string): boolean => c.members.get(path)?.size === sizes.get(path);
        return { layout, c, ...fill(layout, isSame, random) };
      });
      const lines = headers.run(filled.map(({ code }) => code).join('\n'));
      expect(lines.length).toBe(filled.length);
      filled.forEach(({ layout, c, values }, index) => {
        const bytes = Buffer.from(lines[index] ?? '', 'hex');
        expect(bytes.length, layout.title).toBe(c.size);
        // What is newer than the headers lies in their reserved bytes or beyond their end: zero.
        const padded = new Uint8Array(layout.size);
        padded.set(bytes);
        const decoded = layout.decode(padded);
        expect(decoded, layout.title).toEqual(expectedOf(layout, layout.zero(), values, decoded));
        const encoded = Buffer.from(layout.encode(values));
        expect(encoded.subarray(0, bytes.length).toString('hex'), layout.title).toBe(bytes.toString('hex'));
        expect(encoded.subarray(bytes.length).every((byte) => byte === 0)).toBe(true);
      });
    });
  });
}

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
  undeclaredConstants: [],
});
