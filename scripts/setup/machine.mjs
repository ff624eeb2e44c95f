// @ts-check
// What set-up cannot install: the machine itself and the Node that runs it.
import { readFileSync } from 'node:fs';
import { SetupError, UNAVAILABLE } from './error.mjs';

/**
 * Why this project does not run here, or null when it does.
 *
 * @param {{ version: string, platform: string, arch: string }} machine  as `process` names them
 * @param {string} engines  the range in package.json, of the form `>=20.19`
 * @returns {string | null}
 */
export function whyUnsupported({ version, platform, arch }, engines) {
  const oldest = /^>=([\d.]+)$/.exec(engines)?.[1];
  if (oldest === undefined) throw new Error(`engines.node is not of the form >=X.Y: ${engines}`);
  if (platform !== 'linux' || !['x64', 'arm64'].includes(arch)) {
    return `needs Linux on x86-64 or arm64; this is ${platform} on ${arch}`;
  }
  if (isOlder(version.replace(/^v/, ''), oldest)) {
    return `needs Node ${oldest} or newer; this is ${version} (${process.execPath})`;
  }
  return null;
}

/**
 * @param {string} version
 * @param {string} than
 */
function isOlder(version, than) {
  const left = version.split('.').map((part) => Number.parseInt(part, 10));
  const right = than.split('.').map(Number);
  for (const [index, part] of right.entries()) {
    const difference = (left[index] ?? 0) - part;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

export function requireSupportedMachine() {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  const reason = whyUnsupported(process, engines.node);
  if (reason !== null) throw new SetupError(reason, UNAVAILABLE);
}
