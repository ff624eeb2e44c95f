/** Vendor ping: what an ibping(8) server answers. `mad ping`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Method } from '../datagram/classes.ts';
import { dataPlace } from '../datagram/headers.ts';
import { decodeMad, encodeMad } from '../datagram/message.ts';
import { textOf } from '../datagram/node-text.ts';
import { Failure } from '../explain/failure.ts';
import { madStatusText } from '../explain/mad-status.ts';
import type { MadPingResult } from '../model/mad.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { NoReplyError } from './engine.ts';
import { requestFailed, statusFailure } from './failures.ts';
import { milliseconds, targetJson } from './results.ts';
import { roundTrips } from './round-trips.ts';
import type { MadSession } from './session.ts';
import type { Target } from './target.ts';

/** The class and OUI that ibping(8) serves. */
const PING_CLASS = 0x32;
const OPENIB_OUI = 0x001405;

export interface PingOptions {
  readonly target: Target;
  readonly count: number;
  readonly intervalMs: number;
  /** Called with each answer as it comes. */
  readonly onReply?: (sequence: number, rttMs: number | null, from: string) => void;
}

/** Pings until the count is done, or the signal is given. Throws Failure where the port is lost. */
export async function ping(
  session: MadSession,
  options: PingOptions,
  signal: AbortSignal,
): Promise<MadPingResult> {
  const address = await session.address(options.target, PING_CLASS);
  const key = { mgmtClass: PING_CLASS, version: 1, rmpp: 0, oui: OPENIB_OUI } as const;
  const times: number[] = [];
  const replies: MadPingResult['replies'] = [];
  let server = '';
  let refusal: Failure | null = null;
  for (let sequence = 0; sequence < options.count && !signal.aborted; sequence++) {
    if (sequence > 0) await sleep(options.intervalMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const mad = encodeMad({
      header: { base_version: 1, mgmt_class: PING_CLASS, class_version: 1, method: Method.valueOf('Get') },
      sections: { vendor: { oui: OPENIB_OUI } },
    });
    try {
      const reply = await session.exchange(key, address, mad);
      const answer = decodeMad(reply.mad);
      if (answer.status !== 0) {
        refusal ??= statusFailure('the ping', PING_CLASS, answer.status);
        const { name } = madStatusText(answer.status, false);
        replies.push({ sequence, rtt_ms: null, status: { value: answer.status, name } });
        continue;
      }
      server = nameIn(answer.data);
      times.push(reply.rttMs);
      replies.push({ sequence, rtt_ms: milliseconds(reply.rttMs), status: { value: 0, name: 'SUCCESS' } });
      options.onReply?.(sequence, reply.rttMs, server);
    } catch (error) {
      // The ping that Ctrl-C cut off is neither answered nor lost.
      if (signal.aborted) break;
      if (!(error instanceof NoReplyError))
        throw requestFailed(session.title, 'the ping', options.target, error);
      replies.push({ sequence, rtt_ms: null, status: null });
      options.onReply?.(sequence, null, server);
    }
  }
  const sent = replies.length;
  return {
    schema: SCHEMA_IDS.madPing,
    error: (refusal ?? verdict(sent, times.length, session, options.target))?.toJSON() ?? null,
    device: session.device,
    port: session.portNumber,
    target: targetJson(options.target, address.lid || null),
    server: server === '' ? null : server,
    sent,
    received: times.length,
    replies,
    rtt: roundTrips(times),
  };
}

/** An ibping server writes its host and domain into the data. */
function nameIn(data: Uint8Array): string {
  const room = data.subarray(0, dataPlace(PING_CLASS).length);
  const end = room.indexOf(0);
  return textOf(room.subarray(0, end < 0 ? room.length : end));
}

function verdict(sent: number, received: number, session: MadSession, target: Target): Failure | null {
  if (sent === 0) return new Failure('INTERRUPTED', 'interrupted before the first ping had an answer', '');
  if (received === sent) return null;
  if (received === 0) {
    const { retries, timeoutMs } = session.options;
    const failure = requestFailed(
      session.title,
      'the ping',
      target,
      new NoReplyError(retries + 1, timeoutMs),
    );
    return new Failure(
      failure.code,
      failure.message,
      'does ibping -S (or another server of vendor class 0x32) run there?',
      {
        errno: failure.errno,
      },
    );
  }
  return new Failure(
    'SOME_LOST',
    `${sent - received} of ${sent} pings were lost`,
    'mad get PortCounters --all-ports on the way shows where',
  );
}
