/** Whether our documents fit their schemas, and say what the peers say. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Json } from '../../../src/layout/codec.ts';
import { SCHEMAS } from '../../../src/model/schemas.ts';
import { asPeer, numeric, peerValues } from './peers.ts';

export type Fields = { readonly [name: string]: Json };

const ajv = new Ajv2020({ strict: false, allowUnionTypes: true });
const checks = new Map(Object.entries(SCHEMAS).map(([name, schema]) => [name, ajv.compile(schema)]));
export function expectValid(document: Record<string, unknown>): void {
  const name = /^rdmatool\/(.+)\/\d+$/.exec(String(document['schema']))?.[1] ?? '';
  const check = checks.get(name.replace(/-ports$/, ''));
  expect(check?.(document), `${name}: ${JSON.stringify(check?.errors?.slice(0, 3))}`).toBe(true);
}

/** Ours and theirs, field by field in order; what they do not display is left out. */
export function expectSame(fields: Fields, output: string): void {
  const theirs = peerValues(output);
  const ours = Object.entries(fields);
  expect(theirs.length).toBe(ours.length);
  const pairs = ours
    .map(([name, value], index) => [
      `${name}: ${asPeer(name, value)}`,
      `${name}: ${numeric(theirs[index] ?? '')}`,
    ])
    .filter(([, peer]) => !peer?.includes('<not displayed>'));
  expect(pairs.map(([own]) => own)).toEqual(pairs.map(([, peer]) => peer));
}

/** Ours and perfquery's, but for what counts packets: each request is counted itself. */
export function expectSameStill(fields: Fields, output: string): void {
  const theirs = peerValues(output);
  const pairs = Object.entries(fields).flatMap(([name, value], index) =>
    /_(data|pkts)$/.test(name)
      ? []
      : [[`${name}: ${asPeer(name, value)}`, `${name}: ${numeric(theirs[index] ?? '')}`]],
  );
  expect(pairs.length).toBeGreaterThan(10);
  expect(pairs.map(([own]) => own)).toEqual(pairs.map(([, peer]) => peer));
}

/** A NodeRecord of ours and saquery's. */
export function expectSameNode({ node_description, ...record }: Fields, output: string): void {
  const peer = peerValues(output).map(numeric);
  expect(peer.pop()).toBe(node_description);
  // saquery shows a reserved member.
  peer.splice(1, 1);
  expect(Object.entries(record).map(([name, value]) => asPeer(name, value))).toEqual(peer);
}

/** A PathRecord of ours and saquery's. */
export function expectSamePath(record: Fields, output: string): void {
  const theirs = peerValues(output);
  const addresses = [record['dgid'], record['sgid'], record['dlid'], record['slid']];
  expect(addresses.map(String)).toEqual(theirs.slice(1, 5));
  const value = (name: string): number => (record[name] as { value: number }).value;
  expect((value('mtu_selector') << 6) | value('mtu')).toBe(Number(theirs[11]));
  expect((value('rate_selector') << 6) | value('rate')).toBe(Number(theirs[12]));
  expect(Number(record['p_key'])).toBe(Number(theirs[8]));
}
