/** Whatever rdmatool prints in a lab test is held against its schema: there is one place that parses JSON. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const LAB = resolve(import.meta.dirname, '../../lab');
const PARSER = 'support/json.ts';

it('lab tests parse JSON through product() and foreign() only', () => {
  const files = readdirSync(LAB, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  expect(files).toContain(PARSER);
  const others = files.filter(
    (name) => name !== PARSER && /\bJSON\s*\.\s*parse\b/.test(readFileSync(join(LAB, name), 'utf8')),
  );
  expect(others).toEqual([]);
});
