/** The other end: answers requests, from a file or as ibping(8) does. `mad serve`. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isVendor2, Method, MgmtClass } from '../datagram/classes.ts';
import { hasRmpp, isSa } from '../datagram/headers.ts';
import { decodeMad, type Mad } from '../datagram/message.ts';
import type { Failure, FailureJson } from '../explain/failure.ts';
import { madStatusText } from '../explain/mad-status.ts';
import { LayoutError } from '../layout/error.ts';
import type { MadServeObject } from '../model/mad.ts';
import { emptyServeObject } from '../model/mad-empty.ts';
import { ClosedHandleError } from '../native/errors.ts';
import { agentJson, maskOf, placeOf, registerAll } from './agents.ts';
import { type Answer, answerTo, methodsOf } from './answer.ts';
import { type AnswerRule, OPENIB_OUI } from './answer-file.ts';
import type { Registration } from './backend.ts';
import { describeMad } from './decode.ts';
import { type Address, GSI_QKEY } from './engine.ts';
import { nothingCame } from './failures.ts';
import { Inbox } from './inbox.ts';
import type { Received } from './reply.ts';
import { sendingFailed } from './sending-failure.ts';
import { HOP_LIMIT, type MadSession } from './session.ts';
import { userHeaderJson } from './user-header.ts';

export const PING_CLASS = 0x32;

export interface ServeOptions {
  readonly rules: readonly AnswerRule[];
  /** Agents beside those that the rules need, which only pass over what they get. */
  readonly others: readonly Registration[];
  /** Ends after so many requests; null never does. */
  readonly count: number | null;
  /** Ends when nothing came for so long, ms; null never does. */
  readonly timeoutMs: number | null;
}

/** What ibping(8) answers: its host and domain. */
export function pingRule(): AnswerRule {
  return {
    mgmtClass: PING_CLASS,
    classVersion: 1,
    oui: OPENIB_OUI,
    method: Method.valueOf('Get'),
    attributeId: null,
    modifier: null,
    status: 0,
    data: Buffer.from(`${hostname()}.${domainName()}\0`),
    distance: 0,
    record: null,
  };
}

function domainName(): string {
  try {
    return readFileSync('/proc/sys/kernel/domainname', 'utf8').trim();
  } catch {
    return '(none)';
  }
}

/** An agent for each class, version and vendor of the rules, with all methods that they answer. */
export function registrationsFor(rules: readonly AnswerRule[]): Registration[] {
  const agents = new Map<string, Registration>();
  for (const rule of rules) {
    const { mgmtClass, classVersion, oui } = rule;
    const key = `${mgmtClass}/${classVersion}/${oui}`;
    agents.set(key, {
      qpn: null,
      mgmtClass,
      version: classVersion,
      oui,
      methods: (agents.get(key)?.methods ?? 0n) | maskOf(methodsOf(rule)),
      rmpp: hasRmpp(mgmtClass) ? 1 : 0,
      flags: 0,
    });
  }
  return [...agents.values()];
}

/** The way back to who has sent it. */
function addressBack({ header }: Received): Address {
  return {
    lid: header.lid,
    qpn: header.qpn,
    qkey: header.qpn === 0 ? 0 : GSI_QKEY,
    sl: header.sl,
    pathBits: header.path_bits,
    pkeyIndex: header.pkey_index ?? 0,
    grh:
      header.grh_present === 0
        ? null
        : {
            gid: header.gid,
            gidIndex: header.gid_index,
            hopLimit: HOP_LIMIT,
            trafficClass: header.traffic_class,
            flowLabel: header.flow_label,
          },
  };
}

/** What became of a message. */
interface Handled {
  readonly event: string;
  readonly answer: Answer | null;
  readonly failure: Failure | null;
}

/**
 * Serves until the count is reached, nothing came for the time, the port is lost, or the signal aborts.
 * @param tell gets each object as it comes; null is told nothing
 * @returns why it ended, or the first answer that could not be sent; null where all is well
 * @throws Failure where it cannot begin, or cannot go on
 */
