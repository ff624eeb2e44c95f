/** The counters of devices and ports that the kernel shows in sysfs. No library and no device node is needed. */

import {
  COUNTER_GROUPS,
  type CounterGroup,
  type CounterMeaning,
  explainCounter,
} from '../explain/counters.ts';
import { errnoText } from '../explain/errno.ts';
import type { Failure } from '../explain/failure.ts';
import type { Counter, CountersResult, PortCounters } from '../model/counters.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Machine } from '../system/machine.ts';
import { openSysfs, type Sysfs, type SysfsAnswer } from '../system/sysfs.ts';
import { CALL_DEADLINE_MS } from '../waiting/deadline.ts';
import { Patience } from '../waiting/patience.ts';
import { sideBySide } from '../waiting/side-by-side.ts';
import { type CounterChange, changesOf, highestOf } from './counter-change.ts';
import { overallFailure } from './overall-failure.ts';
import { isSelected, type PortSelector } from './port-selector.ts';

/** Not a counter: for how many milliseconds the kernel keeps the others of its directory. */
const LIFESPAN = 'lifespan';

interface RawCounter {
  readonly group: CounterGroup;
  readonly name: string;
  readonly answer: SysfsAnswer;
}

/** What one port, or the device as a whole, showed. */
interface Shown {
  readonly device: string;
  readonly port: number | null;
  readonly failure: Failure | null;
  readonly lifespanMs: number | null;
  readonly counters: readonly RawCounter[];
}

export interface CounterReaderOptions {
  /** What to read; everything where it is empty. */
  readonly selectors?: readonly PortSelector[];
  readonly sysfs?: Sysfs;
  /** The machine that explains why there is no device. */
  readonly machine?: () => Promise<Machine>;
}

/** Reads counters, once or again and again, and tells what has changed in between. */
export class CounterReader {
  readonly #selectors: readonly PortSelector[];
  readonly #sysfs: Sysfs;
  readonly #machine: () => Promise<Machine>;
  #before: { readonly at: number; readonly shown: readonly Shown[] } | null = null;

  constructor({ selectors = [], sysfs = openSysfs(), machine = loadThisMachine }: CounterReaderOptions = {}) {
    this.#selectors = selectors;
    this.#sysfs = sysfs;
    this.#machine = machine;
  }

  /**
   * A reading. Never throws for what a device lacks: its entry says so, and `error` is null exactly when all that was
   * asked for was read.
   * @param now milliseconds of a clock that only goes forward
   */
  async read(now: number = performance.now()): Promise<CountersResult> {
    const time = new Date().toISOString();
    const known = this.#sysfs.list('class/infiniband') ?? [];
    const asked =
      this.#selectors.length === 0 ? known : [...new Set(this.#selectors.map(({ device }) => device))];
    const devices = await sideBySide<string, Shown[] | null>(
      asked,
      (device) => this.#device(device, known),
      () => null,
    );
    const shown: Shown[] = [];
    for (const [index, device] of asked.entries()) shown.push(...(devices[index] ?? [await notRead(device)]));
    const before = this.#before;
    this.#before = { at: now, shown };
    const interval = before === null ? null : now - before.at;
    const ports = shown.map((one) => {
      const earlier = before?.shown.find(({ device, port }) => device === one.device && port === one.port);
      return portCounters(one, interval === null ? null : { interval, shown: earlier ?? null });
    });
    const failure = shown.length === 0 ? await this.#noDevice() : null;
    return {
      schema: SCHEMA_IDS.counters,
      error: failure?.toJSON() ?? overallFailure(ports.map(named), 'ports'),
      time,
      interval_ms: interval === null ? null : Math.round(interval * 10) / 10,
      ports,
    };
  }

  async #noDevice(): Promise<Failure> {
    const { noDevice } = await import('./failures.ts');
    return noDevice(await this.#machine());
  }

