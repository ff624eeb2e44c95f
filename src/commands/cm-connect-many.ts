import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ManyProgress } from '../cm/connect-many.ts';
import { Failure, type FailureJson } from '../explain/failure.ts';
import type { CmConnectManyResult } from '../model/cm-connect-many.ts';
import { Progress } from '../output/progress.ts';
import { packageRoot } from '../package-root.ts';
import { DeadlineError, within } from '../waiting/deadline.ts';
import type { ManyMessage, ManyTask } from './cm-many-thread.ts';
import type { Context } from './spec.ts';

/** Besides its own timeouts, how long one connection may keep quiet before it counts as hung inside C. */
const HUNG_MS = 60_000;
/** After Ctrl-C, for taking everything down. */
const CLOSE_MS = 20_000;

/** `cm connect --count`: connects, with progress on a terminal, and shows the result. Gives the exit status. */
export async function concludeMany(task: ManyTask, context: Context): Promise<number> {
  const progress = new Progress(context.streams);
  let result: CmConnectManyResult;
  try {
    result = await apart(task, context.interruption(), ({ established, failed, count }) =>
      progress.update(`${established + failed} of ${count} connections, ${failed} failed`),
    );
  } finally {
    progress.end();
  }
  return context.conclude(result, async () => {
    const { cmConnectManyView } = await import('../views/cm-connect-many.ts');
    return cmConnectManyView(result);
  });
}

const failureOf = ({ code, message, hint, errno }: FailureJson): Failure =>
  new Failure(code, message, hint, { errno });

/** The result of the thread. Throws DeadlineError where nothing comes of it, Failure INTERRUPTED. */
async function apart(
  task: ManyTask,
  signal: AbortSignal,
  progress: (state: ManyProgress) => void,
): Promise<CmConnectManyResult> {
  const { settings, request } = task;
  const quietMs = HUNG_MS + request.connection.holdMs + 4 * (settings.timeoutMs ?? 10_000);
  const worker = new Worker(join(packageRoot(), 'dist/cm-many-thread.cjs'), {
    workerData: task,
    // Descriptors are C's as well.
    trackUnmanagedFds: false,
  });
  let heard = performance.now();
  const result = new Promise<CmConnectManyResult>((resolve, reject) => {
    worker.on('message', (message: ManyMessage) => {
      heard = performance.now();
      if ('result' in message) resolve(message.result);
      else if ('failure' in message) reject(failureOf(message.failure));
      else progress(message.progress);
    });
    worker.on('error', reject);
    worker.on('exit', () => reject(new Error('the thread has ended without a result')));
  });
  const abort = (): void => {
    heard = performance.now();
    worker.postMessage('abort');
  };
  signal.addEventListener('abort', abort);
  let watch: NodeJS.Timeout | undefined;
  const hung = new Promise<null>((resolve) => {
    watch = setInterval(() => {
      if (performance.now() - heard > (signal.aborted ? CLOSE_MS : quietMs)) resolve(null);
    }, 500);
  });
  try {
    const found = await Promise.race([result, hung]);
    // Counts as abandoned, so that the process is ended despite it.
    return found ?? (await within(1, 'a connection', result));
  } catch (error) {
    if (!signal.aborted || !(error instanceof DeadlineError)) throw error;
    throw new Failure(
      'INTERRUPTED',
      'interrupted; a call hangs in C',
      'the end of the process frees the rest',
    );
  } finally {
    clearInterval(watch);
    signal.removeEventListener('abort', abort);
    // It has said all; its end is not waited for.
    worker.unref();
  }
}
