/** Bytes or values that do not fit a layout. The message names the structure and the field. */
export class LayoutError extends Error {
  override readonly name = 'LayoutError';
}
