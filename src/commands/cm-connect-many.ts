import type { Endpoint } from '../cm/address.ts';
import type { ManyRequest } from '../cm/connect-many.ts';
import type { CmSettings } from '../cm/session.ts';
import type { Context } from './spec.ts';

/** `cm connect --count`: connects, with progress on a terminal, and shows the result. Gives the exit status. */
export async function concludeMany(
  peer: Endpoint,
  request: ManyRequest,
  settings: CmSettings,
  context: Context,
): Promise<number> {
  const { connectMany } = await import('../cm/connect-many.ts');
  const { thisEnvironment } = await import('../cm/session.ts');
  const { Progress } = await import('../output/progress.ts');
  const progress = new Progress(context.streams);
  const environment = thisEnvironment(context.interruption());
  try {
    const result = await connectMany(peer, request, settings, environment, ({ established, failed, count }) =>
      progress.update(`${established + failed} of ${count} connections, ${failed} failed`),
    );
    progress.end();
    return await context.conclude(result, async () => {
      const { cmConnectManyView } = await import('../views/cm-connect-many.ts');
      return cmConnectManyView(result);
    });
  } finally {
    progress.end();
  }
}
