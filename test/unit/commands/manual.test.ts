import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../../src/commands/all.ts';
import { manualPages } from '../../../src/commands/manual.ts';
import { allOptionsOf } from '../../../src/commands/program.ts';
import { packageVersion } from '../../../src/package-root.ts';

const commands = await loadCommands();

const MAN = resolve(import.meta.dirname, '../../../man');

const pages = await manualPages(packageVersion());

describe('the manual pages', () => {
  it('are there, one for the program and one a command, and no other', () => {
    expect(readdirSync(MAN).sort()).toEqual([...pages.keys()].sort());
    const { man } = JSON.parse(readFileSync(resolve(MAN, '../package.json'), 'utf8'));
    expect(man).toEqual([...pages.keys()].map((name) => `man/${name}`));
  });

  it.each([...pages.keys()])('%s is what the declared options say (npm run man)', (name) => {
    expect(readFileSync(resolve(MAN, name), 'utf8')).toBe(pages.get(name));
  });

  it.each(commands.map((spec) => [spec.path.join(' '), spec] as const))(
    '%s: every option, argument and example stands in the page',
    (_name, spec) => {
      const page = (pages.get(`rdmatool-${spec.path.join('-')}.1`) ?? '')
        .replaceAll('\\-', '-')
        .replaceAll('\\e', '\\');
      for (const option of Object.values(allOptionsOf(spec))) {
        for (const flag of option.flags.match(/--?[a-z-]+/g) ?? []) expect(page).toContain(flag);
        expect(page).toContain(option.description);
      }
      for (const argument of spec.arguments) expect(page).toContain(argument.description);
      for (const example of spec.examples) expect(page).toContain(example.command);
      expect(spec.examples.length).toBeGreaterThan(0);
    },
  );
});
