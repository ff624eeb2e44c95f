/** The terminal of this process, for as long as one in the guest stands in its place. */
import { spawnSync } from 'node:child_process';

/**
 * Lets every key through, and shows every byte as it is. Node's own raw mode still changes line ends.
 * @returns what puts the terminal back
 */
export function makeTerminalRaw(): () => void {
  const saved = stty('-g');
  stty('raw', '-echo');
  const restore = (): void => {
    process.off('exit', restore);
    stty(saved);
  };
  process.on('exit', restore);
  return restore;
}

const stty = (...args: readonly string[]): string =>
  spawnSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout.trim();
