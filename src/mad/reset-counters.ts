/** Sets the counters of a port to zero: `mad reset-counters`. */

import { requiredAttribute } from '../datagram/attributes.ts';
import { Method, MgmtClass } from '../datagram/classes.ts';
import { NodeType } from '../datagram/codes.ts';
import { Failure } from '../explain/failure.ts';
import type { MadResetResult } from '../model/mad.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { statusFailure } from './failures.ts';
import { nodeInfoOf } from './get.ts';
import { targetJson } from './results.ts';
import type { MadSession } from './session.ts';
import type { Target } from './target.ts';

export interface ResetOptions {
  readonly target: Target;
  readonly portNum: number | null;
  readonly allPorts: boolean;
  /** PortCountersExtended too; agents without it refuse. */
  readonly extended: boolean;
}

const ALL_COUNTERS = { counter_select: 0xffff, counter_select2: 0xff } as const;
/** The error counters of PortCountersExtended have the low bits of this mask. */
const ALL_EXTENDED = { counter_select: 0xff, counter_select2: 0x3fff } as const;

/** Throws Failure where there is no answer. */
export async function resetCounters(session: MadSession, options: ResetOptions): Promise<MadResetResult> {
  const { target } = options;
  const info = await nodeInfoOf(session, target);
  const count = Number(info['num_ports']);
  const isSwitch = info['node_type'] === NodeType.valueOf('SWITCH');
  if (isSwitch && options.portNum === null && !options.allPorts) {
    throw new Failure(
      'USAGE',
      `the node is a switch with ${count} ports`,
      'say which: --port-num N, or --all-ports',
    );
  }
  if (options.portNum !== null && options.portNum !== 255 && options.portNum > count) {
    throw new Failure(
      'NO_SUCH_PORT',
      `there is no port ${options.portNum} on the node`,
      `it has ports 1 to ${count}`,
    );
  }
  const numbers = options.allPorts
    ? Array.from({ length: count }, (_, index) => index + 1)
    : [options.portNum ?? Number(info['local_port_num'])];
  const names = ['PortCounters', ...(options.extended ? ['PortCountersExtended'] : [])];
  let lid: number | null = null;
  const ports = await Promise.all(
    numbers.flatMap((portNum) =>
      names.map(async (name): Promise<MadResetResult['ports'][number]> => {
        const { mad, reply } = await session.ask({
          attribute: requiredAttribute(name, 'performance'),
          mgmtClass: MgmtClass.valueOf('PERF'),
          method: Method.valueOf('Set'),
          fields: { port_select: portNum, ...(name === 'PortCounters' ? ALL_COUNTERS : ALL_EXTENDED) },
          target,
        });
        lid ??= reply.header.lid;
        const failure =
          mad.status === 0 ? null : statusFailure(`Set ${name}`, mad.header.mgmt_class, mad.status);
        return { port_num: portNum, attribute: name, error: failure?.toJSON() ?? null };
      }),
    ),
  );
  return {
    schema: SCHEMA_IDS.madReset,
    error: ports.find(({ error }) => error !== null)?.error ?? null,
    device: session.device,
    port: session.portNumber,
    target: targetJson(target, lid),
    ports,
  };
}
