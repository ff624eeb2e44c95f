/** What the simulator of lab ib cannot take, where a kernel can. */
import { mappedFiles } from '../native/library.ts';

/**
 * ibsim and the library that stands before libibumad wait for each other for ever when both have filled their sockets,
 * which takes more than 300 datagrams on their way; nothing ends that wait, and no signal the program.
 */
const MOST_IN_SIMULATOR = 128;

/** Whether the library of the simulator stands before libibumad in this process. */
export const isSimulated = (files: readonly string[] = mappedFiles()): boolean =>
  files.some((file) => /\/libumad2sim\.so[^/]*$/.test(file));

/** So many requests as can be in flight of those that are wanted. */
export function possibleWindow(wanted: number, files: () => readonly string[] = mappedFiles): number {
  return wanted > MOST_IN_SIMULATOR && isSimulated(files()) ? MOST_IN_SIMULATOR : wanted;
}
