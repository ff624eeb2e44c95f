// @ts-check
// What the benches share. Contestants are timed in turn, so that a busy moment hits all of them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const RDMATOOL = fileURLToPath(new URL('../../bin/rdmatool.js', import.meta.url));

/** @param {readonly number[]} values */
export const median = (values) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/**
 * Runs a command to its end.
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {{ elapsed: number, stdout: string, stderr: string }} elapsed in ms
 */
export function run(command, env = process.env) {
  const [program = '', ...args] = command;
  const start = performance.now();
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  const elapsed = performance.now() - start;
  if (status !== 0) throw new Error(`${command.join(' ')}: ${error?.message ?? stderr}`);
  return { elapsed, stdout, stderr };
}

/**
 * Times each in turn, once a round; the first round only fills caches.
 * @param {Readonly<Record<string, () => number>>} contestants each gives its time in ms
 * @param {number} rounds
 * @returns {Map<string, number[]>}
 */
export function inTurn(contestants, rounds) {
  const times = new Map(Object.keys(contestants).map((name) => [name, /** @type {number[]} */ ([])]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, contestant] of Object.entries(contestants)) {
      const time = contestant();
      if (round >= 0) times.get(name)?.push(time);
    }
  }
  return times;
}
