/** The result of `doctor`: the root cause where the eye lands, then what else is wrong, then what was looked at. */
import type { CheckStatus, DoctorCheck, DoctorResult } from '../model/doctor.ts';
import type { Block, Cell } from '../output/blocks.ts';
import type { Tone } from '../output/style.ts';

export interface DoctorViewOptions {
  /** The checks that are good, and those that were skipped, too. */
  readonly verbose: boolean;
}

const TONES: Readonly<Record<CheckStatus, Tone>> = {
  ok: 'good',
  warning: 'doubt',
  failure: 'bad',
  skipped: 'quiet',
};
const WORDS: Readonly<Record<CheckStatus, string>> = {
  ok: 'ok',
  warning: 'warning',
  failure: 'FAILURE',
  skipped: 'skipped',
};

export function doctorView(result: DoctorResult, { verbose }: DoctorViewOptions): Block[] {
  const groups = verbose ? result.checks.map((check) => [check]) : grouped(result.checks);
  const isRoot = ([first]: readonly DoctorCheck[]): boolean =>
    first?.status === 'failure' &&
    first.id === result.root_cause?.id &&
    first.subject === result.root_cause.subject;
  const root = groups.find(isRoot);
  const shown = groups.filter((group) => group !== root && (verbose || isWorthIt(group, result)));
  return [
    ...summary(result, root),
    ...(shown.length === 0 ? [] : [{ type: 'gap' } as const, table(shown)]),
    { type: 'gap' },
    { type: 'text', text: countsText(result, verbose), tone: 'quiet' },
  ];
}

/** Where nothing fails, these say what to use. */
const TELLING: ReadonlySet<DoctorCheck['id']> = new Set([
  'device',
  'gid',
  'efa-capabilities',
  'route-device',
  'connect',
]);

/** What needs no --verbose: what is wrong; else what to use, and a word of what cannot be seen from here. */
function isWorthIt([first]: readonly DoctorCheck[], { counts }: DoctorResult): boolean {
  if (first === undefined) return false;
  if (first.status === 'failure' || first.status === 'warning') return true;
  if (counts.failure > 0) return false;
  return first.status === 'ok' ? TELLING.has(first.id) : first.repair !== null;
}

const GOOD_FOR: Readonly<Record<NonNullable<DoctorResult['for']>, string>> = {
  query: 'querying devices',
  cm: 'connections (cm)',
  mad: 'management datagrams (mad)',
  efa: 'EFA',
};

function summary(result: DoctorResult, root: readonly DoctorCheck[] | undefined): Block[] {
  const [cause] = root ?? [];
  if (root !== undefined && cause !== undefined) {
    const others = result.counts.failure - root.length;
    return [
      { type: 'text', text: `Root cause: ${factText(root)}`, tone: 'bad' },
      ...lines(cause, 2),
      ...(others > 0
        ? [
            {
              type: 'text',
              text: `This is the lowest of ${result.counts.failure} failures: repair it first, for others may follow from it.`,
              tone: 'quiet',
            } as const,
          ]
        : []),
    ];
  }
  const purpose = result.for === null ? 'RDMA' : GOOD_FOR[result.for];
  const goal = result.address === null ? purpose : `connecting to ${result.address}`;
  const { warning } = result.counts;
  return [
    warning === 0
      ? { type: 'text', text: `Nothing here stands in the way of ${goal}.`, tone: 'good' }
      : {
          type: 'text',
          text: `Nothing here stands in the way of ${goal}, with ${warning === 1 ? 'one warning' : `${warning} warnings`}.`,
          tone: 'doubt',
        },
  ];
}

/** Meaning and next step under a fact. */
function lines({ meaning, repair }: DoctorCheck, indent: number): Block[] {
  return [
    ...(meaning === null ? [] : [{ type: 'text', text: meaning, indent } as const]),
    ...(repair === null ? [] : [{ type: 'text', text: `next: ${repair}`, indent, tone: 'title' } as const]),
  ];
}

function table(groups: ReadonlyArray<readonly DoctorCheck[]>): Block {
  const rows = groups.flatMap((group): Cell[][] => {
    const [first] = group;
    if (first === undefined) return [];
    const { status, id, meaning, repair } = first;
    return [
      [{ text: WORDS[status], tone: TONES[status] }, id, factText(group)],
      ...(meaning === null ? [] : [['', '', { text: meaning, tone: 'quiet' } as const]]),
      ...(repair === null ? [] : [['', '', { text: `next: ${repair}`, tone: 'title' } as const]]),
    ];
  });
  return { type: 'table', columns: ['STATUS', 'CHECK', { title: 'FACT', folds: true }], rows };
}

const SHOWN_OF_GROUP = 4;

/** The fact of the first, and whose else it is. */
function factText(group: readonly DoctorCheck[]): string {
  const [first, ...others] = group;
  if (first === undefined) return '';
  if (others.length === 0) return first.fact;
  const names = others.slice(0, SHOWN_OF_GROUP).map(({ subject }) => subject ?? '?');
  const more = others.length > SHOWN_OF_GROUP ? ` … (${others.length} more, -v shows each)` : '';
  return `${first.fact}; the same of ${names.join(', ')}${more}`;
}

/** Findings of one check that differ in whose they are alone belong together: one card in 32 does not differ. */
function grouped(checks: readonly DoctorCheck[]): DoctorCheck[][] {
  const groups = new Map<string, DoctorCheck[]>();
  for (const check of checks) {
    const { id, status, fact, meaning, repair } = check;
    const key = [id, status, ...[fact, meaning, repair].map((text) => kindOf(check, text))].join('\n');
    const known = groups.get(key);
    if (known) known.push(check);
    else groups.set(key, [check]);
  }
  return [...groups.values()];
}

/** A text without the names of the device in it, and of its node; other names and numbers tell something. */
function kindOf({ subject }: DoctorCheck, text: string | null): string {
  const named = (text ?? '').replace(/\b(uverbs|umad)\d+\b/g, '$1');
  const names = subject === null ? [] : [subject, ...subject.split('/').slice(0, 1)];
  return names.reduce((left, name) => left.replaceAll(name, '#'), named);
}

function countsText({ counts }: DoctorResult, verbose: boolean): string {
  const parts = (['failure', 'warning', 'ok', 'skipped'] as const)
    .filter((status) => counts[status] > 0)
    .map((status) => {
      const count = counts[status];
      const word =
        status === 'failure' || status === 'warning' ? `${status}${count === 1 ? '' : 's'}` : status;
      return `${count} ${word}`;
    });
  return `${parts.join(', ')}${verbose || counts.ok + counts.skipped === 0 ? '' : ' (-v shows all)'}`;
}
