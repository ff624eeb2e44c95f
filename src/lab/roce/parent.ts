/** What the process that keeps a guest tells the one that started it, over Node's channel between the two. */
import type { ChildProcess } from 'node:child_process';
import { LabError } from '../error.ts';

type Message =
  | { readonly kind: 'say'; readonly line: string }
  /** The guest takes commands. */
  | { readonly kind: 'ready' }
  /** Another process keeps one. */
  | { readonly kind: 'busy' }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      readonly hint: string | null;
      readonly exit: number;
    };

/** The keeper's side. */
export class Parent {
  #left = false;
  /** Resolves when the parent has gone before it was told the outcome. */
  readonly lost: Promise<void>;

  private constructor() {
    this.lost = new Promise((resolve) => {
      process.once('disconnect', () => {
        if (!this.#left) resolve();
      });
    });
  }

  /** The process that waits for this one, or null. */
  static ofThisProcess(): Parent | null {
    return process.send === undefined ? null : new Parent();
  }

  say(line: string): void {
    this.#send({ kind: 'say', line });
  }

  /** The last message: the parent goes its way. */
  async conclude(outcome: 'ready' | 'busy' | LabError): Promise<void> {
    if (this.#left) return;
    this.#left = true;
    if (outcome instanceof LabError) {
      const { code, message, hint, exit } = outcome;
      await this.#send({ kind: 'failed', code, message, hint, exit });
    } else {
      await this.#send({ kind: outcome });
    }
    this.leave();
  }

  /** Lets go of the channel, which would keep this process alive. */
  leave(): void {
    this.#left = true;
    if (process.connected) process.disconnect();
  }

  #send(message: Message): Promise<void> {
    return new Promise((resolve) => {
      // A parent that has gone is no error here.
      if (process.connected && process.send) process.send(message, undefined, undefined, () => resolve());
      else resolve();
    });
  }
}

/**
 * The parent's side: waits for the outcome. Returns whether the guest is that process's.
 * @throws LabError where the guest did not start
 */
export function outcomeOf(keeper: ChildProcess, say: (line: string) => void): Promise<boolean> {
  let messages = '';
  keeper.stderr?.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  return new Promise((resolve, reject) => {
    keeper.on('message', (message: Message) => {
      if (message.kind === 'say') say(message.line);
      else if (message.kind === 'failed') {
        reject(new LabError(message.code, message.message, message.hint, message.exit));
      } else resolve(message.kind === 'ready');
    });
    keeper.on('error', reject);
    keeper.on('close', (code, signal) => {
      const end = `lab roce: the process that keeps the guest ended (${signal ?? code})`;
      reject(new LabError('guest_died', messages === '' ? end : `${end}: ${messages.trim()}`, null, 1));
    });
  });
}
