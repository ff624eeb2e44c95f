/** C statements that fill a structure member by member, and the values that they assign. */
import type { Codec, Member } from '../../src/layout/codec.ts';
import type { Fields, Struct } from '../../src/layout/struct.ts';

export type Random = { u32(): number; bytes(length: number): Uint8Array };
/** Member name to value, structures nested. */
export type Values = { [member: string]: unknown };

/**
 * A block of C that zeroes a structure, gives each member that `isAssignable` names a value of its own, and
 * prints the bytes as one line of hexadecimal digits.
 */
export function fill(
  layout: Struct<Fields>,
  isAssignable: (path: string) => boolean,
  random: Random,
): { code: string; values: Values } {
  const used = new Set<string>();
  const statements: string[] = [];
  const fillMembers = (all: readonly Member[], prefix: string, isUnion: boolean): Values => {
    const values: Values = {};
    // Of a union one member is filled, the largest.
    const [largest] = all.filter(({ name }) => isAssignable(prefix + name)).sort((a, b) => b.size - a.size);
    const members = isUnion && largest ? [largest] : all;
    for (const { name, codec } of members) {
      const path = prefix + name;
      if (!isAssignable(path)) continue;
      if (codec.members) {
        values[name] = fillMembers(codec.members, `${path}.`, codec.type.startsWith('union '));
        continue;
      }
      const elements = codec.elements;
      if (elements?.codec.members) {
        const { members: of = [], size } = elements.codec;
        values[name] = Array.from({ length: elements.length }, (_, index) =>
          size === 0 ? {} : fillMembers(of, `${path}[${index}].`, false),
        );
        continue;
      }
      let chosen = assignment(`s.${path}`, codec, random);
      while (used.has(chosen.key)) chosen = assignment(`s.${path}`, codec, random);
      used.add(chosen.key);
      statements.push(`\t\t${chosen.statement}`);
      values[name] = chosen.value;
    }
    return values;
  };
  const values = fillMembers(layout.members, '', layout.kind === 'union');
  const code = `\t{
		struct ${layout.title} s;
		memset(&s, 0, sizeof s);
${statements.join('\n')}
		for (size_t i = 0; i < sizeof s; i++) printf("%02x", ((unsigned char *)&s)[i]);
		putchar('\\n');
	}`;
  return { code, values };
}

interface Assignment {
  readonly statement: string;
  readonly value: unknown;
  /** Equal for equal values. */
  readonly key: string;
}

function assignment(target: string, codec: Codec<unknown>, random: Random): Assignment {
  const digits = (data: Uint8Array): string => Array.from(data, (byte) => `\\x${byte.toString(16)}`).join('');
  const integer = /^(u|s|be)(8|16|32|64)$/.exec(codec.type);
  if (integer) {
    const bits = Number(integer[2]);
    const wide = (BigInt(random.u32()) << 32n) | BigInt(random.u32());
    const exact = integer[1] === 's' ? BigInt.asIntN(bits, wide) : BigInt.asUintN(bits, wide);
    const literal = `${BigInt.asUintN(bits, exact)}ull`;
    const statement =
      integer[1] === 'be'
        ? `${target} = htobe${bits}(${literal});`
        : `${target} = (${integer[1] === 's' ? '' : 'u'}int${bits}_t)${literal};`;
    return { statement, value: bits === 64 ? exact : Number(exact), key: String(exact) };
  }
  if (codec.type === 'void *') {
    const value = (BigInt(random.u32()) << 32n) | BigInt(random.u32());
    return { statement: `${target} = (void *)${value}ull;`, value, key: String(value) };
  }
  const characters = /^char\[(\d+)\]$/.exec(codec.type);
  if (characters) {
    // As long as the array: there need not be a NUL.
    const value = Array.from(random.bytes(Number(characters[1])), (byte) =>
      String.fromCharCode(97 + (byte % 26)),
    ).join('');
    return { statement: `memcpy(${target}, "${value}", sizeof ${target});`, value, key: value };
  }
  if (codec.zero() instanceof Uint8Array) {
    const value = random.bytes(codec.size);
    const text = digits(value);
    return { statement: `memcpy(&${target}, "${text}", sizeof ${target});`, value, key: text };
  }
  throw new Error(`how to assign ${codec.type} in C is not known here`);
}

/** The values without what was not asked for: other readings of a union's bytes. */
export function readingsOf(values: unknown, wanted: unknown): unknown {
  if (Array.isArray(values) && Array.isArray(wanted)) {
    return values.map((value, index) => readingsOf(value, wanted[index]));
  }
  if (!isPlain(values) || !isPlain(wanted)) return values;
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name]) => Object.hasOwn(wanted, name))
      .map(([name, value]) => [name, readingsOf(value, wanted[name])]),
  );
}

/**
 * What decoding shall give: the values, zeros for members that were not assigned, and for the other members of a
 * union whatever reading of the same bytes `decoded` has.
 */
export function expectedOf(
  { type, members }: Pick<Codec<unknown>, 'type' | 'members'>,
  zero: Values,
  values: Values,
  decoded: Values,
): Values {
  const isUnion = type.startsWith('union ');
  return Object.fromEntries(
    (members ?? []).map(({ name, codec }) => {
      const value = values[name];
      const nothing = zero[name];
      const found = decoded[name];
      if (value === undefined) return [name, isUnion ? found : nothing];
      if (codec.members && isPlain(nothing) && isPlain(value) && isPlain(found)) {
        return [name, expectedOf(codec, nothing, value, found)];
      }
      return [name, value];
    }),
  );
}

const isPlain = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array) && !Array.isArray(value);
