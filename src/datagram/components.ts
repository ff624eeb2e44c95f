/** Which records of subnet administration a component mask chooses. IBTA volume 1, 15.4. */

import { COMPONENTS } from './attributes/administration.ts';
import type { Attribute } from './attributes.ts';
import { Selector } from './codes.ts';

type Values = { readonly [field: string]: unknown };

/** How many records are wanted; it says nothing of any of them. */
const LIMIT = 'num_path';
const SELECTOR = '_selector';

/** A field that is to be the same, or one element of it. */
interface Component {
  readonly name: string;
  /** Which one, where each element of the field has a bit. */
  readonly element: number;
}

/** Of a field that is an array, and has but one bit, all elements. */
const ELEMENTWISE = /^service_data/;

/** The components whose bits are set, as far as they are known. */
function componentsOf(record: Attribute, mask: bigint): Component[] {
  const names = COMPONENTS[record.name] ?? [];
  const seen = new Map<string, number>();
  return names.flatMap((name, bit) => {
    if (name === null) return [];
    const element = seen.get(name) ?? 0;
    seen.set(name, element + 1);
    return (mask & (1n << BigInt(bit))) === 0n ? [] : [{ name, element }];
  });
}

/** Fields hold numbers, texts, bytes, or arrays of them. */
function isSame(one: unknown, other: unknown): boolean {
  const isList = (value: unknown): value is ArrayLike<unknown> =>
    Array.isArray(value) || value instanceof Uint8Array;
  if (!isList(one) || !isList(other)) return one === other;
  return one.length === other.length && Array.from(one).every((each, index) => isSame(each, other[index]));
}

/**
 * Whether a record has the values of the request for all components whose bits are set. A value whose selector asks
 * for something else than exactly this is passed over, as is the number of paths.
 */
export function hasComponents(record: Attribute, mask: bigint, request: Values, values: Values): boolean {
  const components = componentsOf(record, mask);
  const isChosen = (name: string): boolean => components.some((each) => each.name === name);
  const isExact = (name: string): boolean =>
    !isChosen(name + SELECTOR) || request[name + SELECTOR] === Selector.valueOf('EXACTLY');
  return components
    .filter(({ name }) => name !== LIMIT && !name.endsWith(SELECTOR) && isExact(name))
    .every(({ name, element }) => {
      const wanted = request[name];
      const value = values[name];
      return ELEMENTWISE.test(name) && Array.isArray(wanted) && Array.isArray(value)
        ? isSame(wanted[element], value[element])
        : isSame(wanted, value);
    });
}

/** How many records a request wants at most; null for all. */
export function mostRecords(record: Attribute, mask: bigint, request: Values): number | null {
  const isLimited = componentsOf(record, mask).some(({ name }) => name === LIMIT);
  return isLimited ? Number(request[LIMIT]) : null;
}
