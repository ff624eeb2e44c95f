/** What the work gives, or null where it throws: what cannot be read is not known, which is an answer. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