  /** The device as a whole, where it has counters, and its ports. */
  async #device(device: string, known: readonly string[]): Promise<Shown[]> {
    if (!known.includes(device)) {
      const { unknownDevice } = await import('./failures.ts');
      return [failed(device, null, unknownDevice(await this.#machine(), device, known, null))];
    }
    const root = `class/infiniband/${device}`;
    const numbers = (this.#sysfs.list(`${root}/ports`) ?? [])
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number);
    const patience = new Patience(device);
    const shown: Shown[] = [];
    for (const port of [null, ...numbers]) {
      if (!isSelected(this.#selectors, device, port)) continue;
      const place = port === null ? root : `${root}/ports/${port}`;
      const one = await this.#place(device, port, place, patience);
      if (port !== null || one.counters.length > 0) shown.push(one);
    }
    const wanted = this.#selectors.flatMap((one) => (one.device === device ? [one.port] : []));
    for (const port of new Set(wanted)) {
      if (port === null || numbers.includes(port)) continue;
      const { noSuchPort } = await import('./failures.ts');
      shown.push(failed(device, port, noSuchPort(device, port, numbers.length)));
    }
    return shown;
  }

  async #place(device: string, port: number | null, place: string, patience: Patience): Promise<Shown> {
    const counters: RawCounter[] = [];
    let lifespanMs: number | null = null;
    let failure: Failure | null = null;
    const read = (path: string): Promise<SysfsAnswer> =>
      patience.call(CALL_DEADLINE_MS, `reading ${path.split('/').slice(-2).join('/')}`, () =>
        this.#sysfs.readLater(path),
      );
    try {
      for (const group of COUNTER_GROUPS) {
        for (const name of this.#sysfs.list(`${place}/${group}`) ?? []) {
          const answer = await read(`${place}/${group}/${name}`);
          if (name !== LIFESPAN) counters.push({ group, name, answer });
          else if ('text' in answer && /^[0-9]+$/.test(answer.text)) lifespanMs = Number(answer.text);
        }
      }
    } catch (error) {
      const { queryFailed } = await import('./failures.ts');
      failure = queryFailed(await this.#machine(), device, error);
    }
    return { device, port, failure, lifespanMs, counters };
  }
}

async function loadThisMachine(): Promise<Machine> {
  const { thisMachine } = await import('../system/this-machine.ts');
  return thisMachine();
}

/** No thread is left to read it with. */
async function notRead(device: string): Promise<Shown> {
  const { notAsked } = await import('./failures.ts');
  return failed(device, null, notAsked(device));
}

const failed = (device: string, port: number | null, failure: Failure): Shown => ({
  device,
  port,
  failure,
  lifespanMs: null,
  counters: [],
});

const named = ({ device, port, error }: PortCounters) => ({
  name: port === null ? device : `${device}/${port}`,
  error,
});

const keyOf = ({ group, name }: RawCounter): string => `${group}/${name}`;

function portCounters(
  shown: Shown,
  since: { readonly interval: number; readonly shown: Shown | null } | null,
): PortCounters {
  const earlier = new Map(since?.shown?.counters.map((one) => [keyOf(one), countOf(one.answer)]));
  const changes = new Map<string, CounterChange>();
  for (const group of COUNTER_GROUPS) {
    const pairs = shown.counters.flatMap((one) => {
      const [before, now] = [earlier.get(keyOf(one)) ?? null, countOf(one.answer)];
      if (one.group !== group || before === null || now === null) return [];
      return [{ key: keyOf(one), before, now, meaning: explainCounter(group, one.name) }];
    });
    changesOf(pairs).forEach((change, index) => {
      changes.set(pairs[index]?.key ?? '', change);
    });
  }
  return {
    device: shown.device,
    port: shown.port,
    error: shown.failure?.toJSON() ?? null,
    lifespan_ms: shown.lifespanMs,
    counters: shown.counters.map((one) =>
      counterJson(
        one,
        since === null ? null : { ms: since.interval, change: changes.get(keyOf(one)) ?? null },
      ),
    ),
  };
}

/** The number that the kernel shows; null where it shows none, as `N/A (no PMA)`. */
function countOf(answer: SysfsAnswer): bigint | null {
  return 'text' in answer && /^\s*[0-9]+\s*$/.test(answer.text) ? BigInt(answer.text.trim()) : null;
}

function counterJson(
  { group, name, answer }: RawCounter,
  since: { readonly ms: number; readonly change: CounterChange | null } | null,
): Counter {
  const meaning = explainCounter(group, name);
  const count = countOf(answer);
  const scaled = (raw: bigint): bigint => raw * BigInt(meaning.bytesPerUnit ?? 1);
  const unavailable: Record<string, string> = {};
  if (count === null) unavailable['value'] = reasonOf(answer);
  if (!('text' in answer)) unavailable['raw'] = errnoText(answer.errno);
  if (meaning.meaning === null) unavailable['meaning'] = `rdmatool does not know what ${name} counts`;
  return {
    group,
    name,
    value: count === null ? null : String(scaled(count)),
    unit: meaning.unit,
    raw: 'text' in answer ? answer.text : null,
    kind: meaning.kind,
    meaning: meaning.meaning,
    saturated: count !== null && count === highestOf(meaning),
    ...(since === null ? {} : changeJson(since, meaning, scaled, unavailable)),
    unavailable,
  };
}

function reasonOf(answer: SysfsAnswer): string {
  if ('errno' in answer) return errnoText(answer.errno);
  return answer.text.trim() === '' ? 'the kernel shows nothing' : `the kernel shows: ${answer.text.trim()}`;
}

function changeJson(
  { ms, change }: { readonly ms: number; readonly change: CounterChange | null },
  meaning: CounterMeaning,
  scaled: (raw: bigint) => bigint,
  unavailable: Record<string, string>,
): Pick<Counter, 'delta' | 'rate' | 'event'> {
  const delta = change?.delta ?? null;
  if (delta === null) {
    const reason =
      change === null
        ? 'there are not two readings of it'
        : `it stands at its highest value, ${highestOf(meaning)}: nobody knows how far it would have counted`;
    unavailable['delta'] = reason;
    unavailable['rate'] = reason;
  }
  const amount = delta === null ? null : scaled(delta);
  const rate = amount === null || ms <= 0 ? null : Math.round((Number(amount) / ms) * 1e6) / 1e3;
  if (amount !== null && rate === null) unavailable['rate'] = 'no time has passed';
  return { delta: amount === null ? null : String(amount), rate, event: change?.event ?? null };
}
