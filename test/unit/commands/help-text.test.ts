import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { loadCommands } from '../../../src/commands/all.ts';
import { foldCommand, referenceText } from '../../../src/commands/help-text.ts';

const commands = await loadCommands();
const examples = commands.flatMap((spec) => spec.examples.map(({ command }) => command));

/** The words that a shell makes of a command line, a line each; nothing of it is run. */
function words(command: string): string {
  // Every command of the line is this function. What a line expands or redirects would be done, so it is not.
  const script = `set -f; IFS='\n'\n${command}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-n', '-c', script], { encoding: 'utf8' });
  return `${status}${stdout}${stderr}`;
}

describe('an example that is folded', () => {
  it.each(examples)('%s is the same to a shell', (command) => {
    for (const width of [40, 60, 78]) {
      const folded = foldCommand(command, width);
      expect(words(folded.join('\n'))).toBe('0');
      // Outside quotes a backslash and a new line are nothing; inside, the new line stands for a blank.
      const joined = folded.join('\n').replaceAll(' \\\n  ', ' ').replaceAll('\n  ', ' ');
      expect(joined).toBe(command);
    }
  });

  it('breaks inside quotes only after a separator', () => {
    expect(foldCommand("sh -c 'one two three & four five six seven'", 24)).toEqual([
      "sh -c 'one two three &",
      "  four five six seven'",
    ]);
  });
});

describe('a table of words', () => {
  it('is folded beside the words, and below them where there is no room', () => {
    const table = { title: 'Words', rows: [['word', 'a meaning that is rather long, for a word']] as const };
    expect(referenceText(table, 40)).toBe(
      '\nWords:\n  word  a meaning that is rather long,\n        for a word\n',
    );
    expect(referenceText(table, 36)).toBe(
      '\nWords:\n  word\n      a meaning that is rather long,\n      for a word\n',
    );
  });
});
