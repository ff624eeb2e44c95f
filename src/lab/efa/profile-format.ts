/** How each kind of profile value is read from JSON, checked, and printed: one description for both ways. */
import type { Codec, Decoded, Json } from '../../layout/codec.ts';
import { LayoutError } from '../../layout/error.ts';
import type { Struct } from '../../layout/struct.ts';
import { LabError } from '../error.ts';
import type { Source } from './profile.ts';

/** Where in a profile a value stands, and what is known of the values' origin. */
export interface Place {
  /** The file, for messages. */
  readonly file: string;
  readonly path: string;
  readonly sources: Map<string, Source>;
}

/** Reads a value, on top of the one that the profile has without it; and prints it. */
export interface Format<T> {
  read(json: unknown, base: T, place: Place): T;
  print(value: T, place: Place): Json;
}

export function badProfile(place: Place, message: string, hint: string | null = null): LabError {
  const where = place.path === '' ? '' : `${place.path}: `;
  return new LabError('bad_profile', `${place.file}: ${where}${message}`, hint, 2);
}

export const inside = (place: Place, key: string): Place => ({
  ...place,
  path: place.path === '' ? key : `${place.path}.${key}`,
});

export const element = (place: Place, index: number): Place => ({
  ...place,
  path: `${place.path}[${index}]`,
});

type JsonObject = { readonly [key: string]: unknown };

export const isObject = (json: unknown): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** Forgets where the values at and below a place were known from. */
export function forget({ sources, path }: Place): void {
  for (const known of sources.keys()) {
    if (known === path || known.startsWith(`${path}.`) || known.startsWith(`${path}[`)) sources.delete(known);
  }
}

/** A value of its own with a source: `5`, or `{"value": 5, "source": "assumed"}`. */
export function leaf<T>(parse: (json: unknown, place: Place) => T, show: (value: T) => Json): Format<T> {
  return {
    read(json, _base, place) {
      let value = json;
      let source: Source = 'given';
      if (isObject(json)) {
        for (const key of Object.keys(json)) {
          if (key !== 'value' && key !== 'source') throw unknownKey(place, key, ['value', 'source']);
        }
        if (!('value' in json)) throw badProfile(place, 'an object without "value"');
        value = json['value'];
        source = parseSource(json['source'] ?? 'given', inside(place, 'source'));
      }
      const parsed = parse(value, place);
      place.sources.set(place.path, source);
      return parsed;
    },
    print: (value, place) => withSource(show(value), place),
  };
}

/** A value with its source; one that nobody has told of is assumed, from now on. */
function withSource(value: Json, { sources, path }: Place): Json {
  const source = sources.get(path) ?? 'assumed';
  sources.set(path, source);
  return source === 'given' ? value : { value, source };
}

function parseSource(json: unknown, place: Place): Source {
  if (json === 'observed' || json === 'assumed' || json === 'given') return json;
  throw badProfile(place, `${JSON.stringify(json)} is not "observed", "assumed" or "given"`);
}

/** An integer: a JSON number, or a text in decimal or with 0x. */
export function parseInteger(json: unknown, place: Place): bigint {
  if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json);
  if (typeof json === 'string' && /^(0x[0-9a-f]+|-?[0-9]+)$/i.test(json)) return BigInt(json);
  throw badProfile(place, `${JSON.stringify(json)} is not an integer, such as 4096, "4096" or "0x1000"`);
}

/** Values that are masks, numbers of vendors or the like; people know them in hexadecimal. */
const HEXADECIMAL =
  /(_id|_ver|_cap|_caps|_flags|_flags2|_flags_ex|_mask|_grp_mask|pkey|^class|vendor|device)$/;
const WIDE_TEXT = BigInt(Number.MAX_SAFE_INTEGER);

function showInteger(value: bigint, name: string): Json {
  if (value > 9n && HEXADECIMAL.test(name)) return `0x${value.toString(16)}`;
  return value > WIDE_TEXT ? value.toString() : Number(value);
}

/** An integer of a layout's type, within its range. `name` tells whether people know it in hexadecimal. */
export function codecFormat<T extends number | bigint>(codec: Codec<T>, name: string): Format<T> {
  const isWide = typeof codec.zero() === 'bigint';
  return leaf(
    (json, place) => {
      const wide = parseInteger(json, place);
      const value = (isWide ? wide : Number(wide)) as T;
      try {
        codec.write(new DataView(new ArrayBuffer(codec.size)), 0, value, '');
      } catch (error) {
        if (!(error instanceof LayoutError)) throw error;
        throw badProfile(place, error.message.replace(/^: /, ''));
      }
      return value;
    },
    (value) => showInteger(BigInt(value), name),
  );
}

/** The members of kernel structures as keys of one object; reserved members are not settable. */
export function layoutFormat<S extends Struct<never> | Codec<unknown>>(layout: S): Format<Decoded<S>> {
  const formats = Object.fromEntries(
    (layout.members ?? [])
      .filter(({ name }) => !name.startsWith('reserved'))
      .map(({ name, codec }): [string, Format<unknown>] => [
        name,
        // Layouts of a profile hold integers only.
        codec.members ? layoutFormat(codec) : codecFormat(codec as Codec<number | bigint>, name),
      ]),
  );
  // The layout's members are what Decoded names; Object.fromEntries forgets that.
  return objectFormat(formats) as Format<unknown> as Format<Decoded<S>>;
}

