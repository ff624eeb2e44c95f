/**
 * Every declared structure, constant and code of src/abi against the C compiler's view of one release's headers. What
 * the headers do not have yet is listed by name, so that nothing is passed over in silence.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { Fields, Struct } from '../../src/layout/struct.ts';
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
} from './declared.ts';

/** What the headers of one release do not have, or have and we do not. */
export interface Differences {
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

/**
 * The tests of one release's headers.
 * @param includePath holds infiniband/ and rdma/
 * @param isMoving whether newer headers than those that `expected` is of may be met: they can have more
 */
export function testAgainstHeaders(
  release: string,
  includePath: string,
  expected: Differences,
  isMoving = false,
): void {
  const expectAbsent = (absent: readonly string[], listed: readonly string[]): void => {
    if (isMoving) expect(listed).toEqual(expect.arrayContaining([...absent]));
    else expect(absent).toEqual(listed);
  };
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
      expectAbsent(absent, expected.absentMembers);
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
      expectAbsent(
        declared.map(([name]) => name).filter((name) => values.get(name) === null),
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
      if (!isMoving) expect(undeclared).toEqual(expected.undeclaredConstants);
      else if (undeclared.length > 0)
        console.warn(`${release} has more than is declared: ${undeclared.join(', ')}`);
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
