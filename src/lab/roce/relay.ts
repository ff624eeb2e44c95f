/** Lets many clients use one guest: each has a connection, and the sessions on it are given numbers of the guest's. */

import type { Duplex } from 'node:stream';
import { FrameType, PROTOCOL, stringBytes, Wire } from './frames.ts';

interface Client {
  readonly wire: Wire;
  /** The client's number of a session to the guest's. */
  readonly sessions: Map<number, number>;
}

export class Relay {
  readonly #guest: Wire;
  readonly #kernel: string;
  readonly #stop: () => void;
  readonly #clients = new Set<Client>();
  /** The guest's number of a session to whose it is; null once that client has gone. */
  readonly #owners = new Map<number, { client: Client; session: number } | null>();
  #last = 0;

  /** @param stop called where a client asks for the end of the guest */
  constructor(guest: Wire, kernel: string, stop: () => void) {
    this.#guest = guest;
    this.#kernel = kernel;
    this.#stop = stop;
    guest.listen(({ session, type, stream, bytes }) => {
      const owner = this.#owners.get(session);
      if (owner) owner.client.wire.send(owner.session, type, stream, bytes);
      if (type !== FrameType.EXITED && type !== FrameType.REFUSED) return;
      this.#owners.delete(session);
      owner?.client.sessions.delete(owner.session);
    });
  }

  add(socket: Duplex): void {
    const wire = new Wire(socket);
    const client: Client = { wire, sessions: new Map() };
    this.#clients.add(client);
    wire.listen(({ session, type, stream, bytes }) => {
      if (type === FrameType.STOP) {
        this.#stop();
        return;
      }
      if (type === FrameType.START) {
        this.#last++;
        client.sessions.set(session, this.#last);
        this.#owners.set(this.#last, { client, session });
      }
      // Frames for a session that has just ended cross its last one.
      const number = client.sessions.get(session);
      if (number !== undefined) this.#guest.send(number, type, stream, bytes);
    });
    wire.send(0, FrameType.HELLO, 0, stringBytes(PROTOCOL, this.#kernel));
    wire.closed.then(() => this.#remove(client));
  }

  close(): void {
    for (const { wire } of this.#clients) wire.close();
  }

  /** However a client went, what it had started goes as well. */
  #remove(client: Client): void {
    this.#clients.delete(client);
    for (const number of client.sessions.values()) {
      this.#owners.set(number, null);
      this.#guest.send(number, FrameType.HANG_UP);
    }
  }
}
