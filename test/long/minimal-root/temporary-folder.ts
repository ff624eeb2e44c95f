import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A folder for what is large and short-lived, closed to other users. It does not outlive the tests, on Ctrl-C
 * neither. Programs that work in it are started with `inUse`, which ends them before the folder is removed.
 */
export class TemporaryFolder {
  readonly path: string;
  private readonly use = new AbortController();

  constructor(prefix: string) {
    // Not /tmp, which is often in memory, or closed to programs.
    this.path = mkdtempSync(join(realpathSync(process.env['TMPDIR'] ?? '/var/tmp'), prefix));
    process.once('SIGINT', this.onSignal).once('SIGTERM', this.onSignal);
  }

  get inUse(): AbortSignal {
    return this.use.signal;
  }

  remove(): void {
    process.off('SIGINT', this.onSignal).off('SIGTERM', this.onSignal);
    this.use.abort();
    // What belongs to the host must not go with the folder.
    const mounted = mountPoints().filter((point) => point === this.path || point.startsWith(`${this.path}/`));
    if (mounted.length > 0) throw new Error(`${this.path} is left: mounted in it are ${mounted.join(', ')}`);
    // The programs may take a moment to end.
    rmSync(this.path, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  private readonly onSignal = (signal: NodeJS.Signals): void => {
    this.remove();
    process.kill(process.pid, signal);
  };
}

function mountPoints(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  // The fifth field; blanks and the like are written as \040.
  return lines.map((line) =>
    (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    ),
  );
}
