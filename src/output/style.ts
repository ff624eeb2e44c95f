import { Chalk } from 'chalk';

export type ColorMode = 'auto' | 'always' | 'never';

/** What a piece of text is, not how it looks. */
export type Tone = 'plain' | 'title' | 'label' | 'good' | 'bad' | 'doubt' | 'quiet';

export type Style = (text: string, tone: Tone) => string;

/** Whether to colour: https://no-color.org, TERM=dumb, and never into a pipe unless asked to. */
export function wantsColor(
  mode: ColorMode,
  isTerminal: boolean,
  environment: NodeJS.ProcessEnv = process.env,
): boolean {
  if (mode !== 'auto') return mode === 'always';
  return isTerminal && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
}

export function createStyle(color: boolean): Style {
  if (!color) return (text) => text;
  const chalk = new Chalk({ level: 1 });
  const looks: Readonly<Record<Tone, (text: string) => string>> = {
    plain: (text) => text,
    title: chalk.bold,
    label: chalk.cyan,
    good: chalk.green,
    bad: chalk.red,
    doubt: chalk.yellow,
    quiet: chalk.dim,
  };
  return (text, tone) => looks[tone](text);
}
