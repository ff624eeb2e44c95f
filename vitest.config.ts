import { defineConfig } from 'vitest/config';
import { GENERATIONS, generationRoot } from './scripts/setup/generations.mjs';

/**
 * One project per tier. `unit` needs nothing but npm; `lab` runs real libraries on the labs, one file after
 * another because labs and compilers share two cores; `long` holds the long counts. The suites that ask libibverbs
 * belong to the long tier once more, under each newer generation of rdma-core: `rdma-core-SUITE`.
 */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 30_000 } },
      {
        test: {
          name: 'lab',
          include: ['test/lab/**/*.test.ts', 'test/abi/**/*.test.ts'],
          fileParallelism: false,
          // A lab emulates a machine: one that is starved of the processor for a while is asked once more.
          retry: 1,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'long',
          // These once more, with everything through the kernel backend.
          include: ['test/long/**/*.test.ts', 'test/lab/cm-{connections,failures}.test.ts'],
          env: { RDMATOOL_TEST_BACKEND: 'kernel' },
          fileParallelism: false,
          testTimeout: 30 * 60_000,
          hookTimeout: 30 * 60_000,
        },
      },
      ...GENERATIONS.map(({ suite }) => ({
        test: {
          name: `rdma-core-${suite}`,
          include: ['test/lab/{query-device,list,gid}/**/*.test.ts'],
          env: { RDMATOOL_TEST_RDMA_CORE: generationRoot(suite) },
          fileParallelism: false,
          retry: 1,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      })),
    ],
  },
});
