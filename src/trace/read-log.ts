/** A log of strace, from a file or as it grows, as what it says to the RDMA devices. */
import { StraceTextError } from '../decode/strace-string.ts';
import { Failure } from '../explain/failure.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { TraceEntry, TraceSummary } from '../model/trace.ts';
import { DeviceCalls } from './calls.ts';
import { StraceLog } from './strace-log.ts';
import { Tallies } from './summary.ts';

/** Takes a log line by line. */
export class LogReader {
  readonly #log = new StraceLog();
  readonly #calls = new DeviceCalls();
  readonly #tallies = new Tallies();
  #lines = 0;

  /** The call on an RDMA device that this line completes, or null. */
  line(text: string): TraceEntry | null {
    this.#lines += 1;
    const call = this.#log.take(text);
    return call === null ? null : this.#entry(call);
  }

  /** The calls that the log does not see the end of. */
  rest(): TraceEntry[] {
    return this.#log.rest().flatMap((call) => this.#entry(call) ?? []);
  }

  /** @param exitStatus of the program, where one was run */
  summary(exitStatus: number | null): TraceSummary {
    const { damaged } = this.#log;
    return {
      schema: SCHEMA_IDS.traceSummary,
      error: this.#failure(exitStatus)?.toJSON() ?? null,
      exit_status: exitStatus,
      lines: this.#lines,
      calls: this.#tallies.rows(),
      damaged: damaged.map((each) => ({ ...each, text: each.text.slice(0, 200) })),
    };
  }

  #entry(call: Parameters<DeviceCalls['take']>[0]): TraceEntry | null {
    try {
      const entry = this.#calls.take(call);
      if (entry !== null) this.#tallies.add(entry);
      return entry;
    } catch (error) {
      // Its arguments are not what strace writes.
      if (!(error instanceof StraceTextError)) throw error;
      this.#log.damage({ line: call.line, text: call.args.join(', '), reason: error.message });
      return null;
    }
  }

  #failure(exitStatus: number | null): Failure | null {
    const [first] = this.#log.damaged;
    if (first !== undefined) {
      const more = this.#log.damagedLines - 1;
      return new Failure(
        'DAMAGED_LOG',
        `line ${first.line} is not what strace writes: ${first.reason}${more > 0 ? `; and ${more} more ${more === 1 ? 'line' : 'lines'}` : ''}`,
        "let strace write to a file (strace -f -ttt -T -xx -s 4096 -o FILE), so that the program's own output stays out",
      );
    }
    if (this.#tallies.rows().length === 0 && exitStatus === null) {
      return new Failure(
        'NOT_TRACED',
        `${this.#lines} lines, and no call on /dev/infiniband/rdma_cm, umadN or issmN in them`,
        'record with strace -f, from the start of the program, with openat, write, read and ioctl among the calls',
      );
    }
    return null;
  }
}
