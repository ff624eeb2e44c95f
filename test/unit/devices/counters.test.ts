import { describe, expect, it } from 'vitest';
import { changesOf } from '../../../src/devices/counter-change.ts';
import { CounterReader } from '../../../src/devices/counters.ts';
import { parsePortSelector } from '../../../src/devices/port-selector.ts';
import { type CounterGroup, explainCounter } from '../../../src/explain/counters.ts';
import type { CountersResult } from '../../../src/model/counters.ts';
import { recordedMachine } from './recorded.ts';

const change = (name: string, before: bigint, now: bigint, group: CounterGroup = 'counters') => {
  const [only] = changesOf([{ before, now, meaning: explainCounter(group, name) }]);
  return only;
};

describe('two readings of a counter', () => {
  it.each([
    ['port_xmit_packets', 5n, 5n, 0n, null],
    ['port_xmit_packets', 5n, 2n ** 63n, 2n ** 63n - 5n, null],
    // 32 bits, from the highest quarter into the lowest
    ['port_xmit_data', 2n ** 32n - 1n, 0n, 1n, 'wrapped'],
    ['port_xmit_data', 2n ** 32n - 10n, 20n, 30n, 'wrapped'],
    ['port_xmit_data', 2n ** 64n - 1n, 1n, 2n, 'wrapped'],
    // from elsewhere
    ['port_xmit_data', 2n ** 31n, 20n, 20n, 'reset'],
    ['port_xmit_data', 2n ** 32n + 1n, 20n, 20n, 'reset'],
    ['port_xmit_data', 10n, 0n, 0n, 'reset'],
    // what stops at its end never starts again by itself
    ['symbol_error', 65535n, 3n, 3n, 'reset'],
    ['symbol_error', 65534n, 65535n, 1n, null],
    ['symbol_error', 65535n, 65535n, null, null],
    // more bits than the architecture has: it counts on
    ['symbol_error', 65535n, 65540n, 5n, null],
  ] as const)('%s from %i to %i: %s, %s', (name, before, now, delta, event) => {
    expect(change(name, before, now)).toEqual({ delta, event });
  });

  it('a gauge falls without having been reset', () => {
    expect(change('active_qps', 9n, 4n, 'hw_counters')).toEqual({ delta: -5n, event: null });
  });

  it('what was reset with others has not passed its end', () => {
    const of = (name: string, before: bigint, now: bigint) => ({
      before,
      now,
      meaning: explainCounter('counters', name),
    });
    const pairs = [of('port_xmit_data', 2n ** 32n - 1n, 7n), of('port_xmit_packets', 1000n, 2n)];
    expect(changesOf(pairs)).toEqual([
      { delta: 7n, event: 'reset' },
      { delta: 2n, event: 'reset' },
    ]);
  });
});

describe('DEVICE[/PORT]', () => {
  it.each([
    ['mlx5_0', { device: 'mlx5_0', port: null }],
    ['mlx5_0/1', { device: 'mlx5_0', port: 1 }],
    ['mlx5_0/010', { device: 'mlx5_0', port: 10 }],
  ])('%s', (text, selector) => {
    expect(parsePortSelector(text)).toEqual(selector);
  });

  it.each(['', '/', '/1', 'a/', 'a/0', 'a/-1', 'a/1/2', 'a/x', 'a/1.5', 'a/123456'])('%j is none', (text) => {
    expect(parsePortSelector(text)).toBeNull();
  });
});

const PORT = 'class/infiniband/mlx5_0/ports/1';

/** A reader of a machine whose files change between readings. */
function reader(files: Record<string, string>, selectors: readonly string[] = []) {
  const machine = recordedMachine({ files });
  return new CounterReader({
    selectors: selectors.flatMap((text) => parsePortSelector(text) ?? []),
    sysfs: machine.sysfs,
    machine: async () => machine,
  });
}

