import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Block, fold, renderBlocks } from '../../../src/output/blocks.ts';
import { harmless, harmlessLines } from '../../../src/output/harmless.ts';
import { jsonDocument } from '../../../src/output/json.ts';
import { Progress } from '../../../src/output/progress.ts';
import { frameText } from '../../../src/output/streams.ts';
import { createStyle, wantsColor } from '../../../src/output/style.ts';

const plain = createStyle(false);
const render = (blocks: readonly Block[], width: number | null = null): string =>
  renderBlocks(blocks, { style: plain, width });

describe('fold', () => {
  it.each([
    ['a short text', 40, ['a short text']],
    ['one two three four five six seven', 20, ['one two three four', 'five six seven']],
    ['exactly twenty chars', 20, ['exactly twenty chars']],
    ['', 20, ['']],
    ['two  spaces stay', 40, ['two  spaces stay']],
    // A word that is too long stays whole; nothing is cut.
    [
      'see /usr/lib/x86_64-linux-gnu/libibverbs.so.1 there',
      20,
      ['see', '/usr/lib/x86_64-linux-gnu/libibverbs.so.1', 'there'],
    ],
    ['never folded into so little room', 10, ['never folded into so little room']],
  ])('%j at %i', (text, width, lines) => {
    expect(fold(text, width)).toEqual(lines);
  });

  it('a pipe has no width', () => {
    expect(fold('word '.repeat(100), null).length).toBe(1);
  });
});

