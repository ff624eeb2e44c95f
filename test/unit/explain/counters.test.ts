import { describe, expect, it } from 'vitest';
import { portCounters } from '../../../src/datagram/attributes/performance.ts';
import { explainCounter } from '../../../src/explain/counters.ts';
import { aboutSize, bitRateText } from '../../../src/explain/quantities.ts';

describe('what a counter counts', () => {
  // IBTA PortCounters, under the kernel's names and the datagram's.
  it.each([
    ['symbol_error', 'symbol_error_counter'],
    ['link_error_recovery', 'link_error_recovery_counter'],
    ['link_downed', 'link_downed_counter'],
    ['port_rcv_errors', 'port_rcv_errors'],
    ['port_rcv_remote_physical_errors', 'port_rcv_remote_physical_errors'],
    ['port_rcv_switch_relay_errors', 'port_rcv_switch_relay_errors'],
    ['port_xmit_discards', 'port_xmit_discards'],
    ['port_xmit_constraint_errors', 'port_xmit_constraint_errors'],
    ['port_rcv_constraint_errors', 'port_rcv_constraint_errors'],
    ['local_link_integrity_errors', 'local_link_integrity_errors'],
    ['excessive_buffer_overrun_errors', 'excessive_buffer_overrun_errors'],
    ['VL15_dropped', 'vl15_dropped'],
  ] as const)('%s stops at the highest value of its field in a datagram', (name, field) => {
    const { stopsAtBits, kind } = explainCounter('counters', name);
    const bytes = new Uint8Array(portCounters.size);
    const highest = 2 ** (stopsAtBits ?? 0) - 1;
    // The codec refuses what the field has no bits for.
    const put = (value: number) => portCounters.encode({ ...portCounters.decode(bytes), [field]: value });
    expect(portCounters.decode(put(highest))[field]).toBe(highest);
    expect(() => put(highest + 1)).toThrow();
    expect(kind).toBe('error');
  });

  it("a driver's counter of the same name does not stop", () => {
    expect(explainCounter('hw_counters', 'link_downed').stopsAtBits).toBeUndefined();
  });

  it.each([
    ['hw_counters', 'frames_dropped_here', 'error', 'unknown'],
    ['hw_counters', 'vendor_rx_bytes', 'traffic', 'bytes'],
    ['hw_counters', 'vendor_ecn_pkts', 'congestion', 'packets'],
    ['hw_counters', 'constructor', 'unknown', 'unknown'],
    ['cm_tx_msgs', 'xyz', 'traffic', 'messages'],
  ] as const)('%s/%s is not known and still has a kind', (group, name, kind, unit) => {
    expect(explainCounter(group, name)).toEqual({ kind, unit, meaning: null });
  });

  it('of a virtual port is what it is of a port', () => {
    expect(explainCounter('hw_counters', 'vport_out_of_buffer')).toEqual(
      explainCounter('hw_counters', 'out_of_buffer'),
    );
  });
});

describe('amounts for people', () => {
  it.each([
    [0n, '0 bytes'],
    [1n, '1 byte'],
    [1023n, '1023 bytes'],
    [1024n, '1 KiB'],
    [1536n, '1.5 KiB'],
    [2n ** 64n - 1n, '16 EiB'],
  ])('%i bytes are about %s', (bytes, text) => {
    expect(aboutSize(bytes)).toBe(text);
  });

  it.each([
    [0, '0 b/s'],
    [125, '1 kb/s'],
    [12.5e9, '100 Gb/s'],
    [-125, '-1 kb/s'],
  ])('%d bytes a second are %s', (rate, text) => {
    expect(bitRateText(rate)).toBe(text);
  });
});