type Formats<T> = { readonly [K in keyof T]-?: Format<T[K]> };

/** An object with known keys, all of them optional: a missing one keeps the value of the base. */
export function objectFormat<T extends object>(formats: Formats<T>): Format<T> {
  const keys = Object.keys(formats) as (keyof T & string)[];
  return {
    read(json, base, place) {
      if (!isObject(json)) throw badProfile(place, 'an object is needed here');
      for (const key of Object.keys(json)) {
        if (!keys.some((known) => known === key)) throw unknownKey(place, key, keys);
      }
      const result = { ...base };
      for (const key of keys) {
        if (json[key] !== undefined) {
          result[key] = formats[key].read(json[key], base[key], inside(place, key));
        }
      }
      return result;
    },
    print: (value, place) =>
      Object.fromEntries(keys.map((key) => [key, formats[key].print(value[key], inside(place, key))])),
  };
}

function unknownKey(place: Place, key: string, known: readonly string[]): LabError {
  return badProfile(inside(place, key), 'there is no such key', `known here: ${known.join(', ')}`);
}

/** null, or the value; `whole` is the base that keys are set on when there is none yet. */
export function nullable<T>(format: Format<T>, whole: T): Format<T | null> {
  return {
    read(json, base, place) {
      if (json === null || (isObject(json) && json['value'] === null)) {
        forget(place);
        const source = isObject(json) ? (json['source'] ?? 'given') : 'given';
        place.sources.set(place.path, parseSource(source, inside(place, 'source')));
        return null;
      }
      place.sources.delete(place.path);
      return format.read(json, base ?? whole, place);
    },
    print: (value, place) => (value === null ? withSource(null, place) : format.print(value, place)),
  };
}

/** A list; each element stands on the base's element of the same index, else on `first` of the base. */
export function listFormat<T>(format: Format<T>, whole: T, maximum: number): Format<readonly T[]> {
  return {
    read(json, base, place) {
      if (!Array.isArray(json)) throw badProfile(place, 'a list is needed here');
      if (json.length > maximum)
        throw badProfile(place, `${json.length} entries; at most ${maximum} are possible`);
      const inherited = new Map(place.sources);
      forget(place);
      return json.map((entry: unknown, index) => {
        const at = element(place, index);
        const from = index < base.length ? index : 0;
        for (const [path, source] of inherited) {
          const old = element(place, from).path;
          if (path === old || path.startsWith(`${old}.`) || path.startsWith(`${old}[`)) {
            place.sources.set(at.path + path.slice(old.length), source);
          }
        }
        return format.read(entry, base[from] ?? whole, at);
      });
    },
    print: (values, place) => values.map((value, index) => format.print(value, element(place, index))),
  };
}

/** A text of one line that matches. */
export function textFormat(pattern: RegExp, example: string): Format<string> {
  return leaf(
    (json, place) => {
      if (typeof json === 'string' && pattern.test(json)) return json;
      throw badProfile(
        place,
        `${JSON.stringify(json)} is not possible here; an example: ${JSON.stringify(example)}`,
      );
    },
    (value) => value,
  );
}

/** One of a few words. */
export function wordFormat<const W extends string>(words: readonly W[]): Format<W> {
  return leaf(
    (json, place) => {
      const word = words.find((known) => known === json);
      if (word === undefined)
        throw badProfile(place, `${JSON.stringify(json)} is not one of: ${words.join(', ')}`);
      return word;
    },
    (value) => value,
  );
}

/** An integer in a range that no layout gives. */
export function integerFormat(minimum: number, maximum: number, name = ''): Format<number> {
  return leaf(
    (json, place) => {
      const value = parseInteger(json, place);
      if (value < BigInt(minimum) || value > BigInt(maximum)) {
        throw badProfile(place, `${value} is not in ${minimum}..${maximum}`);
      }
      return Number(value);
    },
    (value) => showInteger(BigInt(value), name),
  );
}

/** Names of counters and their values; given ones are added to the base's. */
export const countersFormat: Format<ReadonlyMap<string, bigint>> = {
  read(json, base, place) {
    if (!isObject(json)) throw badProfile(place, 'an object of counters is needed here');
    const counters = new Map(base);
    for (const [name, value] of Object.entries(json)) {
      const at = inside(place, name);
      if (!/^\w{1,64}$/.test(name)) throw badProfile(at, 'not the name of a counter');
      counters.set(name, counterFormat.read(value, 0n, at));
    }
    return counters;
  },
  print: (counters, place) =>
    Object.fromEntries(
      [...counters].map(([name, value]) => [name, counterFormat.print(value, inside(place, name))]),
    ),
};

const counterFormat = leaf(
  (json, place) => {
    const value = parseInteger(json, place);
    if (value < 0n || value >= 1n << 64n) throw badProfile(place, `${value} does not fit 64 bits`);
    return value;
  },
  (value) => showInteger(value, ''),
);