const counter = (result: CountersResult, name: string) => {
  const found = result.ports.flatMap(({ counters }) => counters).find((one) => one.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
};

describe('a reading', () => {
  it('has words of four bytes as bytes, and what the kernel shows beside them', async () => {
    const result = await reader({ [`${PORT}/counters/port_xmit_data`]: '18446744073709551615' }).read();
    expect(counter(result, 'port_xmit_data')).toMatchObject({
      value: '73786976294838206460',
      unit: 'bytes',
      raw: '18446744073709551615',
      kind: 'traffic',
      unavailable: {},
    });
    expect(result).toMatchObject({ error: null, interval_ms: null });
    expect(counter(result, 'port_xmit_data')).not.toHaveProperty('delta');
  });

  it.each(['N/A (no PMA)', '', 'garbage', '-1', '1 2', '0x10'])('%j is not 0', async (text) => {
    const result = await reader({ [`${PORT}/counters/symbol_error`]: text }).read();
    const { value, raw, unavailable, saturated } = counter(result, 'symbol_error');
    expect({ value, raw, saturated }).toEqual({ value: null, raw: text, saturated: false });
    expect(unavailable['value']).toMatch(/^the kernel shows/);
  });

  it('knows what stands at its highest value', async () => {
    const files = {
      [`${PORT}/counters/symbol_error`]: '65535',
      [`${PORT}/counters/link_downed`]: '255',
      [`${PORT}/counters/port_rcv_errors`]: '255',
    };
    const result = await reader(files).read();
    expect(
      ['symbol_error', 'link_downed', 'port_rcv_errors'].map((name) => counter(result, name).saturated),
    ).toEqual([true, true, false]);
  });

  it('has the lifespan of hw_counters apart from them, and the device beside its ports', async () => {
    const files = {
      'class/infiniband/rdmap0s6/hw_counters/lifespan': '10',
      'class/infiniband/rdmap0s6/hw_counters/cmds_err': '1',
      'class/infiniband/rdmap0s6/ports/1/hw_counters/lifespan': '12',
      'class/infiniband/rdmap0s6/ports/1/hw_counters/rx_drops': '2',
      'class/infiniband/rdmap0s6/ports/2/state': '1: DOWN',
    };
    const { ports } = await reader(files).read();
    expect(
      ports.map(({ port, lifespan_ms, counters }) => [port, lifespan_ms, counters.map((c) => c.name)]),
    ).toEqual([
      [null, 10, ['cmds_err']],
      [1, 12, ['rx_drops']],
      [2, null, []],
    ]);
  });

  it('tells what has changed since the one before, a second', async () => {
    const files = { [`${PORT}/counters/port_xmit_data`]: '100', [`${PORT}/hw_counters/out_of_buffer`]: '7' };
    const watching = reader(files);
    await watching.read(1000);
    files[`${PORT}/counters/port_xmit_data`] = '350';
    files[`${PORT}/hw_counters/out_of_buffer`] = '3';
    const second = await watching.read(3000);
    expect(second.interval_ms).toBe(2000);
    expect(counter(second, 'port_xmit_data')).toMatchObject({
      value: '1400',
      delta: '1000',
      rate: 500,
      event: null,
    });
    expect(counter(second, 'out_of_buffer')).toMatchObject({
      value: '3',
      delta: '3',
      rate: 1.5,
      event: 'reset',
    });
  });

  it('says why there is no delta', async () => {
    const files: Record<string, string> = { [`${PORT}/counters/symbol_error`]: '65535' };
    const watching = reader(files);
    await watching.read(0);
    files[`${PORT}/counters/link_downed`] = '1';
    const second = await watching.read(1000);
    expect(counter(second, 'symbol_error')).toMatchObject({ delta: null, rate: null });
    expect(counter(second, 'symbol_error').unavailable['delta']).toContain('65535');
    expect(counter(second, 'link_downed').unavailable['delta']).toContain('not two readings');
  });

  it('has what is selected, in that order', async () => {
    const files = Object.fromEntries(
      ['a0/ports/1', 'a0/ports/2', 'b0/ports/1'].map((port) => [
        `class/infiniband/${port}/counters/symbol_error`,
        '0',
      ]),
    );
    const { ports, error } = await reader(files, ['b0', 'a0/2']).read();
    expect(ports.map(({ device, port }) => `${device}/${port}`)).toEqual(['b0/1', 'a0/2']);
    expect(error).toBeNull();
  });

  it.each([
    [['a0/3'], 'NO_SUCH_PORT', [3]],
    [['nope'], 'UNKNOWN_DEVICE', [null]],
    [['a0', 'nope'], 'SOME_DEVICES_FAILED', [1, 2, null]],
    [['a0/1', 'a0/9'], 'SOME_DEVICES_FAILED', [1, 9]],
  ])('of %j: %s', async (selectors, code, numbers) => {
    const files = Object.fromEntries(
      ['1', '2'].map((port) => [`class/infiniband/a0/ports/${port}/counters/symbol_error`, '0']),
    );
    const { error, ports } = await reader(files, selectors).read();
    expect(error?.code).toBe(code);
    expect(ports.map(({ port }) => port)).toEqual(numbers);
  });

  it('of a machine without a device says what is missing', async () => {
    const { error, ports } = await reader({ 'class/net/lo/mtu': '65536' }).read();
    expect(error).toMatchObject({ code: 'NO_DEVICE', hint: expect.stringContaining('module') });
    expect(ports).toEqual([]);
  });
});