export async function serveMads(
  session: MadSession,
  options: ServeOptions,
  signal: AbortSignal,
  tell: ((object: MadServeObject) => Promise<void>) | null,
): Promise<FailureJson | null> {
  const agents = registerAll(session, [...registrationsFor(options.rules), ...options.others]);
  const handled = new WeakMap<Received, Promise<Handled>>();
  // Answers go out as their requests come in, whoever is slow to read what is told of them.
  const inbox = new Inbox(session, (received) => {
    handled.set(received, handle(session, received, options.rules));
  });
  await tell?.({
    ...emptyServeObject(null),
    ...placeOf(session),
    event: 'listening',
    agents: agents.map(agentJson),
  });
  let firstFailure: FailureJson | null = null;
  for (let came = 0; options.count === null || came < options.count; came++) {
    const received = await inbox.next(options.timeoutMs, signal);
    if (received === null) {
      if (options.count === null && came > 0) return firstFailure;
      return firstFailure ?? nothingCame(session.title, options.timeoutMs ?? 0, came).toJSON();
    }
    const outcome = await handled.get(received);
    const failure = outcome?.failure?.toJSON() ?? null;
    firstFailure ??= failure;
    if (tell === null || !outcome) continue;
    const { event, answer } = outcome;
    await tell({
      ...emptyServeObject(failure),
      ...placeOf(session),
      event,
      header: userHeaderJson(received.header),
      request: describeMad(received.mad),
      answer: answer && answerJson(answer, received.mad[1] ?? 0),
    });
  }
  return firstFailure;
}

async function handle(
  session: MadSession,
  received: Received,
  rules: readonly AnswerRule[],
): Promise<Handled> {
  if (received.header.status !== 0) return { event: 'returned', answer: null, failure: null };
  const request = requestIn(received);
  const answer = request && answerTo(request, rules);
  if (!request || !answer) return { event: 'passed over', answer: null, failure: null };
  const event = answer.status === 0 ? 'answered' : 'refused';
  const { retries } = session.options;
  const address = addressBack(received);
  try {
    await session.post({
      agent: received.header.id,
      // The receiver acknowledges segments; how often the kernel tries again stands in the header.
      address: answer.rmpp ? { ...address, set: { retries } } : address,
      mad: answer.mad,
      tid: null,
    });
    return { event, answer, failure: null };
  } catch (error) {
    // Nobody hears of what came when the port was being closed.
    if (error instanceof ClosedHandleError) return { event: 'passed over', answer: null, failure: null };
    const what = `the answer to ${Method.nameOf(request.header.method) ?? request.header.method}`;
    const sent = { address, mad: answer.mad, length: undefined };
    return { event, answer, failure: await sendingFailed(session, what, null, sent, error) };
  }
}

/** null: it cannot be read as a datagram of its class. */
function requestIn({ mad }: Received): Mad | null {
  try {
    return decodeMad(mad);
  } catch (error) {
    if (error instanceof LayoutError) return null;
    throw error;
  }
}

function answerJson({ mad, method, status, rmpp }: Answer, mgmtClass: number): MadServeObject['answer'] {
  return {
    method: { value: method, name: Method.nameOf(method) },
    status: { value: status, name: madStatusText(status, isSa(mgmtClass)).name },
    bytes: mad.length,
    rmpp,
  };
}

/** Agents of classes that are only kept from others: no method of theirs is answered. */
export const bystander = (mgmtClass: number): Registration => ({
  qpn: null,
  mgmtClass,
  version: MgmtClass.nameOf(mgmtClass) === 'SUBN_ADM' ? 2 : 1,
  oui: isVendor2(mgmtClass) ? OPENIB_OUI : null,
  methods: 0n,
  rmpp: 0,
  flags: 0,
});
