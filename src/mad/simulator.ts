/** What the simulator of lab ib cannot take, where a kernel can. */
import { mappedFiles } from '../native/library.ts';

/**
 * ibsim and the library that stands before libibumad wait for each other for ever when both have filled their sockets,
 * which takes more than 300 datagrams on their way; nothing ends that wait, and no signal the program.
 */
const MOST_IN_SIMULATOR = 128;

/** So many requests as can be in flight of those that are wanted. */
export function possibleWindow(wanted: number, files: () => readonly string[] = mappedFiles): number {
  if (wanted <= MOST_IN_SIMULATOR) return wanted;
  return files().some((file) => /\/libumad2sim\.so[^/]*$/.test(file)) ? MOST_IN_SIMULATOR : wanted;
}
