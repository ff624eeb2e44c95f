/** From the calls of a log to what they say to the RDMA devices. */

import { UCMA_EDITIONS } from '../abi/ucma/editions.ts';
import { briefText, readWrite } from '../abi/ucma/read.ts';
import { UmadIoctl } from '../abi/umad.ts';
import { stringArgument } from '../decode/strace-string.ts';
import { findUmad, headerIn, type UserMadHeader } from '../decode/umad.ts';
import { bytesText } from '../explain/quantities.ts';
import type { Json } from '../layout/codec.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { TraceEntry } from '../model/trace.ts';
import { Descriptors, type OpenDevice } from './descriptors.ts';
import type { LoggedCall } from './strace-log.ts';

/** What a call says, apart from who made it and when. */
type Saying = Pick<TraceEntry, 'name' | 'brief' | 'fields' | 'cut' | 'unseen' | 'notes'>;

const say = (brief: string, more: Partial<Saying> = {}): Saying => ({
  name: null,
  brief,
  fields: {},
  cut: false,
  unseen: null,
  notes: [],
  ...more,
});

const DAY = 86_400;

/** Follows the calls of a log; those on other files are passed over. */
export class DeviceCalls {
  readonly #descriptors = new Descriptors();
  /** The header in force, where the calls have told. */
  readonly #headers = new WeakMap<OpenDevice, UserMadHeader>();
  #start: number | null = null;
  #relative = 0;

  take(call: LoggedCall): TraceEntry | null {
    const seconds = this.#secondsOf(call);
    const device = this.#descriptors.follow(call);
    if (device === null) return null;
    const saying = this.#sayingOf(call, device);
    if (saying === null) return null;
    this.#start ??= seconds;
    const { moment, pid, program, line, result, duration } = call;
    return {
      schema: SCHEMA_IDS.trace,
      time: moment?.kind === 'epoch' ? new Date(moment.seconds * 1000).toISOString() : null,
      at_ms: seconds === null || this.#start === null ? null : milliseconds(since(this.#start, seconds)),
      line,
      pid,
      program,
      device: device.path,
      call: callName(call.name),
      ...saying,
      result: { value: result.value, errno: result.errno },
      duration_ms: duration === null ? null : milliseconds(duration),
    };
  }

  #secondsOf({ moment }: LoggedCall): number | null {
    if (moment === null) return null;
    if (moment.kind !== 'relative') return moment.seconds;
    this.#relative += moment.seconds;
    return this.#relative;
  }

  #sayingOf(call: LoggedCall, device: OpenDevice): Saying | null {
    switch (callName(call.name)) {
      case 'open':
        return say(`open ${call.args.find((arg) => arg.startsWith('O_')) ?? ''}`.trimEnd(), { name: 'open' });
      case 'close':
        return say('close', { name: 'close' });
      case 'poll':
        return say(polled(call), { name: 'poll' });
      case 'ioctl':
        return this.#ioctl(call, device);
      default:
        return device.kind === 'rdma_cm' ? command(call) : this.#datagram(call, device);
    }
  }

  #ioctl({ args, result }: LoggedCall, device: OpenDevice): Saying {
    const name = ioctlName(args[1] ?? '');
    const isDone = result.errno === null && result.value !== null;
    if (isDone && (name === 'ENABLE_PKEY' || name === 'REGISTER_AGENT2')) this.#headers.set(device, 'new');
    // The old header is in force until something else is asked for.
    if (isDone && name === 'REGISTER_AGENT' && !this.#headers.has(device)) this.#headers.set(device, 'old');
    const unseen = /^REGISTER/.test(name)
      ? 'the registration: class, methods, and the id of the agent'
      : null;
    const id = name === 'UNREGISTER_AGENT' ? ` ${args[2] ?? ''}` : '';
    return say(`${name}${id}`, {
      name,
      unseen: name === 'UNREGISTER_AGENT' ? 'the id of the agent' : unseen,
    });
  }

  #datagram({ name, args, result }: LoggedCall, device: OpenDevice): Saying {
    const text = stringArgument(args[1] ?? '');
    const isRead = name === 'read';
    if (text === null || (isRead && result.errno !== null)) {
      const detail = isRead ? `room for ${bytesText(args[2] ?? '?')}` : bytesText(args[2] ?? '?');
      return say(`${name} ${detail}`, { name, unseen: isRead ? null : 'the bytes' });
    }
    const kind = this.#headers.get(device) ?? headerIn(text.bytes) ?? 'new';
    const found = findUmad(text.bytes, kind);
    return say(`${isRead ? 'received' : 'send'} ${found.brief ?? bytesText(text.bytes.length)}`, {
      name: found.name ?? name,
      fields: { header: kind, ...fieldsOf(found.parts.flatMap(({ fields }) => fields)) },
      cut: text.cut,
      notes: [...found.notes],
    });
  }
}

function command({ name, args }: LoggedCall): Saying {
  const text = stringArgument(args[1] ?? '');
  if (name !== 'write' || text === null) return say(`${name} ${bytesText(args[2] ?? '?')}`, { name });
  const reading = readWrite(UCMA_EDITIONS.linux, text.bytes);
  return say(briefText(reading), {
    name: reading.command?.name ?? null,
    fields: fieldsOf(reading.fields),
    cut: text.cut,
    unseen: reading.command?.response || reading.command?.answers ? 'the answer' : null,
    // Of bytes that the log has left out there is nothing to say.
    notes: text.cut ? [] : [...reading.notes],
  });
}

const fieldsOf = (fields: readonly { readonly name: string; readonly value: Json }[]): Record<string, Json> =>
  Object.fromEntries(fields.map(({ name, value }) => [name, value]));

const callName = (name: string): string =>
  name.startsWith('open') ? 'open' : name === 'ppoll' ? 'poll' : name;

/** `[{fd=3, revents=POLLIN}]` behind the result tells what came; strace's text for it is in the result. */
function polled({ args, result }: LoggedCall): string {
  const timeout = args[2] ?? '?';
  const limit = /^-\d+$/.test(timeout)
    ? 'without a limit'
    : /^\d+$/.test(timeout)
      ? `${timeout} ms`
      : timeout;
  const outcome =
    result.value === null ? '' : result.value === 0 ? ': nothing came' : result.value > 0 ? ': ready' : '';
  return `poll ${limit}${outcome}`;
}

const IOCTL_NAMES = new Map<number, string>(Object.entries(UmadIoctl).map(([name, code]) => [code, name]));
const NUMBERED = new Map<number, string>(
  Object.entries(UmadIoctl).map(([name, code]) => [code & 0xff, name]),
);

/** strace has names for these requests, or writes them as a number or as _IOC(direction, 0x1b, number, size). */
function ioctlName(argument: string): string {
  const [, name] = /^IB_USER_MAD_(\w+)$/.exec(argument) ?? [];
  if (name !== undefined) return name;
  const [, number] = /_IOC\([^,]*, 0x1b, (0x[0-9a-f]+|\d+),/.exec(argument) ?? [];
  if (number !== undefined) return NUMBERED.get(Number(number)) ?? argument;
  return IOCTL_NAMES.get(Number(argument)) ?? argument;
}

/** Seconds from one moment to a later one; a time of the day may have passed midnight. */
const since = (start: number, now: number): number => (now < start ? now - start + DAY : now - start);

/** ms to the microsecond. */
const milliseconds = (seconds: number): number => Math.round(seconds * 1e6) / 1e3;
