import { describe, expect, it } from 'vitest';
import { OPERATIONS } from '../../../../src/cm/script/operations.ts';
import { parseScript } from '../../../../src/cm/script/parse.ts';
import { splitWords } from '../../../../src/cm/script/words.ts';

const words = (line: string) => splitWords(line, 1, (name) => `<${name}>`).map(({ text }) => text);
const parse = (text: string, presets: Record<string, string> = {}) =>
  parseScript(text, OPERATIONS, new Map(Object.entries(presets)));
/** Line, column, message and hint of each mistake. */
const mistakes = (text: string, presets: Record<string, string> = {}) =>
  parse(text, presets).mistakes.map(
    ({ line, column, message, hint }) => `${line}:${column} ${message} | ${hint}`,
  );

describe('the words of a line', () => {
  it.each([
    ['', []],
    ['   # a comment', []],
    ['a b\tc', ['a', 'b', 'c']],
    ['a#b # c', ['a#b']],
    [`'a b' "c d" e\\ f`, ['a b', 'c d', 'e f']],
    [`'$x \\' "$x \\" \\$ \\\\" $x\${y}z`, ['$x \\', '<x> " $ \\', '<x><y>z']],
    [`a''b "" ''`, ['ab', '', '']],
    [`"it's"`, ["it's"]],
  ])('%j', (line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  it.each([
    ["a 'b", 3, "the ' is not closed"],
    ['a "b', 3, 'the " is not closed'],
    ['a \\', 3, 'a \\ ends the line'],
    ['a $', 3, '$ stands before no name'],
    ['a "$1"', 4, '$ stands before no name'],
    ['a ${b', 3, '$ stands before no name'],
  ])('%j is a mistake at column %i', (line, column, message) => {
    expect(() => words(line)).toThrow(expect.objectContaining({ column, message }));
  });
});

describe('a script', () => {
  it('becomes steps', () => {
    const { steps, mistakes: none } = parse(
      [
        'server=10.9.1.1',
        'create-id a --ps udp',
        "connect a --qp-num 0x10 --private-data 'hi there' --srq",
        '!EADDRINUSE bind a $server:7174',
        'get-event a REJECTED within 1.5s status 28',
        'set-option a ib-path sl=3 dgid=fe80::1',
        '! destroy-id a',
        'destroy-id a',
      ].join('\r\n'),
    );
    expect(none).toEqual([]);
    expect(
      steps.map(({ line, operation, failure, subject }) => [line, operation.name, failure, subject]),
    ).toEqual([
      [2, 'create-id', null, 'a'],
      [3, 'connect', null, 'a'],
      [4, 'bind', 'EADDRINUSE', 'a'],
      [5, 'get-event', null, 'a'],
      [6, 'set-option', null, 'a'],
      [7, 'destroy-id', '', 'a'],
      [8, 'destroy-id', null, 'a'],
    ]);
    expect(steps[0]?.values).toEqual({ id: 'a', ps: 'udp', channel: 'default' });
    expect(steps[1]?.values).toMatchObject({ qpNum: 16, srq: true, flowControl: false });
    expect(Buffer.from(steps[1]?.values['data'] as Uint8Array).toString()).toBe('hi there');
    expect(steps[2]?.values).toMatchObject({ address: { host: '10.9.1.1', port: 7174, scope: null } });
    expect(steps[3]?.values).toMatchObject({ event: 8, within: 1500, status: 28, as: null });
    expect(steps[4]?.values['value']).toHaveLength(2);
  });

  it.each([
    ['conect a', "1:1 there is no operation 'conect' | did you mean connect?"],
    [
      'RESOLVE_ADDR a',
      expect.stringContaining("1:1 there is no operation 'RESOLVE_ADDR' | did you mean resolve-addr"),
    ],
    ['constructor a', "1:1 there is no operation 'constructor' | see rdmatool cm run --help"],
    ['listen a', "1:8 there is no id 'a' here | make one: create-id a"],
    ['create-id', '1:10 create-id: ID is missing | see rdmatool cm run --help for create-id'],
    ['create-id a b', "1:13 create-id: 'b' is one word too many | see rdmatool cm run --help for create-id"],
    ['create-id a --pss udp', '1:13 create-id: there is no --pss | did you mean --ps?'],
    [
      'create-id a --ps',
      '1:13 create-id: --ps needs a value: SPACE | see rdmatool cm run --help for create-id',
    ],
    ['create-id a --ps tcpp', "1:18 'tcpp' is none of tcp, udp, ib, ipoib | did you mean tcp?"],
    [
      'create-id a --ps tcp --ps udp',
      '1:22 create-id: --ps stands twice | see rdmatool cm run --help for create-id',
    ],
    [
      'create-id -a',
      "1:11 '-a' cannot be a name | a name begins with a letter and has at most 32 letters, digits, dots, dashes and underscores",
    ],
    [
      'create-id __proto__\ncreate-id __proto__',
      '2:11 the id __proto__ is there already | choose another name',
    ],
    ['create-id default', '1:11 default is a channel already | choose another name'],
    ['create-id a\nget-event a ESTABLISHD', '2:13 there is no EVENT ESTABLISHD | did you mean ESTABLISHED?'],
    [
      'create-id a\nget-event a within 2',
      "2:20 '2' is not a time like 500ms, 2s or 1m | did you mean 2s or 2ms?",
    ],
    [
      'create-id a\nget-event a within 9999m',
      "2:20 '9999m' is not a time like 500ms, 2s or 1m | at most 1440m",
    ],
    [
      'create-id a\nget-event a ESTABLISHED as b',
      '2:28 only CONNECT_REQUEST brings a new id | leave out the word `as`',
    ],
    ['create-id a\nset-option a tos 256', "2:18 '256' is not a whole number from 0 to 255 | "],
    ['create-id a\nset-option a tos 1 2', "2:20 '2' is one word too many | "],
    [
      'create-id a\nset-option a ib-path 0x00',
      '2:22 1 bytes are no array of ibv_path_data | each has 72 bytes',
    ],
    ['create-id a\nset-option a ib-path ls=1', "2:22 'ls=1' is no field of a path | did you mean sl?"],
    [
      'create-id a\nset-option a ib-path __proto__=1',
      expect.stringContaining("'__proto__=1' is no field of a path"),
    ],
    ['create-id a\nbind a 10.9.0', "2:8 '10.9.0' is not an IPv4 address | "],
    [
      'create-id a\nreject a --reason 5',
      '2:19 reason 5 cannot be sent | 28 is the application, 35 a vendor option',
    ],
    [
      '!EADRINUSE create-id a',
      "1:2 'EADRINUSE' is neither an error code nor an errno | did you mean EADDRINUSE?",
    ],
    ['!', '1:1 ! stands before no step | '],
    [
      'create-id $a',
      '1:11 the variable a has no value | give it a value: a=... on a line before, or --set a=...',
    ],
    ['abc=1\ncreate-id $abd', '2:11 the variable abd has no value | did you mean abc?'],
    ['a=1 2', "1:5 nothing may stand after a=1 | a value with spaces stands in quotes: a='...'"],
    [
      `create-id ${'a'.repeat(5000)}`,
      expect.stringContaining('1:4096 the line has more than 4096 characters'),
    ],
  ])('%j: its mistake has a place and a word', (text, expected) => {
    expect(mistakes(text)).toEqual([expected]);
  });

  it('has all its mistakes told', () => {
    expect(mistakes('nope\ncreate-id a\nnope2\nlisten b')).toHaveLength(3);
  });

  it('knows an id only while it is there', () => {
    expect(mistakes('create-id a\ndestroy-id a\nlisten a')).toHaveLength(1);
    expect(mistakes('! create-id a\nlisten a')).toHaveLength(1);
    expect(mistakes('create-id a\nget-event a CONNECT_REQUEST as b\nlisten b\ncreate-id b')).toEqual([
      expect.stringContaining('4:11 the id b is there already'),
    ]);
    expect(
      mistakes(
        'create-event-channel c\ncreate-id a --channel c\ndestroy-event-channel c\ncreate-id b --channel c',
      ),
    ).toEqual([expect.stringContaining("4:23 there is no channel 'c' here")]);
  });

  it('takes the values of the command line before its own', () => {
    expect(parse('x=1\ncreate-id $x', { x: 'one' }).steps[0]?.subject).toBe('one');
    expect(mistakes('x=1\ncreate-id a', { y: '2' })).toEqual([
      '1:1 the script has no variable y (--set) | did you mean x?',
    ]);
  });

  it('has a step', () => {
    for (const text of ['', '# nothing\n\n', 'x=1\n']) {
      expect(mistakes(text)).toEqual([expect.stringMatching(/^1:1 the script has no steps/)]);
    }
  });

  it('takes an operation right behind the !', () => {
    expect(parse('!create-id a').steps[0]).toMatchObject({ failure: '', subject: 'a' });
    expect(mistakes('!conect a')).toEqual([expect.stringContaining('did you mean ! connect?')]);
  });

  it('made of anything ends in steps or mistakes', () => {
    const pieces = [
      'create-id',
      'a',
      '!',
      '$',
      '"',
      "'",
      '\\',
      ' ',
      '\n',
      '=',
      '--ps',
      'get-event',
      'within',
      '0x',
      '\0',
      '€',
      '{',
      '#',
    ];
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48271) % 0x7fffffff;
      return seed % below;
    };
    for (let round = 0; round < 3000; round++) {
      const text = Array.from({ length: random(30) }, () => pieces[random(pieces.length)]).join('');
      const { steps, mistakes: found } = parse(text);
      for (const { line, column } of found) {
        expect(line).toBeGreaterThan(0);
        expect(column).toBeGreaterThan(0);
        expect(column).toBeLessThanOrEqual((text.split('\n')[line - 1] ?? '').length + 1);
      }
      expect(steps.length + found.length).toBeLessThanOrEqual(text.split('\n').length);
    }
  });

  it('of endless lines is refused at once', () => {
    expect(mistakes('\n'.repeat(200_000))).toEqual([expect.stringContaining('more than 100000 lines')]);
  });
});

it('the operations have names and words of their own', () => {
  const names = OPERATIONS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { options, positional } of OPERATIONS) {
    const optionWords = Object.values(options).map(({ word }) => word);
    expect(new Set(optionWords).size).toBe(optionWords.length);
    expect(Object.keys(positional).filter((name) => name in options)).toEqual([]);
  }
});
