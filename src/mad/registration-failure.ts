/** Why the kernel does not register an agent: EINVAL alone has eight reasons, which the registration tells apart. */
import { constants } from 'node:os';
import { isVendor2, Method } from '../datagram/classes.ts';
import { hasRmpp, isSmp } from '../datagram/headers.ts';
import { errnoText, errnoValue } from '../explain/errno.ts';
import { Failure } from '../explain/failure.ts';
import { NativeCallError, RefusedFlagsError } from '../native/errors.ts';
import type { Registration } from './backend.ts';
import { classText, deviceGone, GONE } from './failures.ts';

const { EINVAL, ENOMEM, EPROTONOSUPPORT } = constants.errno;
/** The kernel's tables of classes end here; the directed class alone lies beyond. */
const LAST_CLASS = 0x4f;
const MOST_OUI = 0xffffff;

/** The names of the methods of a mask, and numbers where there is none. */
export function methodNames(methods: bigint): string[] {
  return Array.from({ length: 128 }, (_, method) => method)
    .filter((method) => (methods >> BigInt(method)) & 1n)
    .map((method) => Method.nameOf(method) ?? `0x${method.toString(16).padStart(2, '0')}`);
}

interface Reason {
  readonly message: string;
  readonly hint: string;
}

/** What the kernel finds wrong with the registration, where it says EINVAL. */
function reasonOf({ qpn, mgmtClass, oui, methods, rmpp }: Registration): Reason {
  const what = classText(mgmtClass);
  if (qpn !== null && qpn > 1) {
    return {
      message: `there are no agents of queue pair ${qpn}`,
      hint: 'datagrams come to queue pairs 0 and 1 only',
    };
  }
  if (qpn !== null && mgmtClass !== 0 && (qpn === 0) !== isSmp(mgmtClass)) {
    return {
      message: `${what} does not belong to queue pair ${qpn}`,
      hint: 'subnet management (0x01, 0x81) goes over queue pair 0, all else over 1',
    };
  }
  if (mgmtClass > LAST_CLASS && !isSmp(mgmtClass)) {
    return {
      message: `the kernel knows no class 0x${mgmtClass.toString(16)}`,
      hint: 'classes are 0x01 to 0x4f, and 0x81',
    };
  }
  if (oui !== null && oui > MOST_OUI) {
    return {
      message: `the OUI 0x${oui.toString(16)} is too long`,
      hint: 'an OUI has 24 bits, such as 0x001405',
    };
  }
  if (isVendor2(mgmtClass) && !oui) {
    return { message: `${what} is of a vendor, and none was named`, hint: 'give --oui, such as 0x001405' };
  }
  if (rmpp > 1) return { message: `there is no version ${rmpp} of RMPP`, hint: 'it is 1, or 0 for none' };
  if (rmpp === 1 && mgmtClass !== 0 && !hasRmpp(mgmtClass)) {
    return {
      message: `${what} has no long messages (RMPP)`,
      hint: 'SUBN_ADM, DEV_MGMT, DEV_ADM, BIS and the vendor classes 0x30 to 0x4f have; leave out --rmpp',
    };
  }
  if (methods !== 0n) {
    return {
      message: `another agent of the port has ${what} already, for one of the methods ${methodNames(methods).join(', ')}`,
      hint: 'a method of a class goes to one agent: end the program that has it (fuser /dev/infiniband/umad*), or leave the method out with --methods. The kernel itself has CM, and on InfiniBand subnet management and performance in part',
    };
  }
  return {
    message: 'the kernel refuses it',
    hint: 'see dmesg. The simulator of lab ib knows the old header alone beside libibumad: --header old',
  };
}

/** An agent cannot be registered. Throws what is not an error of the call. */
export function registerFailed(title: string, registration: Registration, error: unknown): Failure {
  if (error instanceof RangeError) {
    return new Failure(
      'USAGE',
      `${title}: ${error.message}`,
      '--transport device --header new has room for all of it',
      {
        cause: error,
      },
    );
  }
  if (!(error instanceof NativeCallError)) throw error;
  const { mgmtClass } = registration;
  const options = { errno: errnoValue(error.errno), cause: error };
  const failed = (reason: string, hint: string): Failure =>
    new Failure(
      'REGISTER_FAILED',
      `${title}: no agent for ${classText(mgmtClass)}: ${reason} (${errnoText(error.errno)})`,
      hint,
      options,
    );
  if (GONE.has(error.errno)) return deviceGone(title, 'a registration', error);
  if (error instanceof RefusedFlagsError) {
    const supported =
      error.supported === null
        ? 'libibumad does not pass on which it supports'
        : `it supports 0x${error.supported.toString(16)}`;
    return failed(
      `the kernel does not know all of the flags 0x${registration.flags.toString(16)}; ${supported}`,
      `0x1 leaves RMPP to the program${error.supported === null ? '; --transport device shows the supported mask' : ''}`,
    );
  }
  if (error.errno === EPROTONOSUPPORT) {
    return failed(
      'no subnet management there as the port is Ethernet (RoCE), which has no QP0 and no subnet manager',
      'choose an InfiniBand port with -d and -i; of a RoCE port, rdmatool query-device shows state and GIDs',
    );
  }
  if (error.errno === ENOMEM) {
    return failed(
      'the kernel has no room for it: 32 agents fit an open device, and so many are in use',
      'register fewer at once (--class)',
    );
  }
  if (error.errno === EINVAL) {
    const { message, hint } = reasonOf(registration);
    return failed(message, hint);
  }
  return failed('the kernel refuses it', 'see dmesg; rdmatool query-device shows what the port is');
}
