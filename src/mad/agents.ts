/** Agents that receive: what they are made from, and how they are shown. */
import { isVendor2, Method, MgmtClass } from '../datagram/classes.ts';
import type { MadAgent } from '../model/mad.ts';
import type { Registration } from './backend.ts';
import { methodNames } from './registration-failure.ts';
import type { MadSession } from './session.ts';

/** An agent that is registered. */
export interface Agent {
  readonly id: number;
  readonly registration: Registration;
}

/** Every method that has a name and is no response. */
export const ALL_METHODS = maskOf(Method.entries.map(([, value]) => value).filter((value) => value < 0x80));

/** A bit for each method. */
export function maskOf(methods: readonly number[]): bigint {
  return methods.reduce((mask, method) => mask | (1n << BigInt(method)), 0n);
}

/** Throws Failure at the first that cannot be registered. */
export const registerAll = (session: MadSession, registrations: readonly Registration[]): Agent[] =>
  registrations.map((registration) => ({ id: session.register(registration), registration }));

export function agentJson({ id, registration }: Agent): MadAgent {
  const { mgmtClass, version, oui, methods, rmpp } = registration;
  return {
    id,
    mgmt_class: { value: mgmtClass, name: MgmtClass.nameOf(mgmtClass) },
    class_version: version,
    oui: isVendor2(mgmtClass) ? `0x${(oui ?? 0).toString(16).padStart(6, '0')}` : null,
    methods: methodNames(methods),
    rmpp_version: rmpp,
  };
}

/** What every object of a stream says of where it is. */
export const placeOf = (session: MadSession) => ({
  device: session.device,
  port: session.portNumber,
  transport: session.transport,
  header_kind: session.header,
});
