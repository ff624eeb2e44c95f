/** Bytes or values that do not fit a layout. The message names the structure and the field. */
export class LayoutError extends Error {
  override readonly name = 'LayoutError';
}

/** A value as a message shows it: texts in quotes, so that `"5"` is told from `5`. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
