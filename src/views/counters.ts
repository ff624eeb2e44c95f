import { aboutSize, bitRateText } from '../explain/quantities.ts';
import type { Counter, CountersResult, PortCounters } from '../model/counters.ts';
import type { Block, Cell, Column } from '../output/blocks.ts';
import type { Tone } from '../output/style.ts';

export interface CountersViewOptions {
  /** Counters that are 0 too. */
  readonly verbose: boolean;
  /** One line a counter, for a table that is drawn again and again. */
  readonly brief: boolean;
}

const COLUMNS: readonly Column[] = ['PORT', 'COUNTER', 'VALUE'];
const CHANGES: readonly Column[] = [{ title: 'CHANGE', rank: 2 }, 'RATE'];
const MEANING: Column = { title: 'MEANING', rank: 3, folds: true };
const BRIEF_MEANING: Column = { title: 'MEANING', rank: 1 };

/** A line a counter; errors and congestion are named before their meaning. */
export function countersView(result: CountersResult, { verbose, brief }: CountersViewOptions): Block[] {
  const isSecond = result.interval_ms !== null;
  const rows: Cell[][] = [];
  let zeros = 0;
  for (const port of result.ports) {
    for (const counter of port.counters) {
      if (!verbose && isNothing(counter)) zeros++;
      else rows.push(row(port, counter, isSecond));
    }
  }
  const blocks: Block[] = [];
  if (isSecond) {
    const text = `${result.time}, ${result.interval_ms} ms after the reading before`;
    blocks.push({ type: 'text', text, tone: 'quiet' });
  }
  if (rows.length > 0) {
    blocks.push({
      type: 'table',
      columns: [...COLUMNS, ...(isSecond ? CHANGES : []), brief ? BRIEF_MEANING : MEANING],
      rows,
    });
  }
  return [...blocks, ...remarks(result, zeros).map((text): Block => ({ type: 'text', text, tone: 'quiet' }))];
}

/** 0, and no more to tell of it. */
const isNothing = ({ value, delta, event }: Counter): boolean =>
  value === '0' && (delta === undefined || delta === '0') && (event ?? null) === null;

const nameOf = ({ device, port }: Pick<PortCounters, 'device' | 'port'>): string =>
  port === null ? device : `${device}/${port}`;

/** Connection management messages have short names, which say something only with their group's. */
const counterName = ({ group, name }: Counter): string =>
  group.startsWith('cm_') ? `${group}/${name}` : name;

function row(port: PortCounters, counter: Counter, isSecond: boolean): Cell[] {
  // In a second reading what has not changed is not news.
  const amount = isSecond ? (counter.delta ?? '0') : (counter.value ?? '0');
  const tone = toneOf(counter, amount !== '0');
  return [
    { text: nameOf(port), tone: 'title' },
    counterName(counter),
    { text: valueText(counter), tone },
    ...(isSecond
      ? [
          { text: deltaText(counter), tone },
          { text: rateText(counter), tone },
        ]
      : []),
    { text: meaningText(counter), tone },
  ];
}

function toneOf({ kind, value, saturated }: Counter, isNews: boolean): Tone {
  if (value === null) return 'quiet';
  if (saturated) return 'bad';
  if (!isNews) return 'plain';
  return kind === 'error' ? 'bad' : kind === 'congestion' ? 'doubt' : 'plain';
}

function valueText({ value, unit, raw, saturated }: Counter): string {
  if (value === null) return raw !== null && /^\s*N\/A/.test(raw) ? 'N/A' : 'unreadable';
  const size = unit === 'bytes' && BigInt(value) >= 1024n ? ` (${aboutSize(BigInt(value))})` : '';
  return `${value}${size}${saturated ? ' (full)' : ''}`;
}

function deltaText({ value, delta, event }: Counter): string {
  if (value === null) return '';
  if (delta === undefined || delta === null) return '?';
  const sign = delta.startsWith('-') ? '' : '+';
  return `${sign}${delta}${event === null || event === undefined ? '' : ` ${event}`}`;
}

function rateText({ rate, unit }: Counter): string {
  if (rate === undefined || rate === null) return '';
  return unit === 'bytes' ? bitRateText(rate) : `${Number(rate.toPrecision(4))}/s`;
}

function meaningText({ kind, meaning, value, unavailable, saturated }: Counter): string {
  const what = meaning ?? 'not known here';
  const told = kind === 'error' || kind === 'congestion' ? `${kind}: ${what}` : what;
  if (value === null) return `${told}; ${unavailable['value'] ?? ''}`;
  return saturated ? `${told}; counts no more until it is reset` : told;
}

function remarks(result: CountersResult, zeros: number): string[] {
  const without = result.ports.filter(({ error, counters }) => error === null && counters.length === 0);
  const lifespan = Math.max(0, ...result.ports.map(({ lifespan_ms }) => lifespan_ms ?? 0));
  return [
    ...(zeros > 0 ? [`${zeros} counter${zeros === 1 ? ' is' : 's are'} 0: -v shows them`] : []),
    ...(without.length > 0 ? [`the driver shows no counters for ${without.map(nameOf).join(', ')}`] : []),
    ...(result.interval_ms !== null && result.interval_ms < lifespan
      ? [`the kernel reads hw_counters from the card only every ${lifespan} ms`]
      : []),
  ];
}
