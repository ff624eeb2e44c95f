/** Shows what comes for agents: `mad recv`. */
import type { FailureJson } from '../explain/failure.ts';
import type { MadRecvObject } from '../model/mad.ts';
import { emptyRecvObject } from '../model/mad-empty.ts';
import { agentJson, placeOf, registerAll } from './agents.ts';
import type { Registration } from './backend.ts';
import { describeMad } from './decode.ts';
import { nothingCame } from './failures.ts';
import { Inbox } from './inbox.ts';
import type { MadSession } from './session.ts';
import { userHeaderJson } from './user-header.ts';

export interface ReceiveOptions {
  readonly registrations: readonly Registration[];
  /** Ends after so many; null never does. */
  readonly count: number | null;
  /** Ends when nothing came for so long, ms; null never does. */
  readonly timeoutMs: number | null;
}

/**
 * Receives until the count is reached, nothing came for the time, the port is lost, or the signal aborts.
 * @param tell gets each object as it comes
 * @returns why it ended, null where all came that was waited for
 * @throws Failure where it cannot begin, or cannot go on
 */
export async function receiveMads(
  session: MadSession,
  options: ReceiveOptions,
  signal: AbortSignal,
  tell: (object: MadRecvObject) => Promise<void>,
): Promise<FailureJson | null> {
  const agents = registerAll(session, options.registrations);
  const inbox = new Inbox(session);
  await tell({
    ...emptyRecvObject(null),
    ...placeOf(session),
    event: 'listening',
    agents: agents.map(agentJson),
  });
  for (let came = 0; options.count === null || came < options.count; came++) {
    const received = await inbox.next(options.timeoutMs, signal);
    if (received === null) {
      const isEnough = options.count === null && came > 0;
      return isEnough ? null : nothingCame(session.title, options.timeoutMs ?? 0, came).toJSON();
    }
    await tell({
      ...emptyRecvObject(null),
      ...placeOf(session),
      event: received.header.status === 0 ? 'received' : 'returned',
      header: userHeaderJson(received.header),
      message: describeMad(received.mad),
    });
  }
  return null;
}
