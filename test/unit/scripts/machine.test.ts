import { expect, test } from 'vitest';
import { whyUnsupported } from '../../../scripts/setup/machine.mjs';

const machine = (version: string, platform = 'linux', arch = 'x64') => ({ version, platform, arch });

test.each(['v20.19.0', 'v20.20.1', 'v22.0.0', 'v24.1.0', 'v100.0.0'])('Node %s is new enough', (version) => {
  expect(whyUnsupported(machine(version), '>=20.19')).toBeNull();
});

test.each(['v20.18.9', 'v18.99.0', 'v9.0.0'])('Node %s is too old', (version) => {
  expect(whyUnsupported(machine(version), '>=20.19')).toMatch(
    `needs Node 20.19 or newer; this is ${version}`,
  );
});

test('runs on Linux, x86-64 or arm64, and nowhere else', () => {
  expect(whyUnsupported(machine('v22.0.0', 'linux', 'arm64'), '>=20.19')).toBeNull();
  expect(whyUnsupported(machine('v22.0.0', 'linux', 'ia32'), '>=20.19')).toMatch('linux on ia32');
  expect(whyUnsupported(machine('v22.0.0', 'darwin', 'arm64'), '>=20.19')).toMatch('darwin on arm64');
});

test('a range of another form is not guessed at', () => {
  expect(() => whyUnsupported(machine('v22.0.0'), '^20 || ^22')).toThrow('not of the form');
});
