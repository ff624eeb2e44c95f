import { describe, expect, it } from 'vitest';
import { possibleWindow } from '../../../src/mad/simulator.ts';

describe('the window', () => {
  const kernel = () => ['/usr/lib/x86_64-linux-gnu/libibumad.so.3.2.44.0', '/usr/bin/node'];
  const simulator = () => [...kernel(), '/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so'];

  it('is what was asked for, of a kernel', () => {
    expect([1, 128, 129, 65_535].map((wanted) => possibleWindow(wanted, kernel))).toEqual([
      1, 128, 129, 65_535,
    ]);
  });

  it('has an upper end in the simulator', () => {
    expect([1, 128, 129, 65_535].map((wanted) => possibleWindow(wanted, simulator))).toEqual([
      1, 128, 128, 128,
    ]);
  });
});
