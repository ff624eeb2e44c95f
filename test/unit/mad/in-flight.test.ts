import { describe, expect, it } from 'vitest';
import { InFlight } from '../../../src/mad/in-flight.ts';

describe('what is in flight', () => {
  it('is found by its number, the highest too, and gone once it is taken out', () => {
    const inFlight = new InFlight<string>(2);
    inFlight.set(0xffffffff, 'high');
    inFlight.set(1, 'low');
    expect([inFlight.get(0xffffffff), inFlight.get(1), inFlight.size]).toEqual(['high', 'low', 2]);
    inFlight.delete(0xffffffff);
    inFlight.delete(0xffffffff);
    expect([inFlight.has(0xffffffff), inFlight.has(1), inFlight.size]).toEqual([false, true, 1]);
  });

  it('has room for more than are usual, and for those that want the same place', () => {
    const inFlight = new InFlight<number>(1);
    const tids = Array.from({ length: 50 }, (_, index) => 0x80000000 + index * 64);
    for (const tid of tids) inFlight.set(tid, tid);
    expect(inFlight.size).toBe(50);
    expect(tids.map((tid) => inFlight.get(tid))).toEqual(tids);
    expect(inFlight.get(7)).toBeUndefined();
    expect(
      inFlight
        .entries()
        .map(([tid]) => tid)
        .sort(),
    ).toEqual(tids);
    for (const tid of tids) inFlight.delete(tid);
    expect([inFlight.size, inFlight.entries()]).toEqual([0, []]);
  });

  it('does as a Map does, whatever comes', () => {
    const inFlight = new InFlight<number>(4);
    const map = new Map<number, number>();
    let seed = 1;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % below;
    };
    for (let step = 0; step < 20_000; step++) {
      const tid = random(40) * 0x06000001;
      expect(inFlight.get(tid)).toBe(map.get(tid));
      if (map.has(tid)) {
        inFlight.delete(tid);
        map.delete(tid);
      } else if (random(2) === 0) {
        inFlight.set(tid, step);
        map.set(tid, step);
      }
      expect(inFlight.size).toBe(map.size);
    }
    expect(new Map(inFlight.entries())).toEqual(map);
    inFlight.clear();
    expect([inFlight.size, inFlight.entries()]).toEqual([0, []]);
  });
});
