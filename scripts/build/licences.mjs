// @ts-check
// The licence texts of the packages whose code is in the bundle, as their licences want them to go along.
import { readdirSync, readFileSync } from 'node:fs';

/** @typedef {{ readonly name: string, readonly version: string, readonly licence: string, readonly text: string }} Bundled */

/**
 * The packages that modules of a bundle come from, by name.
 *
 * @param {Iterable<string>} moduleIds  paths of files; what the bundler makes itself begins with \0
 * @returns {Bundled[]}
 */
export function bundledPackages(moduleIds) {
  const folders = new Set();
  for (const id of moduleIds) {
    const folder = folderOf(id.replaceAll('\\', '/'));
    if (folder !== null) folders.add(folder);
  }
  return [...folders].map(packageAt).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The folder of the package that a module is part of; null for our own.
 *
 * @param {string} id
 */
function folderOf(id) {
  // Helpers that the bundler puts into its output are code of the bundler.
  if (/^\0?rolldown\//.test(id)) return 'node_modules/rolldown';
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replace(/^\0/, '')) ?? [];
  return folder ?? null;
}

/**
 * @param {string} folder
 * @returns {Bundled}
 */
function packageAt(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)([-.]\w+)*$/i.test(file));
  if (files.length === 0) throw new Error(`${name} is bundled, and has no licence text in ${folder}`);
  const text = files
    .sort()
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8').trim())
    .join('\n\n');
  return { name, version, licence: String(license), text };
}

/** @param {readonly Bundled[]} packages */
export function licencesText(packages) {
  const parts = packages.map(({ name, version, licence, text }) => {
    const title = `${name} ${version} (${licence})`;
    return `${title}\n${'-'.repeat(title.length)}\n\n${text}\n`;
  });
  return `rdmatool contains code of these packages.\n\n${parts.join('\n\n')}`;
}
