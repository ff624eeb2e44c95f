/** A guest of lab roce for the tests of the `cm` commands. */
import { afterAll, beforeAll, expect } from 'vitest';
import { type Outcome, Place } from '../roce/tools.ts';
import { product } from '../support/json.ts';

export { LEFT, RIGHT } from './addresses.ts';

/** Starts a guest before the tests of a file, and ends it after them. */
export function useGuest(): Place {
  const place = new Place();
  beforeAll(async () => {
    expect(await place.rdmatool(['lab', 'up', 'roce'])).toMatchObject({ status: 0 });
    // The first start of a program in a guest reads it in over a slow file system.
    await place.inLab(['rdmatool', 'cm', 'create-id']);
  });
  afterAll(async () => {
    await place.rdmatool(['lab', 'down', 'roce']);
    place.remove();
  });
  return place;
}

/**
 * Words for a script of bash in the lab. `serve COMMAND...` starts it beside the script, its output in the file `$said`
 * that is this script's own; it ends with the script, and after two minutes at the latest. `until_said WORD` waits for
 * a word of it, and ends the script where that will never come. `served` waits for its end.
 */
export const SERVING = `said=$(mktemp)
  serve() {
    "$@" <&0 >$said & server=$!
    { sleep 120; kill -KILL $server; } >/dev/null 2>&1 & guard=$!
  }
  until_said() {
    until grep -q "$1" $said; do
      kill -0 $server || { echo "the server has ended without a word of $1: $(cat $said)" >&2; exit 99; }
      sleep 0.1
    done
  }
  served() { wait $server; }
  trap 'kill -KILL $server $guard 2>/dev/null; rm -f $said' EXIT
`;

/** Who speaks to the kernel, with the words that choose it. */
export const BACKENDS = [
  { backend: 'librdmacm', words: [] },
  { backend: 'kernel', words: ['--backend', 'kernel'] },
] as const satisfies readonly { backend: 'librdmacm' | 'kernel'; words: readonly string[] }[];

/** The lab tier goes through librdmacm; the long tier runs the same files once more, through the kernel backend. */
const TIER_BACKEND = process.env.RDMATOOL_TEST_BACKEND === 'kernel' ? 'kernel' : 'librdmacm';
export const TESTED_BACKENDS = BACKENDS.filter(({ backend }) => backend === TIER_BACKEND);

/** Runs `rdmatool cm ... --json`, and gives the document, which fits its schema. */
export async function cmJson(place: Place, args: readonly string[]) {
  const outcome = await place.inLab(['rdmatool', 'cm', ...args, '--json']);
  return { outcome, document: parse(`cm-${args[0]}`, outcome.stdout) };
}

/** What the tests look at in any document of a `cm` command. */
export interface CmDocument {
  readonly schema: string;
  readonly error: { readonly code: string; readonly message: string; readonly hint: string } | null;
  readonly device: string | null;
  readonly ib_port: number | null;
  readonly local: { readonly addr: string; readonly port: number } | null;
  readonly peer: { readonly addr: string; readonly port: number } | null;
  readonly steps: readonly {
    readonly step: string;
    readonly duration_ms: number;
    readonly event: { readonly value: number; readonly name: string } | null;
    readonly status: number;
    readonly status_name: string | null;
  }[];
  readonly [key: string]: unknown;
}

/** Parses a document of that name, which fits its schema. */
export function parse<D = CmDocument>(schema: string, text: string): D {
  const document = product<D>(text);
  expect(document).toHaveProperty('schema', expect.stringMatching(`^rdmatool/${schema}/`));
  return document;
}

/** What the kernel has of RDMA objects, apart from what a device has for itself. */
export async function resources(place: Place): Promise<string> {
  const { stdout } = await place.inLab(['rdma', 'resource']);
  return stdout.replace(/^\d+: /gm, '');
}

/** The last line of the messages that is rdmatool's own. */
export const said = ({ stderr }: Outcome): string =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('rdmatool: '))
    .join('\n');
