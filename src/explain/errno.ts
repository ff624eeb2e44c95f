import { constants } from 'node:os';

/** errno values that Node's table leaves out; numbers of x86-64 and arm64 Linux. */
const MORE = {
  ENOTBLK: 15,
  ECHRNG: 44,
  ENONET: 64,
  EREMOTE: 66,
  ECOMM: 70,
  ENOTUNIQ: 76,
  ESHUTDOWN: 108,
  EHOSTDOWN: 112,
  EUCLEAN: 117,
  EREMOTEIO: 121,
  ENOMEDIUM: 123,
  ENOKEY: 126,
  ERFKILL: 132,
  // Of the kernel's own: it should not come out, and does.
  ENOTSUPP: 524,
} as const;

// EWOULDBLOCK and EOPNOTSUPP have second names (EAGAIN, ENOTSUP); the one that verbs use wins.
const NAMES = new Map<number, string>([
  ...Object.entries(MORE).map(([name, value]): [number, string] => [value, name]),
  ...Object.entries(constants.errno).map(([name, value]): [number, string] => [value, name]),
  [11, 'EAGAIN'],
  [95, 'EOPNOTSUPP'],
]);

const MEANINGS: Readonly<Record<string, string>> = {
  EPERM: 'operation not permitted',
  ENOENT: 'no such file',
  EIO: 'input/output error: the device did not answer, or has been reset',
  ENXIO: 'no such device or address',
  EAGAIN: 'try again: a resource is busy for now',
  ENOMEM: 'not enough memory, or the locked memory limit is too low',
  EACCES: 'permission denied',
  EFAULT: 'bad address',
  EBUSY: 'the device or resource is busy',
  ENODEV: 'no such device',
  EPIPE: 'the other end, or the device, has gone',
  EINVAL: 'an argument is not valid for this device, driver or library',
  EMFILE: 'too many open files in this process',
  ENOSPC: 'no room: a table or a buffer is full',
  ENOSYS: 'the kernel or library has no such call',
  ENODATA: 'no data: the entry is empty',
  EPROTONOSUPPORT: 'the protocol is not supported',
  EOPNOTSUPP: 'the operation is not supported by this device or driver',
  ENOTSUPP: 'the kernel or its driver does not support this',
  ETIMEDOUT: 'timed out',
  ECONNREFUSED: 'connection refused',
  EADDRINUSE: 'the address and port are in use',
  EADDRNOTAVAIL: 'the address is not one of this machine',
  EAFNOSUPPORT: 'the address family is not supported',
  ENETUNREACH: 'no route to that network',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETDOWN: 'the network device is down',
  ECONNRESET: 'the connection was reset by the peer',
  ENOTCONN: 'there is no connection',
  EISCONN: 'there is a connection already',
};

/** An errno by number and name, as JSON has it. */
export interface ErrnoValue {
  readonly value: number;
  readonly name: string;
}

export function errnoName(value: number): string {
  return NAMES.get(value) ?? `errno ${value}`;
}

export function errnoValue(value: number): ErrnoValue {
  return { value, name: errnoName(value) };
}

/** What an errno of that name means; null where nothing is known of it. */
export const meaningOfErrno = (name: string): string | null => MEANINGS[name] ?? null;

export function errnoMeaning(value: number): string {
  return MEANINGS[errnoName(value)] ?? 'see errno(3)';
}

/** `EACCES (13), permission denied`. */
export function errnoText(value: number): string {
  return `${errnoName(value)} (${value}), ${errnoMeaning(value)}`;
}
