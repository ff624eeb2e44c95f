// @ts-check
// Bundles src/ into dist/. Starting Node dominates most commands, so the bundle is made for a quick start:
// CommonJS, because a start without Node's ESM loader is some 5 ms shorter, in few files. What only some commands
// need lies in files of their own, which are read when the command runs.
import { rmSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { bundledPackages, licencesText } from './build/licences.mjs';

/** commander loads child_process for subcommands that are programs of their own; rdmatool has none. */
const withoutChildProcess = {
  name: 'commander-without-child-process',
  /** @param {string} source @param {string | undefined} importer */
  resolveId: (source, importer) =>
    source === 'node:child_process' && importer?.includes('/commander/') ? '\0no-child-process' : null,
  /** @param {string} id */
  load: (id) => (id === '\0no-child-process' ? 'module.exports = {};' : null),
};

rmSync('dist', { recursive: true, force: true });
const bundle = await rolldown({
  input: { main: 'src/main.ts', 'cm-many-thread': 'src/commands/cm-many-thread.ts' },
  platform: 'node',
  external: ['koffi'],
  plugins: [withoutChildProcess],
  preserveEntrySignatures: 'allow-extension',
});
const { output } = await bundle.write({
  dir: 'dist',
  format: 'cjs',
  comments: false,
  sourcemap: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
});
const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
writeFileSync('dist/LICENCES.txt', licencesText(bundledPackages(modules)));
