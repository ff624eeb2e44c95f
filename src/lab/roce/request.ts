/** What the guest is asked to run; guest/session.c reads it. */

/** A directory of the host that the command sees. */
export interface Share {
  readonly path: string;
  /** Where it sees it. */
  readonly at: string;
  /** `cached`: read-only, and quicker; changes are seen once `versions` tell of them. */
  readonly access: 'read-write' | 'read-only' | 'cached';
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface CommandRequest {
  readonly command: readonly string[];
  readonly environment: { readonly [name: string]: string };
  readonly directory: string;
  /** A directory before what is in it. */
  readonly shares: readonly Share[];
  /** Names of things that cached shares hold, and their present versions. */
  readonly versions: { readonly [name: string]: string };
  /** Symbolic links that are to exist: path to target. */
  readonly links: { readonly [path: string]: string };
  /** Where the command's streams are a terminal. */
  readonly terminal: (TerminalSize & { readonly errorApart: boolean }) | null;
  /** The host's clock, in milliseconds since 1970. */
  readonly now: number;
}

const SHARE_LETTER = { 'read-write': 'w', 'read-only': 'r', cached: 'c' } as const;

/** The request as the guest reads it. */
export function encodeRequest(request: CommandRequest): Buffer {
  const { terminal } = request;
  const records = [
    ['k', (request.now / 1000).toFixed(3)],
    ...Object.entries(request.versions).map(([name, version]) => ['v', name, version]),
    ...request.shares.map(({ path, at, access }) => [SHARE_LETTER[access], path, at]),
    ...Object.entries(request.links).map(([path, target]) => ['l', path, target]),
    ['d', request.directory],
    ...(terminal === null ? [] : [['t', `${terminal.columns}x${terminal.rows}`]]),
    ...(terminal?.errorApart ? [['s', '']] : []),
    ...Object.entries(request.environment).map(([name, value]) => ['e', `${name}=${value}`]),
    ...request.command.map((argument) => ['a', argument]),
  ];
  return Buffer.from(
    records.map(([letter, ...strings]) => letter + strings.map((string) => `${string}\0`).join('')).join(''),
  );
}
