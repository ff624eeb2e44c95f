import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { CmEventType } from '../../../src/abi/rdmacm-codes.ts';
import { TransportType } from '../../../src/abi/verbs-codes.ts';
import {
  type CmOccurrence,
  cmEventFailure,
  explainCmEvent,
  statusName,
} from '../../../src/explain/cm-events.ts';
import { REJECT_REASONS } from '../../../src/explain/cm-reject-reasons.ts';
import { SIDR_STATUSES } from '../../../src/explain/cm-sidr-statuses.ts';

const at = (event: string, status: number, more: Partial<CmOccurrence> = {}): CmOccurrence => ({
  event: CmEventType.entries.find(([name]) => name === event)?.[1] ?? 99,
  status,
  portSpace: 'TCP',
  transport: TransportType.valueOf('IB'),
  device: 'rxe0',
  local: '10.9.0.1:4000',
  peer: '10.9.1.1:7174',
  ...more,
});

describe('explainCmEvent', () => {
  it('knows every reason from 1 to 35 but 34, which is not assigned', () => {
    const all = Array.from({ length: 35 }, (_, index) => index + 1);
    expect([...REJECT_REASONS.keys()]).toEqual(all.filter((reason) => reason !== 34));
    for (const reason of REJECT_REASONS.keys()) {
      const failure = cmEventFailure(at('REJECTED', reason));
      expect(failure).toMatchObject({ code: 'REJECTED', exitStatus: 1 });
      expect(failure?.message).toContain(`RDMA_CM_EVENT_REJECTED (8), reason ${reason} `);
      expect(failure?.message).toContain('10.9.0.1:4000 (rxe0) to 10.9.1.1:7174');
      expect(failure?.hint).not.toBe('');
    }
    expect(new Set([...REJECT_REASONS.values()].map(({ name }) => name)).size).toBe(34);
  });

  it('knows the answers to datagram requests', () => {
    expect([...SIDR_STATUSES.keys()]).toEqual([1, 2, 3, 4, 5]);
    const failure = cmEventFailure(at('UNREACHABLE', 1, { portSpace: 'UDP' }));
    expect(failure).toMatchObject({ code: 'REJECTED' });
    expect(failure?.message).toContain('status 1 UNSUPPORTED: nobody listens');
  });

  it.each([
    ['ADDR_ERROR', -constants.errno.ENODEV, 'NO_DEVICE', 69],
    ['ADDR_ERROR', -constants.errno.ETIMEDOUT, 'TIMED_OUT', 75],
    ['ADDR_ERROR', -constants.errno.ENETUNREACH, 'NO_ROUTE', 1],
    ['ROUTE_ERROR', -constants.errno.ETIMEDOUT, 'TIMED_OUT', 75],
    ['ROUTE_ERROR', -constants.errno.EINVAL, 'CM_EVENT_FAILED', 1],
    ['UNREACHABLE', -constants.errno.ETIMEDOUT, 'UNREACHABLE', 75],
    ['CONNECT_ERROR', -constants.errno.EINVAL, 'CM_EVENT_FAILED', 1],
    ['DEVICE_REMOVAL', 0, 'DEVICE_REMOVED', 69],
    ['REJECTED', -constants.errno.ECONNREFUSED, 'REJECTED', 1],
    ['MULTICAST_ERROR', -constants.errno.ENETDOWN, 'CM_EVENT_FAILED', 1],
  ])('%s %i is %s', (event, status, code, exitStatus) => {
    expect(cmEventFailure(at(event, status))).toMatchObject({ code, exitStatus });
  });

  it('takes a rejection over iWARP as an errno', () => {
    const failure = cmEventFailure(
      at('REJECTED', -constants.errno.ECONNRESET, { transport: TransportType.valueOf('IWARP') }),
    );
    expect(failure?.message).toContain('ECONNRESET (104)');
  });

  it('has no failure in what is none, and a word for every event', () => {
    const good = ['ADDR_RESOLVED', 'ROUTE_RESOLVED', 'CONNECT_REQUEST', 'ESTABLISHED', 'DISCONNECTED'];
    for (const event of [...good, 'TIMEWAIT_EXIT', 'ADDR_CHANGE']) {
      expect(cmEventFailure(at(event, 0))).toBeNull();
    }
    for (const [event] of CmEventType.entries) {
      expect(explainCmEvent(at(event, 0)).meaning).not.toBe('');
    }
    expect(cmEventFailure(at('DISCONNECTED', -constants.errno.ETIMEDOUT))).toBeNull();
  });

  it('loses no number that it does not know', () => {
    expect(explainCmEvent(at('none', 5)).event).toBe('event 99');
    expect(cmEventFailure(at('REJECTED', 77))?.message).toContain('reason 77');
    expect(statusName(at('REJECTED', 77))).toBeNull();
    expect(statusName(at('ADDR_ERROR', -9999))).toBe('errno 9999');
  });
});
