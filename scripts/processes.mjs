// @ts-check
// Child processes for the scripts: in full view, or quiet with their output kept for the case of failure.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Runs a command to its end. Quiet: nothing is shown, and `output` has what it wrote to both streams.
 * Otherwise it writes to the terminal and `output` is empty.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ quiet?: boolean, directory?: string }} [options]
 * @returns {Promise<{ status: number, output: string }>}
 */
export function run(command, args, { quiet = false, directory } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
      ...(directory === undefined ? {} : { cwd: directory }),
    });
    /** @type {Buffer[]} */
    const chunks = [];
    child.stdout?.on('data', (chunk) => chunks.push(chunk));
    child.stderr?.on('data', (chunk) => chunks.push(chunk));

    // The terminal sends Ctrl-C to the child as well: wait for its own orderly end, so that no package manager
    // goes on behind the prompt. SIGTERM comes to this process only, so it is passed on.
    /** @type {NodeJS.Signals | undefined} */
    let interruption;
    const onInterrupt = () => {
      interruption = 'SIGINT';
    };
    const onTerminate = () => {
      interruption = 'SIGTERM';
      child.kill('SIGTERM');
    };
    process.on('SIGINT', onInterrupt);
    process.on('SIGTERM', onTerminate);

    /** @param {number} status */
    const finish = (status) => {
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
      if (interruption !== undefined) process.exit(128 + constants.signals[interruption]);
      resolve({ status, output: Buffer.concat(chunks).toString() });
    };
    child.on('error', (error) => {
      // Also raised for a signal that could not be sent; the child is then still running and will close.
      if (child.pid !== undefined) return;
      chunks.push(Buffer.from(`${command}: ${error.message}\n`));
      finish(127);
    });
    child.on('close', (code, signal) => finish(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}
