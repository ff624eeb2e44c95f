/**
 * The structures of the user CM against C: Linux's against the system's <rdma/rdma_user_cm.h>, the reference
 * edition's against packed structures written by hand from the document.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { JoinMulticastFlag } from '../../src/abi/rdmacm-codes.ts';
import * as codes from '../../src/abi/ucma/codes.ts';
import { UCMA_EDITIONS } from '../../src/abi/ucma/editions.ts';
import * as linux from '../../src/abi/ucma/linux.ts';
import * as reference from '../../src/abi/ucma/reference.ts';
import * as shared from '../../src/abi/ucma/shared.ts';
import { ibUverbsAhAttr, ibUverbsGlobalRoute, ibUverbsQpAttr } from '../../src/abi/verbs-qp.ts';
import type { FlagSet } from '../../src/layout/flags.ts';
import type { Fields, Struct } from '../../src/layout/struct.ts';
import { randomFrom } from '../unit/layout/support.ts';
import { fill, readingsOf } from './c-fill.ts';
import { CHeaders, type CStruct, memberPaths, USER_CM_PREAMBLE } from './c-headers.ts';

const isStruct = (value: unknown): value is Struct<Fields> =>
  typeof value === 'object' && value !== null && 'decodeAvailable' in value;
const structsOf = (...modules: { readonly [name: string]: unknown }[]): Struct<Fields>[] =>
  modules.flatMap((module) => Object.values(module).filter(isStruct));

const verbs = [ibUverbsGlobalRoute, ibUverbsAhAttr, ibUverbsQpAttr];
const sharedStructs = structsOf(shared);

interface Differences {
  readonly absent: readonly string[];
}

/** @param isPacked the C structures have alignment 1, and so have the edition's own */
function testAgainstC(
  edition: string,
  layouts: readonly Struct<Fields>[],
  headers: CHeaders,
  isPacked: boolean,
  { absent }: Differences,
): void {
  describe(edition, () => {
    afterAll(() => headers.close());
    let known: Map<string, CStruct | null> | undefined;
    const structs = (): Map<string, CStruct | null> => {
      known ??= headers.structs(layouts);
      return known;
    };
    const present = (): { layout: Struct<Fields>; c: CStruct }[] =>
      layouts.flatMap((layout) => {
        const c = structs().get(layout.title);
        return c ? [{ layout, c }] : [];
      });

    test('C has every structure and member but those listed', () => {
      const missing = layouts.flatMap((layout) => {
        const c = structs().get(layout.title);
        if (!c) return [layout.title];
        return memberPaths(layout.members)
          .filter(({ path }) => !c.members.has(path))
          .map(({ path }) => `${layout.title}.${path}`);
      });
      expect(missing).toEqual(absent);
    });

    test('C places, sizes and types every member as declared', () => {
      const texts = present().flatMap(({ layout, c }) =>
        memberPaths(layout.members).flatMap(({ path, offset, member }) => {
          const compiled = c.members.get(path);
          if (!compiled) return [];
          const isInteger = /^(u|s|be)\d+$/.test(member.codec.type);
          const type = member.codec.type.replace('be', 'u');
          const text = (place: { offset: number; size: number; type: string }): string =>
            `${layout.title}.${path}: ${place.size} bytes at ${place.offset}${isInteger ? `, ${place.type}` : ''}`;
          return [[text({ offset, size: member.size, type }), text(compiled)] as const];
        }),
      );
      expect(texts.length).toBeGreaterThan(150);
      expect(texts.map(([declared]) => declared)).toEqual(texts.map(([, compiled]) => compiled));
    });

    test('C sizes and aligns every structure as declared', () => {
      for (const { layout, c } of present()) {
        expect([layout.title, layout.size]).toEqual([layout.title, c.size]);
        expect([layout.title, c.align]).toEqual([layout.title, isPacked ? 1 : layout.align]);
      }
    });

    test('structures that C fills decode to the same values, which encode to the same bytes', () => {
      const random = randomFrom(2005);
      const filled = present().map(({ layout, c }) => ({
        layout,
        ...fill(layout, (path) => path.includes('[') || c.members.has(path), random),
      }));
      const lines = headers.run(filled.map(({ code }) => code).join('\n'));
      expect(lines.length).toBe(filled.length);
      filled.forEach(({ layout, values }, index) => {
        const hex = lines[index] ?? '';
        const decoded = layout.decode(Buffer.from(hex, 'hex'));
        expect(readingsOf(decoded, values), layout.title).toEqual(values);
        expect(Buffer.from(layout.encode(values)).toString('hex'), layout.title).toBe(hex);
        expect(Buffer.from(layout.encode(decoded)).toString('hex'), layout.title).toBe(hex);
      });
    });
  });
}

