/** Makes the checks from the bottom up, and says which failure is the root of the others. */

import { DEFAULT_PORT, type Endpoint } from '../cm/address.ts';
import { connect, RPING_REQUEST } from '../cm/connect.ts';
import { thisEnvironment } from '../cm/session.ts';
import { queryDevices } from '../devices/query-devices.ts';
import {
  CHECK_STATUSES,
  type CheckId,
  type CheckStatus,
  type DoctorCheck,
  type DoctorPurpose,
  type DoctorResult,
} from '../model/doctor.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { endpointName } from './address.ts';
import { type Check, type Finding, skipped } from './check.ts';
import { CHECKS } from './checks.ts';
import { type DoctorEnvironment, View } from './view.ts';

export interface DoctorRequest {
  /** Only what this needs, and its lacks as failures; null: all that can be looked at. */
  readonly purpose: DoctorPurpose | null;
  /** The way to this address too; it is connected to. */
  readonly peer: Endpoint | null;
}

/** Time for each step of the connection. */
const STEP_MS = 5000;

/** The running machine. */
export function thisDoctorEnvironment(signal: AbortSignal | null): DoctorEnvironment {
  const environment = thisEnvironment(signal);
  return {
    machine: environment.machine,
    queryDevices: () => queryDevices({}, environment.machine),
    connect: (peer) =>
      connect(
        peer,
        RPING_REQUEST,
        {
          portSpace: 'TCP',
          bind: null,
          port: DEFAULT_PORT,
          timeoutMs: STEP_MS,
          tos: null,
          ackTimeout: null,
          reuseAddr: false,
          afOnly: false,
        },
        environment,
      ),
  };
}

/**
 * Looks at the machine from the bottom up. Changes nothing, and sends nothing unless there is an address. Never throws
 * for what the machine lacks.
 */
export async function examine(
  { purpose, peer }: DoctorRequest,
  environment: DoctorEnvironment,
): Promise<DoctorResult> {
  const view = new View(environment, peer === null ? purpose : 'cm', peer);
  for (const check of CHECKS) {
    if (view.purpose !== null && !check.purposes.includes(view.purpose)) continue;
    if (check.ofAddress && peer === null) continue;
    view.found.push(...(await findingsOf(view, check)).map((finding) => entry(check.id, finding)));
  }
  const { found } = view;
  const root = found.find(({ status }) => status === 'failure');
  const count = (wanted: CheckStatus): number => found.filter(({ status }) => status === wanted).length;
  return {
    schema: SCHEMA_IDS.doctor,
    error: null,
    for: view.purpose,
    address: peer === null ? null : endpointName(peer),
    root_cause: root === undefined ? null : { id: root.id, subject: root.subject },
    counts: Object.fromEntries(CHECK_STATUSES.map((status) => [status, count(status)])) as Record<
      CheckStatus,
      number
    >,
    checks: found,
  };
}

async function findingsOf(view: View, check: Check): Promise<readonly Finding[]> {
  const blocking = check.needs.find((id) => isBlocked(view, id));
  if (blocking !== undefined) {
    const root = view.moot.get(blocking) ?? blocking;
    view.moot.set(check.id, root);
    return [skipped(null, `moot before ${root} is repaired`)];
  }
  try {
    return await check.run(view);
  } catch (error) {
    // One check that cannot be made does not keep the others from the user.
    const reason = error instanceof Error ? error.message : String(error);
    return [skipped(null, `could not be looked at: ${reason}`)];
  }
}

/** Whether a check was moot, or has found fault and nothing good beside. One that was not made is in nobody's way. */
function isBlocked(view: View, id: CheckId): boolean {
  if (view.moot.has(id)) return true;
  const statuses = view.found.filter((one) => one.id === id).map(({ status }) => status);
  const isBad = statuses.includes('failure') || statuses.includes('warning');
  return isBad && !statuses.includes('ok');
}

const entry = (id: CheckId, { subject, status, fact, meaning, repair }: Finding): DoctorCheck => ({
  id,
  subject,
  status,
  fact,
  meaning: meaning ?? null,
  repair: repair ?? null,
});
