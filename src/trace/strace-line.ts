/**
 * One line of strace's output into its parts: who, when, which call with which arguments, what came of it. The forms
 * are those of strace(1) with any of -f, -o, -t, -tt, -ttt, -r, -T, -x, -xx, -y, -Y, -n, -i, -s.
 */
import { StraceTextError, unescapeBytes } from '../decode/strace-string.ts';

/** What precedes a call or a message: each null where the options that print it were not given. */
export interface LinePrefix {
  readonly pid: number | null;
  /** The name of the thread's program (-Y). */
  readonly program: string | null;
  readonly moment: Moment | null;
}

/** When a call began: of the day or of the epoch, or since the call before it (-r). Seconds. */
export interface Moment {
  readonly kind: 'epoch' | 'day' | 'relative';
  readonly seconds: number;
}

export type StraceLine =
  | ({ readonly kind: 'call' } & LinePrefix & StraceCall)
  | ({ readonly kind: 'unfinished'; readonly text: string } & LinePrefix)
  | ({ readonly kind: 'resumed'; readonly call: string; readonly text: string } & LinePrefix)
  /** `+++ exited with 0 +++`, `--- SIGCHLD ... ---`, `strace: Process 7 attached`, or an empty line. */
  | ({ readonly kind: 'message'; readonly text: string } & LinePrefix);

export interface StraceCall {
  readonly name: string;
  readonly args: readonly string[];
  readonly result: CallResult;
  /** Seconds inside the call (-T). */
  readonly duration: number | null;
}

export interface CallResult {
  /** null for `?`: the process ended in the call, or the call was interrupted. */
  readonly value: number | null;
  /** `EAGAIN`, null where the call did not fail. */
  readonly errno: string | null;
  /** The path behind a descriptor (-y), where the result is one. */
  readonly path: string | null;
}

const textOf = (escaped: string): string => Buffer.from(unescapeBytes(escaped)).toString('utf8');

/** A descriptor argument, with the path behind it where -y shows it; null for what is none. */
export function descriptorArgument(
  arg: string,
): { readonly fd: number; readonly path: string | null } | null {
  const [, fd, path] = /^(\d+)(?:<(.*)>)?$/s.exec(arg) ?? [];
  return fd === undefined ? null : { fd: Number(fd), path: path === undefined ? null : textOf(path) };
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/**
 * The arguments of a call, from behind its opening bracket.
 * @returns the arguments, and where the closing bracket stands
 */
function splitArguments(text: string): { args: string[]; end: number } {
  const open: string[] = [];
  const args: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if (char === '"') {
      at = endOfString(text, at);
    } else if (text.startsWith('/*', at)) {
      at = text.indexOf('*/', at) + 1;
      if (at === 0) throw new StraceTextError('a comment has no end');
    } else if (open.at(-1) === '>' && char !== '>') {
      // A path behind a descriptor: strace escapes the brackets in it.
    } else if (open.length === 0 && (char === ',' || char === ')')) {
      const arg = text.slice(start, at).trim();
      if (char === ',' || arg !== '' || args.length > 0) args.push(arg);
      if (char === ')') return { args, end: at };
      start = at + 1;
    } else if (char === '<' ? isPathBracket(text, at) : CLOSING[char] !== undefined) {
      open.push(CLOSING[char] ?? '');
    } else if (char === open.at(-1)) {
      open.pop();
    }
  }
  throw new StraceTextError('the arguments have no end');
}

/** `3</dev/...`, `AT_FDCWD</tmp>`, not `1<<3`. */
const isPathBracket = (text: string, at: number): boolean =>
  /[\w]/.test(text[at - 1] ?? '') && text[at + 1] !== '<' && text[at - 1] !== '<';

