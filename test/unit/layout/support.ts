import { LayoutError } from '../../../src/layout/error.ts';

/** `de ad be ef` -> bytes. */
export const unhex = (text: string): Uint8Array =>
  Uint8Array.from(text.replaceAll(/\s/g, '').match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

export const tohex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The message of the LayoutError that `action` must throw. */
export function layoutError(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof LayoutError) return error.message;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** A value of the wrong type, as plain JavaScript or JSON input could bring it. */
export function ill<T>(value: unknown): T {
  return value as T;
}

/** Random numbers that are the same in every run: xorshift32. */
export function randomFrom(seed: number): {
  u32(): number;
  below(limit: number): number;
  bytes(length: number): Uint8Array;
} {
  let state = seed >>> 0 || 1;
  const u32 = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  return {
    u32,
    below: (limit) => Math.floor((u32() / 2 ** 32) * limit),
    bytes: (length) => Uint8Array.from({ length }, () => u32() & 0xff),
  };
}

/** True where A and B are the same type. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only where `T` is true. */
export function holds<_T extends true>(): void {}
