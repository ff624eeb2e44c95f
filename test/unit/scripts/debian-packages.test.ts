import { describe, expect, test } from 'vitest';
import {
  aptCommands,
  commandForUser,
  installedNames,
  PACKAGES,
  packagesFor,
  TIERS,
  tableOf,
} from '../../../scripts/setup/debian-packages.mjs';

describe('the packages of a tier', () => {
  test('building needs none', () => {
    expect(packagesFor('build')).toEqual([]);
  });

  test('a tier has those of the tiers before it', () => {
    const labs = packagesFor('labs');
    const long = packagesFor('long');
    expect(labs.map(({ name }) => name)).toContain('gcc');
    expect(labs.map(({ name }) => name)).not.toContain('debootstrap');
    expect(long).toEqual(PACKAGES);
    expect(long).toEqual(expect.arrayContaining(labs));
  });

  test('each is declared once, for a tier that exists, with a reason and a file that proves it', () => {
    const names = PACKAGES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { tier, proof, why } of PACKAGES) {
      expect(TIERS).toContain(tier);
      expect(proof).toMatch(/^\//);
      expect(why).not.toBe('');
    }
  });
});

test('only what dpkg has fully installed counts', () => {
  const output =
    'gcc installed\nlibc6-dev half-configured\nlibibverbs-dev config-files\nibverbs-utils unpacked\n';
  expect(installedNames(output)).toEqual(new Set(['gcc']));
  expect(installedNames('')).toEqual(new Set());
});

describe('what apt is told', () => {
  test('new lists, then the packages without what they only recommend', () => {
    const [update, install, ...rest] = aptCommands(['gcc', 'libc6-dev'], false);
    expect(update?.at(-1)).toBe('update');
    expect(install?.join(' ')).toMatch(/^apt-get .*install --yes --no-install-recommends gcc libc6-dev$/);
    expect(rest).toEqual([]);
  });

  test('an interrupted dpkg is mended first', () => {
    expect(aptCommands(['gcc'], true)[0]).toEqual(['dpkg', '--configure', '--pending']);
  });

  test('a user gets one command, through sudo where there is one', () => {
    const script = "'apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev'";
    expect(commandForUser(['gcc', 'libc6-dev'], true)).toBe(`sudo sh -c ${script}`);
    expect(commandForUser(['gcc', 'libc6-dev'], false)).toBe(`su - -c ${script}`);
  });
});

test('a table says what each package is for', () => {
  const rows = [
    { tier: 'labs', name: 'gcc', proof: '/usr/bin/gcc', why: 'compiles' },
    { tier: 'labs', name: 'libc6-dev', proof: '/usr/include/stdio.h', why: 'headers' },
  ];
  expect(tableOf(rows)).toBe('  gcc        compiles\n  libc6-dev  headers');
});
