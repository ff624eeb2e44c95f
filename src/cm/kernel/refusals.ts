/** Why the kernel's user CM refuses a command: what its errnos mean here, which manual pages do not tell. */
import { constants } from 'node:os';
import type { UcmaCommand } from '../../abi/ucma/command.ts';
import { LINUX } from '../../abi/ucma/linux-commands.ts';
import { errnoText, errnoValue } from '../../explain/errno.ts';
import { Failure } from '../../explain/failure.ts';
import type { KernelCommand } from '../../model/kernel-commands.ts';

const { EACCES, EFAULT, EINVAL, ENODATA, ENOENT, ENOSPC, ENOSYS } = constants.errno;

export interface Refusal {
  readonly meaning: string;
  readonly next: string;
}

/** What a refusal of a well-formed command means; null where nothing is to be said beyond the errno. */
export function refusalOf(name: string, errno: number): Refusal | null {
  const command: UcmaCommand | undefined = Object.values(LINUX).find((known) => known.name === name);
  if (!command) return null;
  switch (errno) {
    case ENOSYS:
      return notImplemented(command);
    case EINVAL:
      // Kernels without the commands before it are of another age.
      return command !== LINUX.RESOLVE_IB_SERVICE && command !== LINUX.WRITE_CM_EVENT
        ? null
        : {
            meaning: `a kernel that does not know the command answers so; it takes ${command.since}`,
            next: 'uname -r tells the kernel; if it is new enough, a value of the command is wrong',
          };
    case ENOENT:
      return {
        meaning: 'the kernel has no id of that number',
        next: 'ids count for the descriptor that made them; it may be destroyed already',
      };
    case ENODATA:
      return {
        meaning: 'the kernel took fewer bytes than were written',
        next: 'this is no kernel that rdmatool knows: --show-bytes shows what was written',
      };
    case EACCES:
      return command === LINUX.BIND_IP || command === LINUX.BIND
        ? null
        : {
            meaning: 'the descriptor works only in the process, and with the rights, that opened it',
            next: 'open it anew: another process, or a change of user, cannot go on with it',
          };
    default:
      return null;
  }
}

function notImplemented(command: UcmaCommand): Refusal {
  if (command === LINUX.GET_OPTION) {
    return {
      meaning:
        'the command has a number and nothing behind it, in every kernel: options of an id can be set and not asked for',
      next: 'remember what you set; query-route and rdma resource show cm_id tell where an id stands',
    };
  }
  if (command === LINUX.SET_OPTION) {
    return {
      meaning: 'the kernel has no option of that level and name',
      next: 'level 0: 0 TOS, 1 REUSEADDR, 2 AFONLY, 3 ACK_TIMEOUT (Linux 5.1); level 1: 1 PATH',
    };
  }
  return {
    meaning: 'the kernel has nothing behind that',
    next: 'uname -r tells the kernel; it may be too old',
  };
}

/** The failure of a write that was put together by hand; null where the kernel took it. */
export function writeFailure({ brief, result, bytes, errno, notes }: KernelCommand): Failure | null {
  if (errno === null) {
    const length = bytes.length / 2;
    if (result === length) return null;
    return new Failure(
      'CM_CALL_FAILED',
      `${brief}: the kernel took ${result} of ${length} bytes`,
      'this is no kernel that rdmatool knows',
    );
  }
  // What the bytes themselves say goes before what may be.
  const fitting = notes.filter((note) => errno.name !== null && note.includes(errno.name));
  const notable = fitting.length > 0 ? fitting : notes;
  const said = notable.length > 0 ? notable.join('; ') : (guess(errno.value) ?? '');
  return new Failure(
    'CM_CALL_FAILED',
    `${brief}: the kernel refuses it: ${errnoText(errno.value)}${said === '' ? '' : `: ${said}`}`,
    'man 7 rdmatool-abi has the structures; rdmatool decode ucma reads the bytes',
    { errno: errnoValue(errno.value) },
  );
}

const guess = (errno: number): string | undefined =>
  new Map<number, string>([
    [ENOENT, 'the kernel has no id of that number'],
    [
      EINVAL,
      'an id of another descriptor, a value that cannot be, or a command that this kernel does not know',
    ],
    [ENOSYS, 'there is nothing behind that number, option or level'],
    [ENOSPC, 'the room for the answer is too small'],
    [EFAULT, 'the structure is shorter than the kernel reads, or an address in it leads nowhere'],
    [EACCES, 'the descriptor works only in the process, and with the rights, that opened it'],
  ]).get(errno);
