/** What a script works on while it runs: channels and ids by their names. Takes all of it down. */
import { cmEventJson, type PortSpaceName } from '../../abi/rdmacm-codes.ts';
import type { SocketAddress } from '../../abi/sockaddr.ts';
import { ibUverbsAhAttr } from '../../abi/verbs-qp.ts';
import { type CmOccurrence, explainCmEvent, statusName } from '../../explain/cm-events.ts';
import { Failure } from '../../explain/failure.ts';
import type { CmRunEvent, CmRunResult } from '../../model/cm-run.ts';
import { DeadlineError, within } from '../../waiting/deadline.ts';
import { type Endpoint, endpointText, resolveEndpoint } from '../address.ts';
import type { Backend, ConnectionValues } from '../backend.ts';
import type { CmChannel, CmEvent, CmId } from '../channel.ts';
import { connectionJson } from '../connect.ts';
import { callFailed, type Place } from '../failures.ts';
import { type CmEnvironment, closeChannel, openChannel } from '../session.ts';

/** The channel of ids that name none. */
export const DEFAULT_CHANNEL = 'default';

/** For one id; what hangs inside C longer is left to the end of the process. */
const DESTROY_DEADLINE_MS = 10_000;
/** For looking up the name of a host. */
const LOOKUP_DEADLINE_MS = 10_000;

export class Stage {
  readonly environment: CmEnvironment;
  readonly #channels = new Map<string, CmChannel>();
  readonly #ids = new Map<string, CmId>();
  readonly #requests = new WeakMap<CmId, ConnectionValues>();
  #noted: CmRunResult | null = null;
  #isOver = false;

  constructor(environment: CmEnvironment) {
    // One backend for all channels: ids move between them.
    let backend: Backend | Promise<Backend> | undefined;
    this.environment = {
      ...environment,
      openBackend: () => {
        backend ??= environment.openBackend();
        return backend;
      },
    };
  }

  /** A channel by its name. `default` is opened when it is first used. */
  async channel(name: string): Promise<CmChannel> {
    const known = this.#channels.get(name);
    if (known) return known;
    const channel = await openChannel(this.environment);
    if (this.#isOver) await closeChannel(channel);
    this.#channels.set(name, channel);
    return channel;
  }

  async closeChannel(name: string): Promise<void> {
    const channel = this.#channels.get(name);
    if (!channel) return;
    const users = [...this.#ids].filter(([, id]) => id.channel === channel).map(([user]) => user);
    if (users.length > 0) {
      throw new Failure(
        'WRONG_ORDER',
        `destroy_event_channel: not possible now: ${name} still has ${users.join(', ')}`,
        'destroy-id or migrate-id first',
      );
    }
    this.#channels.delete(name);
    await closeChannel(channel);
  }

  find(name: string): CmId | null {
    return this.#ids.get(name) ?? null;
  }

  id(name: string): CmId {
    const id = this.#ids.get(name);
    if (!id) throw new Failure('WRONG_ORDER', `there is no id ${name}`, 'the step that makes it has not run');
    return id;
  }

  nameOf(id: CmId): string | null {
    return [...this.#ids].find(([, known]) => known === id)?.[0] ?? null;
  }

  async add(name: string, id: CmId): Promise<void> {
    if (this.#isOver) await id.destroy();
    else this.#ids.set(name, id);
  }

  async destroy(name: string): Promise<void> {
    const id = this.id(name);
    this.#ids.delete(name);
    await id.destroy();
  }

  /** What the peer asked for, of an id that came with a request. */
  request(id: CmId): ConnectionValues | null {
    return this.#requests.get(id) ?? null;
  }

  /** What a step has found, although it fails. */
  note(result: CmRunResult | null): void {
    this.#noted = result;
  }

  get noted(): CmRunResult | null {
    return this.#noted;
  }

  /** The socket address of an endpoint. Throws Failure. */
  address(
    endpoint: Endpoint,
    defaultPort: number,
    like: SocketAddress | null = null,
  ): Promise<SocketAddress> {
    return resolveEndpoint(endpoint, defaultPort, this.environment.machine, LOOKUP_DEADLINE_MS, like);
  }

  /** The next event of an id, or of a channel for null. Throws Failure: TIMED_OUT, INTERRUPTED. */
  async nextEvent(channel: CmChannel, id: CmId | null, timeoutMs: number, what: string): Promise<CmEvent> {
    const { signal } = this.environment;
    const event = await channel.nextEvent(id, { timeoutMs, signal, what });
    if (event.name === 'CONNECT_REQUEST' && event.conn) this.#requests.set(event.id, event.conn);
    return event;
  }

  occurrence({ id, event, status }: CmEvent): CmOccurrence {
    const { local, peer, device, portSpace } = this.#whereabouts(id);
    return {
      event,
      status,
      portSpace,
      transport: id.state === 'destroyed' ? null : (id.device()?.transport ?? null),
      device,
      local: local && endpointText(local),
      peer: peer && endpointText(peer),
    };
  }

  /** An event as documents have it. */
  eventJson(event: CmEvent): CmRunEvent {
    const occurrence = this.occurrence(event);
    const carries =
      event.name === 'CONNECT_REQUEST' ||
      event.name === 'MULTICAST_JOIN' ||
      event.privateData.some((byte) => byte !== 0);
    return {
      event: cmEventJson(event.event),
      status: event.status,
      status_name: statusName(occurrence),
      meaning: explainCmEvent(occurrence).meaning,
      event_id: this.nameOf(event.id),
      connection: carries ? connectionJson(event, occurrence.transport) : null,
      ah_attr: event.name === 'MULTICAST_JOIN' && event.ud ? ibUverbsAhAttr.toJson(event.ud.ah_attr) : null,
    };
  }

  /** What went wrong in a step on an id, or on none. What is no failure of a step is thrown on. */
  failureOf(error: unknown, step: string, subject: string | null): Failure {
    const id = subject === null ? null : this.find(subject);
    const place: Place = {
      step,
      machine: this.environment.machine,
      ...(id === null ? { portSpace: 'TCP', local: null, peer: null, device: null } : this.#whereabouts(id)),
    };
    return callFailed(error, place);
  }

  #whereabouts(id: CmId): Pick<Place, 'local' | 'peer' | 'device'> & { portSpace: PortSpaceName } {
    if (id.state === 'destroyed') return { portSpace: id.portSpace, local: null, peer: null, device: null };
    const { local, peer } = id.route();
    return {
      portSpace: id.portSpace,
      local,
      // Before the resolution it is the unspecified address.
      peer: peer?.port === 0 ? null : peer,
      device: id.device()?.name ?? null,
    };
  }

  /** Destroys the ids, the youngest first, then the channels. Resolves with their names. */
  async takeDown(): Promise<{ ids: string[]; channels: string[] }> {
    this.#isOver = true;
    const ids = [...this.#ids].reverse();
    const channels = [...this.#channels].reverse();
    this.#ids.clear();
    this.#channels.clear();
    for (const [name, id] of ids) {
      try {
        await within(DESTROY_DEADLINE_MS, `destroying ${name}`, id.destroy());
      } catch (error) {
        // The end of the process frees what is left.
        if (!(error instanceof DeadlineError)) throw error;
      }
    }
    for (const [, channel] of channels) await closeChannel(channel);
    return { ids: ids.map(([name]) => name), channels: channels.map(([name]) => name) };
  }
}