const linuxHeaders = new CHeaders('/usr/include', USER_CM_PREAMBLE);
testAgainstC(
  "Linux's edition and <rdma/rdma_user_cm.h> of Linux 6.1",
  [...structsOf(linux), ...sharedStructs, ...verbs],
  linuxHeaders,
  false,
  {
    absent: [
      'ib_user_service_rec',
      'rdma_ucm_query_ib_service_resp',
      'rdma_ucm_event_resp.param.arg32',
      'rdma_ucm_ib_service',
      'rdma_ucm_resolve_ib_service',
      'rdma_ucm_write_cm_event',
      'rdma_ucm_query_route',
    ],
  },
);

const BY_HAND = readFileSync(join(import.meta.dirname, 'ucma-reference.h'), 'utf8');
testAgainstC(
  'the reference edition and packed structures by hand',
  [...structsOf(reference), ...sharedStructs, ...verbs],
  new CHeaders(
    '/usr/include',
    ['endian.h', 'stddef.h', 'stdint.h', 'stdio.h', 'string.h'].map((h) => `#include <${h}>`).join('\n') +
      `\n${BY_HAND}`,
  ),
  true,
  { absent: [] },
);

test("Linux's header gives every number as declared, and has none besides", () => {
  const headers = new CHeaders('/usr/include', USER_CM_PREAMBLE);
  try {
    const tables = [codes.UcmaCommandNumber, codes.UcmaQueryOption, JoinMulticastFlag];
    const flags: FlagSet[] = [];
    const declared = new Map<string, bigint>([
      ...tables.flatMap(({ prefix, entries }) =>
        entries.map(([name, value]): [string, bigint] => [prefix + name, BigInt(value)]),
      ),
      ...flags.flatMap(({ prefix, entries }) =>
        entries.map(([name, mask]): [string, bigint] => [prefix + name, mask]),
      ),
      ['RDMA_USER_CM_ABI_VERSION', BigInt(shared.UCMA_ABI_VERSION)],
      ['RDMA_MAX_PRIVATE_DATA', BigInt(shared.UCMA_PRIVATE_DATA)],
    ]);
    const compiled = headers.constants([...declared.keys()]);
    const unknown = [...compiled].filter(([, value]) => value === null).map(([name]) => name);
    expect(unknown).toEqual([
      'RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE',
      'RDMA_USER_CM_CMD_WRITE_CM_EVENT',
      'RDMA_USER_CM_QUERY_IB_SERVICE',
    ]);
    for (const [name, value] of compiled) {
      if (value !== null) expect([name, value]).toEqual([name, declared.get(name)]);
    }
    const prefixes = [...tables, ...flags].map(({ prefix }) => prefix);
    const others = headers
      .constantNames()
      .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !declared.has(name));
    expect(others).toEqual([]);
  } finally {
    headers.close();
  }
});

test('what commands say of their structures fits the structures that the document names', () => {
  const sizes = Object.fromEntries(
    UCMA_EDITIONS.reference.commands.map(({ number, request, response }) => [
      number,
      [request?.layout.title ?? null, request?.layout.size ?? 0, response?.layout.size ?? 0],
    ]),
  );
  // The structures are the document's; the sizes are sums of its fields.
  expect(sizes).toEqual({
    0: ['rdma_ucm_create_id', 24, 4],
    1: ['rdma_ucm_destroy_id', 16, 4],
    2: ['rdma_ucm_bind_addr', 48, 0],
    3: ['rdma_ucm_resolve_addr', 72, 0],
    4: ['rdma_ucm_resolve_route', 8, 0],
    5: ['rdma_ucm_query_route', 16, 208],
    6: ['rdma_ucm_connect', 280, 0],
    7: ['rdma_ucm_listen', 8, 0],
    8: ['rdma_ucm_accept', 288, 0],
    9: ['rdma_ucm_reject', 264, 0],
    10: ['rdma_ucm_disconnect', 4, 0],
    11: ['rdma_ucm_init_qp_attr', 16, 144],
    12: ['rdma_ucm_get_event', 8, 328],
    13: [null, 0, 0],
    14: ['rdma_ucm_set_option', 24, 0],
    15: ['rdma_ucm_notify', 8, 0],
    16: ['rdma_ucm_join_mcast', 56, 4],
    17: ['rdma_ucm_destroy_id', 16, 4],
  });
});
