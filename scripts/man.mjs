// @ts-check
// Writes man/*.1 from the declared commands, and their names into package.json. Both are committed; a test says when
// they are out of date.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';

// Beside node_modules, so that what the bundle leaves out can be found.
const folder = new URL('../node_modules/.cache/rdmatool-manual/', import.meta.url);
const bundle = await rolldown({
  input: { manual: 'src/commands/manual.ts' },
  platform: 'node',
  external: ['koffi'],
});
await bundle.write({ dir: folder.pathname, format: 'esm' });
const { manualPages } = await import(new URL('manual.js', folder).href);
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

rmSync('man', { recursive: true, force: true });
mkdirSync('man');
const pages = await manualPages(manifest.version);
for (const [name, page] of pages) writeFileSync(`man/${name}`, page);
// npm installs the pages that are named, and takes no folder.
manifest.man = [...pages.keys()].map((name) => `man/${name}`);
writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
rmSync(folder, { recursive: true });