/** Where a string's closing quote stands. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  throw new StraceTextError('a string has no end');
}

/** `= 3</dev/x> <0.1>`, `= -1 EAGAIN (...)`, `= ?`, `= 0x7f... `, `=> {...} = 5`. */
function parseResult(text: string): { result: CallResult; duration: number | null } {
  const [, value, path, errno, duration] =
    /^(?:\s*=> .*?)?\s*= (\?|-?\d+|0x[0-9a-f]+)(?:<((?:[^>\\]|\\.)*)>)?(?: ([A-Z][A-Z0-9_]+)(?= |$))?(?: \(.*\))?(?: <(\d+\.\d+)>)?\s*$/s.exec(
      text,
    ) ?? [];
  if (value === undefined) throw new StraceTextError(`'${text.trim().slice(0, 60)}' is no result of a call`);
  return {
    result: {
      value: value === '?' ? null : Number(value),
      errno: errno ?? null,
      path: path === undefined ? null : textOf(path),
    },
    duration: duration === undefined ? null : Number(duration),
  };
}

/**
 * A whole call, from its name on.
 * @throws StraceTextError
 */
export function parseCall(text: string): StraceCall {
  const [head, name] = /^([a-z_][a-z0-9_]*)\(/i.exec(text) ?? [];
  if (head === undefined || name === undefined) {
    throw new StraceTextError(`'${text.slice(0, 60)}' is no call as strace writes it`);
  }
  const rest = text.slice(head.length);
  const { args, end } = splitArguments(rest);
  return { name, args, ...parseResult(rest.slice(end + 1)) };
}

const PID = /^(?:\[pid\s+(\d+)(?:<((?:[^>\\]|\\.)*)>)?\]\s+|(\d+)(?:<((?:[^>\\]|\\.)*)>)?\s+(?=\S))/;
const TIMES: readonly [RegExp, (groups: readonly string[]) => Moment][] = [
  [
    /^(\d{2}):(\d{2}):(\d{2}(?:\.\d+)?)\s+/,
    ([, h, m, s]) => ({ kind: 'day', seconds: Number(h) * 3600 + Number(m) * 60 + Number(s) }),
  ],
  [/^(\d{9,}(?:\.\d+)?)\s+/, ([, s]) => ({ kind: 'epoch', seconds: Number(s) })],
  [/^\(?\+?\s*(\d{1,8}\.\d+)\)?\s+/, ([, s]) => ({ kind: 'relative', seconds: Number(s) })],
];
/** Number of the call (-n) and instruction pointer (-i). */
const ADDRESSES = /^(?:\[\s*(?:\d+|\?|[0-9a-f]{8,16})\]\s+)+/;

function parsePrefix(line: string): { prefix: LinePrefix; rest: string } {
  let rest = line;
  const [pidText, bracketPid, bracketProgram, barePid, bareProgram] = PID.exec(rest) ?? [];
  const pid = bracketPid ?? barePid;
  // A moment of the epoch alone looks like a pid.
  const hasPid = pidText !== undefined && !(barePid !== undefined && barePid.length > 8);
  if (hasPid) rest = rest.slice(pidText.length);
  const program = bracketProgram ?? bareProgram;
  let moment: Moment | null = null;
  for (const [pattern, make] of TIMES) {
    const found = pattern.exec(rest);
    if (!found) continue;
    moment ??= make(found);
    rest = rest.slice(found[0].length);
  }
  return {
    prefix: {
      pid: hasPid ? Number(pid) : null,
      program: hasPid && program !== undefined ? textOf(program) : null,
      moment,
    },
    rest: rest.replace(ADDRESSES, ''),
  };
}

const UNFINISHED = / <unfinished \.\.\.>\s*$/;

/**
 * @throws StraceTextError for a line that strace does not write
 */
export function parseStraceLine(line: string): StraceLine {
  if (/^(?:strace: .*|\s*)$/.test(line)) {
    return { kind: 'message', pid: null, program: null, moment: null, text: line };
  }
  const { prefix, rest } = parsePrefix(line);
  if (/^(?:\+\+\+ .* \+\+\+|--- .* ---|strace: .*)\s*$/.test(rest)) {
    return { kind: 'message', ...prefix, text: rest };
  }
  const [resumedText, call] = /^<\.\.\. (\w+) resumed>\s?/.exec(rest) ?? [];
  if (resumedText !== undefined && call !== undefined) {
    return { kind: 'resumed', ...prefix, call, text: rest.slice(resumedText.length) };
  }
  if (UNFINISHED.test(rest)) {
    return { kind: 'unfinished', ...prefix, text: rest.replace(UNFINISHED, '') };
  }
  return { kind: 'call', ...prefix, ...parseCall(rest) };
}
