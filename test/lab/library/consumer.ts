/** Programs that import the package by its name, as somebody else's would: from dist/library. */

/** What every such program begins with: `outcome` is what a call gave, or how it failed. */
const HEAD = `
import * as rdmatool from 'rdmatool';
const said = {};
const outcome = async (call) => {
  try {
    return { gave: await call() };
  } catch (thrown) {
    if (!(thrown instanceof rdmatool.Failure)) return { threw: String(thrown) };
    return { code: thrown.code, errno: thrown.errno?.name ?? null, result: thrown.result ?? null };
  }
};
const abortedAfter = (ms) => {
  const abort = new AbortController();
  setTimeout(() => abort.abort(), ms);
  return abort.signal;
};
`;

/** The command that runs it; it prints `said`. It must end by itself: nothing that is left keeps it. */
export const consumer = (body: string): string[] => [
  'node',
  '--input-type=module',
  '--eval',
  `${HEAD}${body}\nconsole.log(JSON.stringify(said));`,
];

/** What one call gave. */
export interface CallOutcome {
  readonly gave?: unknown;
  readonly threw?: string;
  readonly code?: string;
  readonly errno?: string | null;
  readonly result?: object | null;
}
