import type { QueryProgress } from '../devices/query-devices.ts';
import { Progress } from '../output/progress.ts';
import type { Streams } from '../output/streams.ts';

/** Runs a query of devices, and says on a terminal which ones are waited for, if it takes long. */
export async function withDeviceProgress<R>(
  streams: Streams,
  work: (onProgress: (progress: QueryProgress) => void) => Promise<R>,
): Promise<R> {
  const progress = new Progress(streams);
  try {
    return await work(({ done, total, asking }) => {
      if (asking.length > 0) progress.update(`${done} of ${total} devices; waiting for ${asking.join(', ')}`);
    });
  } finally {
    progress.end();
  }
}
