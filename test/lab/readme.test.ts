import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { withOutputs } from '../../scripts/readme/outputs.mjs';

it('the README shows what its commands print (npm run readme)', () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
  expect(readme).toBe(withOutputs(readme));
});
