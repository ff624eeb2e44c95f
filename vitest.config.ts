import { defineConfig } from 'vitest/config';

/**
 * One project per tier. `unit` needs nothing but npm; `lab` runs real libraries on the labs, one file after
 * another because labs and compilers share two cores; `long` holds the long counts.
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
          include: ['test/long/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 30 * 60_000,
          hookTimeout: 30 * 60_000,
        },
      },
    ],
  },
});
