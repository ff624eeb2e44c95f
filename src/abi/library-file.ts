/** What the name of a library's file tells. */

/**
 * The release of rdma-core in a library's file name: 44.0 of `libibverbs.so.1.14.44.0`. null where the name does
 * not tell, and where a vendor counts in its own way (`2404mlnx51`, `58mlnx43`).
 */
export function releaseInFileName(path: string): string | null {
  const release = /\.so\.\d+\.\d+\.(\d\S*)$/.exec(path.slice(path.lastIndexOf('/') + 1))?.[1];
  if (release === undefined || /mlnx/i.test(release)) return null;
  return Number.parseInt(release, 10) < 1000 ? release : null;
}
