/**
 * A thread of its own for `cm connect --count`: there the calls into C are made at once, one after another, without
 * a way through the pool of threads for each. The thread that started it stays free, and has the deadline.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Endpoint } from '../cm/address.ts';
import { connectMany, type ManyProgress, type ManyRequest } from '../cm/connect-many.ts';
import { type BackendChoice, type CmSettings, thisEnvironment } from '../cm/session.ts';
import { Failure, type FailureJson } from '../explain/failure.ts';
import type { CmConnectManyResult } from '../model/cm-connect-many.ts';

/** What the thread is started with. */
export interface ManyTask {
  readonly peer: Endpoint;
  readonly request: ManyRequest;
  readonly settings: CmSettings;
  readonly backend: BackendChoice;
}

/** What it says; any message to it aborts the work. */
export type ManyMessage =
  | { readonly progress: ManyProgress }
  | { readonly result: CmConnectManyResult }
  | { readonly failure: FailureJson };

/** Between two words on the progress. */
const PROGRESS_MS = 100;

async function work(port: MessagePort): Promise<void> {
  const { peer, request, settings, backend } = workerData as ManyTask;
  const controller = new AbortController();
  const say = (message: ManyMessage): void => port.postMessage(message);
  port.once('message', () => controller.abort());
  let said = 0;
  const sayProgress = (progress: ManyProgress): void => {
    if (performance.now() - said < PROGRESS_MS) return;
    said = performance.now();
    say({ progress });
  };
  try {
    const environment = thisEnvironment(controller.signal, backend, 'here');
    say({ result: await connectMany(peer, request, settings, environment, sayProgress) });
  } catch (error) {
    // Of anything else the thread that started this one hears when this one ends.
    if (!(error instanceof Failure)) throw error;
    say({ failure: error.toJSON() });
  }
  port.close();
}

if (parentPort !== null) void work(parentPort);
