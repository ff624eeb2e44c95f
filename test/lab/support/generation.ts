/** The rdma-core that the tests of devices run on: the system's own, or that of another root. */
import { readdirSync } from 'node:fs';
import { arch } from 'node:os';
import { join } from 'node:path';
import { releaseInFileName } from '../../../src/abi/library-file.ts';

/** The root of another rdma-core, which the runs of the long tier set; undefined: the system's own. */
export const OTHER_RDMA_CORE = process.env['RDMATOOL_TEST_RDMA_CORE'];

const ROOT = OTHER_RDMA_CORE ?? '/';
/** Where its libraries are, on Debian. */
export const LIBRARIES = join(ROOT, 'usr/lib', arch() === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu');

/** Its release, `44.0`, from the name of libibverbs's file. */
export const RELEASE_TEXT =
  readdirSync(LIBRARIES)
    .filter((name) => name.startsWith('libibverbs.so.1.'))
    .map(releaseInFileName)
    .find((release) => release !== null) ?? null;

/** Its release as a number; NaN where the file's name does not tell. */
export const RELEASE = Number.parseInt(`${RELEASE_TEXT}`, 10);

/** What a C program needs to be compiled and linked against it. */
export const COMPILER_FLAGS: readonly string[] =
  OTHER_RDMA_CORE === undefined
    ? []
    : // Its libraries ask for a newer C library than the one that is linked with.
      [`-L${LIBRARIES}`, '-Wl,--unresolved-symbols=ignore-in-shared-libs'];

/** Where its headers are: infiniband/ and rdma/. */
export const INCLUDE_PATH = join(ROOT, 'usr/include');
