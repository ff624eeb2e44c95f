/** Which descriptors of which process are open on the RDMA devices, as a log of calls tells. */
import { stringArgument } from '../decode/strace-string.ts';
import { descriptorArgument } from './strace-line.ts';
import type { LoggedCall } from './strace-log.ts';

/** What a trace follows. */
export type DeviceKind = 'rdma_cm' | 'umad' | 'issm';

/** An open device. Descriptors that were duplicated or inherited share it. */
export interface OpenDevice {
  readonly path: string;
  readonly kind: DeviceKind;
}

/** The kind of device at a path, null where it is none of ours. */
export function deviceKind(path: string): DeviceKind | null {
  const [, kind] = /^\/dev\/(?:infiniband\/)?(rdma_cm|umad|issm)(?:\d+)?$/.exec(path) ?? [];
  return kind === 'rdma_cm' || kind === 'umad' || kind === 'issm' ? kind : null;
}

interface Entry {
  readonly device: OpenDevice;
  readonly closesOnExec: boolean;
}
type Table = Map<number, Entry>;

/** Descriptor tables by thread. Threads share theirs; a forked process has a copy. */
export class Descriptors {
  readonly #tables = new Map<number | null, Table>();
  #last: Table = new Map();

  /** The device that a call is about, and what the call does to the tables; null for all other calls. */
  follow(call: LoggedCall): OpenDevice | null {
    const table = this.#tableOf(call.pid);
    switch (call.name) {
      case 'open':
      case 'openat':
      case 'openat2':
        return this.#opened(call, table);
      case 'dup':
      case 'dup2':
      case 'dup3':
      case 'fcntl':
        this.#duplicated(call, table);
        return null;
      case 'clone':
      case 'clone3':
      case 'fork':
      case 'vfork':
        this.#forked(call, table);
        return null;
      case 'execve':
      case 'execveat':
        if (call.result.errno === null) {
          for (const [fd, entry] of table) if (entry.closesOnExec) table.delete(fd);
        }
        return null;
      case 'close_range':
        this.#closedRange(call, table);
        return null;
      case 'close': {
        const device = this.#deviceAt(call.args[0] ?? '', table);
        const fd = descriptorArgument(call.args[0] ?? '')?.fd;
        if (fd !== undefined && call.result.errno === null) table.delete(fd);
        return device;
      }
      case 'read':
      case 'write':
      case 'ioctl':
        return this.#deviceAt(call.args[0] ?? '', table);
      case 'poll':
      case 'ppoll':
        return this.#polled(call.args[0] ?? '', table);
      default:
        return null;
    }
  }

  #tableOf(pid: number | null): Table {
    // A thread whose start is not in the log is taken for one of the process that was heard last.
    const table = this.#tables.get(pid) ?? this.#last;
    this.#tables.set(pid, table);
    this.#last = table;
    return table;
  }

  #opened(call: LoggedCall, table: Table): OpenDevice | null {
    const argument = call.args.map(stringArgument).find((text) => text !== null);
    const path = call.result.path ?? Buffer.from(argument?.bytes ?? []).toString('utf8');
    const kind = deviceKind(path);
    const fd = call.result.value;
    if (kind === null) {
      // An unseen close.
      if (fd !== null) table.delete(fd);
      return null;
    }
    const device = { path, kind };
    if (fd !== null && call.result.errno === null) {
      table.set(fd, { device, closesOnExec: call.args.some((arg) => arg.includes('O_CLOEXEC')) });
    }
    return device;
  }

  #deviceAt(argument: string, table: Table): OpenDevice | null {
    const given = descriptorArgument(argument);
    if (given === null) return null;
    const known = table.get(given.fd)?.device;
    if (given.path === null) return known ?? null;
    const kind = deviceKind(given.path);
    if (kind === null) {
      table.delete(given.fd);
      return null;
    }
    if (known?.path === given.path) return known;
    const device = { path: given.path, kind };
    table.set(given.fd, { device, closesOnExec: false });
    return device;
  }

  /** The first of ours among `[{fd=3, events=POLLIN}, ...]`. */
  #polled(argument: string, table: Table): OpenDevice | null {
    for (const [, descriptor] of argument.matchAll(/\bfd=(\d+(?:<(?:[^>\\]|\\.)*>)?)/g)) {
      const device = this.#deviceAt(descriptor ?? '', table);
      if (device !== null) return device;
    }
    return null;
  }

  #duplicated({ name, args, result }: LoggedCall, table: Table): void {
    if (name === 'fcntl' && !/^F_DUPFD/.test(args[1] ?? '')) return;
    const from = descriptorArgument(args[0] ?? '')?.fd;
    const entry = from === undefined ? undefined : table.get(from);
    if (result.value === null || result.errno !== null) return;
    if (entry === undefined) table.delete(result.value);
    else table.set(result.value, { ...entry, closesOnExec: args.some((arg) => arg.includes('CLOEXEC')) });
  }

  #forked({ name, args, result }: LoggedCall, table: Table): void {
    if (result.value === null || result.value <= 0) return;
    const shares = name.startsWith('clone') && args.some((arg) => arg.includes('CLONE_FILES'));
    this.#tables.set(result.value, shares ? table : new Map(table));
  }

  #closedRange({ args, result }: LoggedCall, table: Table): void {
    const first = Number(args[0]);
    const last = /^~0U?$/.test(args[1] ?? '') ? Number.POSITIVE_INFINITY : Number(args[1]);
    if (result.errno !== null || args[2] !== '0') return;
    for (const fd of table.keys()) if (fd >= first && fd <= last) table.delete(fd);
  }
}