describe('blocks', () => {
  it('pairs stand in two columns, folded beside the label', () => {
    const block: Block = {
      type: 'pairs',
      indent: 2,
      rows: [
        ['A', 'one two three four five six'],
        ['Longer', 'x'],
      ],
    };
    expect(render([block])).toBe('  A       one two three four five six\n  Longer  x\n');
    expect(render([block], 32)).toBe('  A       one two three four\n          five six\n  Longer  x\n');
  });

  it('tables have their columns under one another, without spaces at the end', () => {
    const block: Block = {
      type: 'table',
      columns: ['A', 'LONG'],
      rows: [
        ['aaa', 'x'],
        ['b', ''],
      ],
    };
    expect(render([block])).toBe('A    LONG\naaa  x\nb\n');
  });

  it('a table that is too wide leaves out columns in the order of their rank, and says so', () => {
    const block: Block = {
      type: 'table',
      columns: ['NAME', { title: 'WIDE', rank: 2 }, { title: 'ODD', rank: 1 }, 'END'],
      rows: [['n'.repeat(10), 'w'.repeat(10), 'o'.repeat(10), 'e']],
    };
    const titles = (width: number | null): string[] =>
      (render([block], width).split('\n')[0] ?? '').split(/ +/);
    expect(titles(null)).toEqual(['NAME', 'WIDE', 'ODD', 'END']);
    expect(titles(39)).toEqual(['NAME', 'WIDE', 'ODD', 'END']);
    expect(titles(38)).toEqual(['NAME', 'WIDE', 'END']);
    expect(titles(20)).toEqual(['NAME', 'END']);
    // Columns without a rank stay.
    expect(titles(3)).toEqual(['NAME', 'END']);
    expect(render([block], 38)).toContain('no room here for ODD');
    expect(render([block], 20)).toContain('no room here for ODD, WIDE');
    expect(render([block], 39)).not.toContain('no room');
  });

  it('headings, gaps and text', () => {
    const blocks: Block[] = [
      { type: 'heading', text: 'name', detail: 'detail' },
      { type: 'gap' },
      { type: 'text', text: 'some words', indent: 2 },
    ];
    expect(render(blocks)).toBe('name  detail\n\n  some words\n');
  });

  it('empty ones are nothing', () => {
    expect(render([{ type: 'pairs', rows: [] }])).toBe('');
    expect(render([])).toBe('');
  });

  it('show control characters in every place, and obey none', () => {
    const evil = 'a\u001b[31mb\u009b0m\n\u202ec';
    const blocks: Block[] = [
      { type: 'heading', text: evil, detail: evil },
      { type: 'text', text: evil },
      { type: 'pairs', rows: [[evil, { text: evil, tone: 'bad' }]] },
      { type: 'table', columns: ['X'], rows: [[evil]] },
    ];
    const text = render(blocks);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text.match(/a\\x1b\[31mb\\x9b0m\\x0a\\u202ec/g)?.length).toBe(6);
  });

  it('colour does not change where things stand', () => {
    const blocks: Block[] = [
      {
        type: 'pairs',
        rows: [
          ['Label', { text: 'one two three four five', tone: 'bad' }],
          ['L', 'x'],
        ],
      },
      { type: 'table', columns: ['A', 'B'], rows: [[{ text: 'aaaa', tone: 'good' }, 'b']] },
    ];
    const coloured = renderBlocks(blocks, { style: createStyle(true), width: 30 });
    expect(coloured).toMatch(/\u001b\[/);
    expect(coloured.replace(/\u001b\[\d+m/g, '').replace(/ +$/gm, '')).toBe(render(blocks, 30));
  });
});

describe('harmless', () => {
  it.each([
    ['plain text, ünïcödé, 🚀', 'plain text, ünïcödé, 🚀'],
    ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
    ['tab\tline\n', 'tab\\x09line\\x0a'],
    ['\u009b31m\u007f', '\\x9b31m\\x7f'],
    ['\u202eabc\u2066', '\\u202eabc\\u2066'],
  ])('%j', (text, shown) => {
    expect(harmless(text)).toBe(shown);
  });

  it('keeps lines and tabs where they are meant', () => {
    expect(harmlessLines('a\tb\nc\r\u001b')).toBe('a\tb\nc\\x0d\\x1b');
  });
});

describe('jsonDocument', () => {
  it('is JSON that reads back as it was, without a control character in it', () => {
    const value = { text: '\u0000\u001b\u007f\u009b\u202e\n', list: [1, null] };
    const document = jsonDocument(value);
    expect(JSON.parse(document)).toEqual(value);
    expect(document).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(document.endsWith('}\n')).toBe(true);
  });
});

describe('colour', () => {
  it.each([
    ['auto', true, {}, true],
    ['auto', false, {}, false],
    ['auto', true, { NO_COLOR: '1' }, false],
    ['auto', true, { NO_COLOR: '' }, true],
    ['auto', true, { TERM: 'dumb' }, false],
    ['always', false, { NO_COLOR: '1', TERM: 'dumb' }, true],
    ['never', true, {}, false],
  ] as const)('%s, on a terminal: %s, with %j: %s', (mode, isTerminal, environment, expected) => {
    expect(wantsColor(mode, isTerminal, environment)).toBe(expected);
  });
});

describe('progress', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function shown(): { lines: (string | null)[]; progress: Progress } {
    const lines: (string | null)[] = [];
    return { lines, progress: new Progress({ progress: (line) => lines.push(line) }) };
  }

  it('of quick work is nothing', () => {
    const { lines, progress } = shown();
    progress.update('1 of 2');
    vi.advanceTimersByTime(900);
    progress.update('2 of 2');
    progress.end();
    vi.advanceTimersByTime(5000);
    expect(lines).toEqual([]);
  });

  it('of slow work is the last word after a second, then each, and is taken away', () => {
    const { lines, progress } = shown();
    progress.update('1 of 3');
    vi.advanceTimersByTime(500);
    progress.update('2 of 3');
    vi.advanceTimersByTime(600);
    expect(lines).toEqual(['2 of 3']);
    progress.update('3 of 3');
    progress.end();
    progress.end();
    expect(lines).toEqual(['2 of 3', '3 of 3', null]);
  });
});

describe('a frame', () => {
  const drawn = (text: string, rows: number | null, columns: number | null = 80) =>
    frameText(text, { rows, columns })
      .replace('\u001b[H', '')
      .replace('\u001b[J', '')
      .replaceAll('\u001b[K\n', '\n');

  it('is written over the one before, line by line', () => {
    expect(frameText('a\nb\n', { rows: 24, columns: 80 })).toBe('\u001b[Ha\u001b[K\nb\u001b[K\n\u001b[J');
  });

  it.each([
    ['a\nb\nc\n', 4, 'a\nb\nc\n'],
    ['a\nb\nc\nd\n', 4, 'a\nb\n… 2 more lines\n'],
    ['a\nb\nc\nd\n', 1, 'a\n… 3 more lines\n'],
    ['a\nb\nc\nd\n', null, 'a\nb\nc\nd\n'],
  ])('%j on %s rows', (text, rows, expected) => {
    expect(drawn(text, rows)).toBe(expected);
  });

  it('knows how many rows a wide line takes, whatever its colour', () => {
    const wide = `\u001b[31m${'x'.repeat(11)}\u001b[39m`;
    expect(drawn(`${wide}\nb\nc\n`, 5, 10)).toBe(`${wide}\nb\nc\n`);
    expect(drawn(`${wide}\nb\nc\n`, 4, 10)).toBe(`${wide}\n… 2 more lines\n`);
  });
});

describe('a column that folds', () => {
  const table = (width: number | null) =>
    renderBlocks(
      [
        {
          type: 'table',
          columns: ['NAME', { title: 'VALUE', rank: 1 }, { title: 'MEANING', rank: 2, folds: true }],
          rows: [
            ['a', '1', 'what it counts, in so many words'],
            ['b', '22', 'short'],
          ],
        },
      ],
      { style: createStyle(false), width },
    );

  it.each([
    [null, 'NAME  VALUE  MEANING\na     1      what it counts, in so many words\nb     22     short\n'],
    [45, 'NAME  VALUE  MEANING\na     1      what it counts, in so many words\nb     22     short\n'],
    [
      38,
      'NAME  VALUE  MEANING\na     1      what it counts, in so\n             many words\nb     22     short\n',
    ],
  ])('at %s columns', (width, expected) => {
    expect(table(width)).toBe(expected);
  });

  it('goes when there is no room to fold it into', () => {
    expect(table(30)).toMatch(/^NAME {2}MEANING\na {5}what it counts, in so\n/);
    expect(table(20)).toMatch(/^NAME\na\nb\nno room here for VALUE, MEANING/);
  });
});
