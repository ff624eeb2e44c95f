// Writes man/*.1 from the declared commands. The pages are committed; a test says when they are out of date.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

// Beside node_modules, so that what the bundle leaves out can be found.
const bundle = new URL('../node_modules/.cache/rdmatool-manual.mjs', import.meta.url);
await build({
  entryPoints: ['src/commands/manual.ts'],
  outfile: bundle.pathname,
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
});
const { manualPages } = await import(bundle.href);
rmSync(bundle);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

rmSync('man', { recursive: true, force: true });
mkdirSync('man');
for (const [name, page] of manualPages(version)) writeFileSync(`man/${name}`, page);
