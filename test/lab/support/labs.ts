/** Labs for tests, kept until the file is done. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type EfaLab, type EfaLabOptions, prepareEfaLab } from '../../../src/lab/efa/lab.ts';
import type { ProfileJson } from './full-profile.ts';
import { OTHER_RDMA_CORE } from './generation.ts';

const made = new Map<string, Promise<EfaLab>>();
let folder: string | undefined;

/** A folder for what a test file makes; it goes when the file is done. */
export function testFolder(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'rdmatool-test-'));
  return folder;
}

/**
 * A lab with these options, which the caller removes, under the rdma-core that the tests are for.
 */
export const ownLab = (options: EfaLabOptions = {}): Promise<EfaLab> =>
  prepareEfaLab(OTHER_RDMA_CORE === undefined ? options : { rdmaCore: OTHER_RDMA_CORE, ...options });

/** A lab with these options; the same one for the same options. */
export function lab(options: EfaLabOptions = {}): Promise<EfaLab> {
  const key = JSON.stringify(options);
  const known = made.get(key) ?? ownLab(options);
  made.set(key, known);
  return known;
}

/** A lab of one device, `rdmap0s6:efa2`, with faults. */
export const withFaults = (...faults: readonly string[]): Promise<EfaLab> => lab({ faults });

let profiles = 0;

/** `NAME:FILE` of a device with that profile, as --device takes it. */
export function deviceOf(name: string, profile: ProfileJson): string {
  const file = join(testFolder(), `profile-${profiles++}.json`);
  writeFileSync(file, JSON.stringify(profile));
  return `${name}:${file}`;
}

afterAll(async () => {
  for (const result of await Promise.allSettled(made.values())) {
    if (result.status === 'fulfilled') await result.value.remove();
  }
  made.clear();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});
