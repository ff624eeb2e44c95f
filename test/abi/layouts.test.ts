/**
 * Every declared structure, constant and code of src/abi against the C compiler's view of the headers. What
 * the headers do not have yet is listed by name, so that nothing is passed over in silence.
 */
import { afterAll, describe, expect, test } from 'vitest';
import * as efaKernel from '../../src/abi/efa-kernel.ts';
import * as efadv from '../../src/abi/efadv.ts';
import * as uverbs from '../../src/abi/uverbs.ts';
import * as verbs from '../../src/abi/verbs.ts';
import * as verbsCodes from '../../src/abi/verbs-codes.ts';
import type { Enumeration } from '../../src/layout/enumeration.ts';
import type { FlagSet } from '../../src/layout/flags.ts';
import type { Fields, Struct } from '../../src/layout/struct.ts';
import { randomFrom } from '../unit/layout/support.ts';
import { fill, withZeros } from './c-fill.ts';
import { CHeaders, type CStruct, memberPaths } from './c-headers.ts';

const exported = [verbs, verbsCodes, efadv, uverbs, efaKernel].flatMap((module) =>
  Object.values<unknown>(module),
);

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isStruct = (value: unknown): value is Struct<Fields> => isRecord(value) && 'decodeAvailable' in value;
const isEnumeration = (value: unknown): value is Enumeration => isRecord(value) && 'nameOf' in value;
const isFlagSet = (value: unknown): value is FlagSet => isRecord(value) && 'maskOf' in value;

const layouts = exported.filter(isStruct);
const enumerations = exported.filter(isEnumeration);
const flagSets = exported.filter(isFlagSet);

/** Codes of the IBTA that no header of the system names; test/unit knows them from the specification. */
const WITHOUT_HEADER = ['port physical state', 'link width', 'link speed', 'virtual lanes'];

/** C name and value of every declared constant. */
function declaredConstants(): [string, bigint][] {
  const named = (
    table: Readonly<Record<string, number>>,
    nameOf: (key: string) => string,
  ): [string, bigint][] => Object.entries(table).map(([key, value]) => [nameOf(key), BigInt(value)]);
  return [
    ...enumerations
      .filter((table) => !WITHOUT_HEADER.includes(table.title))
      .flatMap((table) =>
        table.entries.map(([name, value]): [string, bigint] => [
          table.prefix + name,
          BigInt.asUintN(64, BigInt(value)),
        ]),
      ),
    ...flagSets.flatMap((set) =>
      set.entries.map(([name, mask]): [string, bigint] => {
        // Here the header names the bit, not the mask.
        const isBitNumber = set === verbsCodes.QpTypeMask;
        return [set.prefix + name, isBitNumber ? BigInt(mask.toString(2).length - 1) : mask];
      }),
    ),
    ...named(uverbs.UverbsObject, (key) => `UVERBS_OBJECT_${key}`),
    ...named(uverbs.UverbsDeviceMethod, (key) => `UVERBS_METHOD_${key}`),
    ...named(uverbs.UverbsAttr, (key) => `UVERBS_ATTR_${key}`),
    ...named(uverbs.UverbsWriteCommand, (key) =>
      key.startsWith('EX_')
        ? `(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_${key.slice(3)})`
        : `IB_USER_VERBS_CMD_${key}`,
    ),
  ];
}

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

/** What the headers of one release do not have, or have and we do not. */
interface Differences {
  /** Structures, and members as `structure.member`. */
  readonly absentMembers: readonly string[];
  /** Members of another size there, as `structure.member: SIZE bytes at OFFSET` tells. */
  readonly otherMembers: readonly string[];
  /** Structures of another size there, as `structure: SIZE bytes, aligned to ALIGN` tells. */
  readonly otherStructs: readonly string[];
  readonly absentConstants: readonly string[];
  /** Constants of an enumeration that a table of ours stands for, without a name there. */
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
          const text = (place: { offset: number; size: number }): string =>
            `${layout.title}.${path}: ${place.size} bytes at ${place.offset}`;
          return compiled
            ? [{ declared: text({ offset, size: member.size }), compiled: text(compiled) }]
            : [];
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

    test('have no constant in our enumerations that has no name there, but those listed', () => {
      const undeclared = [...enumerations, ...flagSets].flatMap((table) => {
        const names = new Set(table.entries.map(([name]) => table.prefix + name));
        return (headers.enumerators(table.title) ?? []).filter((name) => !names.has(name));
      });
      expect(undeclared).toEqual(expected.undeclaredConstants);
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
        expect(layout.decode(padded), layout.title).toEqual(withZeros(layout.zero(), values));
        const encoded = Buffer.from(layout.encode(values));
        expect(encoded.subarray(0, bytes.length).toString('hex'), layout.title).toBe(bytes.toString('hex'));
        expect(encoded.subarray(bytes.length).every((byte) => byte === 0)).toBe(true);
      });
    });
  });
}

testAgainstHeaders('Debian 12: rdma-core 44, Linux 6.1', '/usr/include', {
  absentMembers: [],
  otherMembers: [],
  otherStructs: [],
  absentConstants: [],
  undeclaredConstants: [],
});
if (process.env.X)
  testAgainstHeaders('65', process.env.X, {
    absentMembers: [],
    otherMembers: [],
    otherStructs: [],
    absentConstants: [],
    undeclaredConstants: [],
  });
