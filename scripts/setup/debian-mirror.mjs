// @ts-check
// The Debian mirror that apt uses on this machine.
import { readFileSync } from 'node:fs';
import { run } from '../processes.mjs';

/** A mirror that has one of these has the others as well. */
const SUITES = /^(bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)$/;

/**
 * The address of the mirror, and the keys that apt trusts it with ('' where apt has them for all); null where apt
 * uses no Debian mirror, or there is no apt.
 *
 * @returns {Promise<{ uri: string, signedBy: string } | null>}
 */
export async function debianMirror() {
  const format = '$(RELEASE) $(COMPONENT) $(REPO_URI) $(SIGNED_BY)';
  const targets = await run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'], {
    quiet: true,
  });
  return targets.status === 0 ? mirrorAmong(targets.output) : null;
}

/**
 * @param {string} targets  lines of `RELEASE COMPONENT URI KEYS`
 * @param {(file: string) => string} read
 * @returns {{ uri: string, signedBy: string } | null}
 */
export function mirrorAmong(targets, read = (file) => readFileSync(file, 'utf8')) {
  for (const line of targets.split('\n')) {
    const [release = '', component, uri = '', keys = ''] = line.split(' ');
    if (!SUITES.test(release) || component !== 'main') continue;
    // apt leaves what it does not know as it stands in the format.
    const signedBy = keys.startsWith('/') ? keys : '';
    // Cloud images list their mirrors in a file of their own, one a line.
    const [, list] = /^mirror\+file:(?:\/\/)?(\/[^ ]+?)\/?$/.exec(uri) ?? [];
    const address = list === undefined ? uri : read(list).match(/^https?:\S+/m)?.[0];
    return address === undefined ? null : { uri: address, signedBy };
  }
  return null;
}
