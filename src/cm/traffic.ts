/** Waiting for completions: with a deadline, until Ctrl-C, and no longer than the connection stands. */
import { performance } from 'node:perf_hooks';
import { WcOpcode, WcStatus } from '../abi/verbs-work.ts';
import type { Failure } from '../explain/failure.ts';
import { completionFailure } from '../explain/wc-status.ts';
import type { CmCompletion } from '../model/cm-exchange.ts';
import { interrupted } from './channel.ts';
import type { DataPath, WorkCompletion } from './data-path.ts';

export const isReceive = ({ opcode }: WorkCompletion): boolean =>
  opcode === WcOpcode.valueOf('RECV') || opcode === WcOpcode.valueOf('RECV_RDMA_WITH_IMM');

/** How long the event loop may stand still at most. */
const LONGEST_TURN_MS = 5;

export class Traffic {
  readonly #ready: WorkCompletion[] = [];
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  #turned = performance.now();
  #ended: Failure | null = null;
  #failed: CmCompletion | null = null;

  constructor(
    readonly path: DataPath,
    private readonly interruption: AbortSignal | null,
  ) {
    this.#signal = interruption ? AbortSignal.any([interruption, this.#ending.signal]) : this.#ending.signal;
  }

  /** The connection is over: whoever waits, now or later, fails with this once there are no completions left. */
  end(reason: Failure): void {
    this.#ended ??= reason;
    this.#ending.abort();
  }

  /** The completion that failed, null while none has. */
  get failed(): CmCompletion | null {
    return this.#failed;
  }

  /**
   * The next completion, or null when the time is over. Throws Failure: COMPLETION_FAILED or UNREACHABLE for one
   * that did not succeed, INTERRUPTED, and what `end` was told.
   * @param what is under way, for the message: `ping 3 of 10 to 10.9.1.1:7174`
   */
  async next(timeoutMs: number, what: string): Promise<WorkCompletion | null> {
    const until = performance.now() + timeoutMs;
    if (performance.now() - this.#turned > LONGEST_TURN_MS) {
      // Answers that are always there already must not keep Ctrl-C and everything else waiting.
      await new Promise((resolve) => setImmediate(resolve));
      this.#turned = performance.now();
    }
    while (this.#ready.length === 0) {
      if (this.interruption?.aborted) throw interrupted(what);
      const left = Math.max(0, until - performance.now());
      this.#ready.push(...(await this.path.completions(left, this.#signal)));
      if (this.#ready.length > 0) break;
      if (this.interruption?.aborted) throw interrupted(what);
      if (this.#ended) throw this.#ended;
      if (performance.now() >= until) return null;
    }
    const completion = this.#ready.shift() ?? null;
    if (completion !== null && completion.status !== 0) throw this.#failure(completion, what);
    return completion;
  }

  #failure({ status, vendor_err }: WorkCompletion, what: string): Failure {
    this.#failed ??= { status: WcStatus.show(status), vendor_err };
    // Requests that are given back say nothing where it is known why the connection ended.
    if (this.#ended && WcStatus.nameOf(status) === 'WR_FLUSH_ERR') return this.#ended;
    return completionFailure(what, status, vendor_err);
  }
}
