/** Waiting for an event, with what is expected of it. */
import { CmEventType } from '../../abi/rdmacm-codes.ts';
import { cmEventFailure } from '../../explain/cm-events.ts';
import { Failure } from '../../explain/failure.ts';
import type { CmEvent } from '../channel.ts';
import { operation } from './operation.ts';
import {
  DATA,
  DURATION,
  enumerated,
  ID_OR_CHANNEL,
  integer,
  NEW_ID,
  one,
  option,
  optional,
  optionOr,
  type Parameter,
  WordError,
} from './parameters.ts';
import type { Stage } from './stage.ts';

const WITHIN_MS = 10_000;
const REQUEST = CmEventType.valueOf('CONNECT_REQUEST');

/** The name of the id that comes with a request. */
const NAME_OF_REQUEST: Parameter<string> = {
  placeholder: 'ID',
  parse(text, scope, earlier) {
    if (typeof earlier['event'] === 'number' && earlier['event'] !== REQUEST) {
      throw new WordError('only CONNECT_REQUEST brings a new id', 'leave out the word `as`');
    }
    return NEW_ID.parse(text, scope, earlier);
  },
};

export const getEvent = operation({
  name: 'get-event',
  does: 'wait for the next event of an id, or of any on a channel (rdma_get_cm_event), 10 s unless `within` says so; another one than expected fails; `as` names the id of a request',
  positional: { id: one(ID_OR_CHANNEL), event: optional(enumerated(CmEventType, 'EVENT')) },
  options: {
    within: optionOr('within', DURATION, WITHIN_MS),
    status: option('status', integer(-0x80000000, 0x7fffffff)),
    data: option('data', DATA),
    as: option('as', NAME_OF_REQUEST),
  },
  waits: true,
  async run({ id: who, event: expected, within, status, data, as }, stage) {
    const id = stage.find(who);
    const channel = id === null ? await stage.channel(who) : id.channel;
    const name = expected === null ? 'event' : (CmEventType.nameOf(expected) ?? `event ${expected}`);
    const event = await stage.nextEvent(channel, id, within, `${who} waits for ${name}`).catch(withHint);
    if (as !== null && event.event === REQUEST) await stage.add(as, event.id);
    const result = stage.eventJson(event);
    stage.note(result);
    if (event.event !== (as === null ? (expected ?? event.event) : REQUEST))
      throw unexpected(event, name, stage);
    if (status !== null && event.status !== status) {
      throw mismatch(`status ${event.status} came, not ${status}: ${result.meaning}`);
    }
    if (data !== null && !beginsWith(event.privateData, data)) {
      throw mismatch(`other private data came: ${result.connection?.private_data ?? 'none'}`);
    }
    return result;
  },
});

function withHint(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== 'TIMED_OUT') throw error;
  throw new Failure(
    'TIMED_OUT',
    error.message,
    'give it more time with `within`; both sides must take their events for a handshake to go on',
  );
}

const mismatch = (message: string): Failure =>
  new Failure('EXPECTATION_FAILED', message, 'correct the expectation, or look at the peer');

function unexpected(event: CmEvent, name: string, stage: Stage): Failure {
  const failure = cmEventFailure(stage.occurrence(event));
  if (failure) return failure;
  const came = event.name ?? `event ${event.event}`;
  return mismatch(`${came} came, not ${name}`);
}

/** Over InfiniBand and RoCE what was sent is followed by zeros. */
const beginsWith = (came: Uint8Array, expected: Uint8Array): boolean =>
  came.length >= expected.length && came.every((byte, index) => byte === (expected[index] ?? 0));
