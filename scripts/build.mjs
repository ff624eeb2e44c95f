// @ts-check
// Bundles src/ into dist/, and the library of it into dist/library/. Starting Node dominates most commands, so the bundle is made for a quick start:
// CommonJS, because a start without Node's ESM loader is some 5 ms shorter, in few files. What only some commands
// need lies in files of their own, which are read when the command runs.
import { rmSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';
import { declarationsOf } from './build/declarations.mjs';
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
const program = await rolldown({
  input: { main: 'src/main.ts', 'cm-many-thread': 'src/commands/cm-many-thread.ts' },
  platform: 'node',
  external: ['koffi'],
  plugins: [withoutChildProcess],
  preserveEntrySignatures: 'allow-extension',
});
const ofProgram = await program.write({
  dir: 'dist',
  format: 'cjs',
  comments: false,
  sourcemap: true,
  entryFileNames: '[name].cjs',
  chunkFileNames: '[name]-[hash].cjs',
});
// What others import is apart: it would draw parts of the program in, and make the program's start longer. As a
// module it serves import and require (Node 20.19 and newer) alike.
const library = await rolldown({
  input: { index: 'src/library/index.ts' },
  platform: 'node',
  external: ['koffi'],
});
const ofLibrary = await library.write({
  dir: 'dist/library',
  format: 'esm',
  comments: false,
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
});
writeFileSync('dist/library/index.d.ts', declarationsOf('src/library/index.ts'));
const modules = [...ofProgram.output, ...ofLibrary.output].flatMap((part) =>
  part.type === 'chunk' ? part.moduleIds : [],
);
writeFileSync('dist/LICENCES.txt', licencesText(bundledPackages(modules)));
