import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { abandonedOperations, DeadlineError, within } from '../../../src/waiting/deadline.ts';
import { Patience } from '../../../src/waiting/patience.ts';
import { poolThreads, reserveThreads, sideBySide } from '../../../src/waiting/side-by-side.ts';

/** Work that ends when it is told to. */
function hanging(): { work: Promise<void>; end: () => void } {
  let end = (): void => {};
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work, end: () => end() };
}

describe('within', () => {
  it('gives the result of work that ends in time', async () => {
    expect(await within(1000, 'quick', Promise.resolve(5))).toBe(5);
    expect(abandonedOperations()).toBe(0);
  });

  it('passes a failure on', async () => {
    await expect(within(1000, 'bad', Promise.reject(new TypeError('no')))).rejects.toThrow(TypeError);
    expect(abandonedOperations()).toBe(0);
  });

  it('names what is late, and counts it until it ends after all', async () => {
    const { work, end } = hanging();
    const late = within(10, 'ibv_open_device', work);
    await expect(late).rejects.toThrow(new DeadlineError('ibv_open_device', 10));
    await expect(late).rejects.toThrow('ibv_open_device did not end within 10 ms');
    expect(abandonedOperations()).toBe(1);
    end();
    await sleep(0);
    expect(abandonedOperations()).toBe(0);
  });

  it('work that fails after its deadline troubles nobody', async () => {
    let fail = (_error: Error): void => {};
    const work = new Promise<void>((_, reject) => {
      fail = reject;
    });
    await expect(within(5, 'x', work)).rejects.toThrow(DeadlineError);
    fail(new Error('too late'));
    await sleep(0);
    expect(abandonedOperations()).toBe(0);
  });
});

describe('Patience', () => {
  it('begins no further call once one has not come back', async () => {
    const patience = new Patience('rdmap0s6');
    expect(await patience.call(100, 'first', async () => 1)).toBe(1);
    const { work, end } = hanging();
    await expect(patience.call(5, 'second', () => work)).rejects.toThrow(
      'rdmap0s6: second did not end within 5 ms',
    );
    let begun = false;
    const third = patience.call(100, 'third', async () => {
      begun = true;
    });
    await expect(third).rejects.toThrow('rdmap0s6: second');
    expect(begun).toBe(false);
    expect(() => patience.check()).toThrow(DeadlineError);
    end();
  });

  it('an ordinary failure ends nothing', async () => {
    const patience = new Patience('x');
    await expect(patience.call(100, 'a', () => Promise.reject(new Error('EIO')))).rejects.toThrow('EIO');
    expect(await patience.call(100, 'b', async () => 2)).toBe(2);
  });
});

describe('sideBySide', () => {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

  it('keeps the order, whatever ends first', async () => {
    const work = async (item: number): Promise<string> => {
      await sleep((10 - item) % 5);
      return `${item}`;
    };
    expect(await sideBySide(numbers(10), work, () => 'none')).toEqual(numbers(10).map(String));
    expect(await sideBySide([], work, () => 'none')).toEqual([]);
  });

  it.each([
    [1, 1],
    [2, 2],
    [4, 4],
    // More threads are a reserve.
    [16, 4],
  ])('with %i threads works on %i at once', async (threads, expected) => {
    let now = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++now);
      await sleep(3);
      now--;
    };
    await sideBySide(numbers(20), work, () => {}, threads);
    expect(most).toBe(expected);
  });

  it.each([
    [4, 3, 'all'],
    [4, 4, 'none'],
    [16, 12, 'all'],
    [16, 16, 'none'],
    [1, 1, 'none'],
  ])('of %i threads %i hang: %s of the others are worked on', async (threads, hang, others) => {
    const ends: (() => void)[] = [];
    const work = async (item: number): Promise<string> => {
      if (item >= hang) return 'done';
      const { work: never, end } = hanging();
      ends.push(end);
      return within(2, 'x', never).then(
        () => 'odd',
        () => 'late',
      );
    };
    const results = await sideBySide(numbers(hang + 5), work, () => 'not begun', threads);
    expect(results.slice(0, hang)).toEqual(Array(hang).fill('late'));
    expect(results.slice(hang)).toEqual(Array(5).fill(others === 'all' ? 'done' : 'not begun'));
    for (const end of ends) end();
    await sleep(0);
    expect(abandonedOperations()).toBe(0);
  });
});

describe('the threads of the pool', () => {
  it.each([
    [{}, 4],
    [{ UV_THREADPOOL_SIZE: '' }, 4],
    [{ UV_THREADPOOL_SIZE: '12' }, 12],
    [{ UV_THREADPOOL_SIZE: '0' }, 1],
    [{ UV_THREADPOOL_SIZE: 'many' }, 1],
    [{ UV_THREADPOOL_SIZE: '99999' }, 1024],
  ])('with %j there are %i', (environment, expected) => {
    expect(poolThreads(environment)).toBe(expected);
  });

  it('are reserved unless the user has said how many', () => {
    const none: NodeJS.ProcessEnv = {};
    reserveThreads(none);
    expect(poolThreads(none)).toBeGreaterThan(4);
    const some = { UV_THREADPOOL_SIZE: '2' };
    reserveThreads(some);
    expect(some.UV_THREADPOOL_SIZE).toBe('2');
  });
});
