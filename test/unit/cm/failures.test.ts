import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { checkAvailable } from '../../../src/cm/availability.ts';
import { callFailed, type Place } from '../../../src/cm/failures.ts';
import { MissingSymbolError, NativeCallError } from '../../../src/native/errors.ts';
import { parseLockedMemoryLimit } from '../../../src/system/this-machine.ts';
import { type MachineFacts, machineOf } from './machine.ts';

const RXE: MachineFacts = { folders: { 'class/infiniband': ['rxe0'] } };

describe('checkAvailable', () => {
  it.each<[string, MachineFacts, string, string]>([
    ['no RDMA core', {}, 'NO_DEVICE', 'ib_core'],
    ['no device', { folders: { 'class/infiniband': [] } }, 'NO_DEVICE', 'shows no device'],
    ['no module', RXE, 'NO_MODULE', 'rdma_ucm is not loaded'],
    [
      'no node',
      { folders: { ...RXE.folders, 'class/misc/rdma_cm': ['dev'] } },
      'NO_NODE',
      'though the module rdma_ucm is loaded',
    ],
    ['a closed node', { ...RXE, nodes: { rdma_cm: constants.errno.EACCES } }, 'NO_PERMISSION', 'EACCES (13)'],
    [
      'only EFA',
      {
        folders: { 'class/infiniband': ['rdmap0s6'] },
        files: { 'class/infiniband/rdmap0s6/device/uevent': 'DRIVER=efa\nPCI_ID=1D0F:EFA2' },
        nodes: { rdma_cm: 0 },
      },
      'NO_DEVICE',
      'EFA has no RDMA connection manager, and there are only EFA devices here: rdmap0s6',
    ],
  ])('%s', (_name, facts, code, words) => {
    expect(() => checkAvailable(machineOf(facts))).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
  });

  it('offers a lab that has a connection manager', () => {
    expect(() => checkAvailable(machineOf({}))).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('rdmatool lab run roce') }),
    );
  });

  it('is content where a device and the node are there', () => {
    expect(() => checkAvailable(machineOf({ ...RXE, nodes: { rdma_cm: 0 } }))).not.toThrow();
  });
});

describe('callFailed', () => {
  const place = (step: string, facts: MachineFacts = {}): Place => ({
    step,
    portSpace: 'TCP',
    local: { family: 'ipv4', address: '10.9.0.1', port: 7174, scopeId: 0 },
    peer: null,
    device: 'rxe0',
    machine: machineOf(facts),
  });
  const failed = (step: string, errno: number, facts?: MachineFacts) =>
    callFailed(new NativeCallError(`rdma_${step}`, errno), place(step, facts));

  it('names the limit of locked memory', () => {
    const failure = failed('create_qp', constants.errno.ENOMEM, { lockedMemory: 65536 });
    expect(failure).toMatchObject({ code: 'MEMLOCK_LIMIT', errno: { name: 'ENOMEM' } });
    expect(failure.message).toContain('may lock 65536 bytes (ulimit -l)');
    expect(failure.hint).toContain('ulimit -l unlimited');
  });

  it('names the nodes that are closed, where a device seems to be missing', () => {
    const failure = failed('bind_addr', constants.errno.ENODEV, {
      folders: { 'class/infiniband_verbs': ['abi_version', 'uverbs0'] },
      files: { 'class/infiniband_verbs/uverbs0/ibdev': 'rxe0' },
      nodes: { uverbs0: constants.errno.EACCES },
    });
    expect(failure).toMatchObject({ code: 'NO_PERMISSION', exitStatus: 77 });
    expect(failure.message).toContain('rxe0 (/dev/infiniband/uverbs0: EACCES)');
  });

  it('does not blame them for what the kernel itself says', () => {
    const facts = {
      folders: { 'class/infiniband_verbs': ['abi_version', 'uverbs0'] },
      files: { 'class/infiniband_verbs/uverbs0/ibdev': 'rxe0' },
      nodes: { uverbs0: constants.errno.EACCES },
    };
    const failure = callFailed(
      new NativeCallError('BIND_IP', constants.errno.ENODEV),
      place('bind_addr', facts),
    );
    expect(failure).toMatchObject({ code: 'NO_DEVICE', errno: { name: 'ENODEV' } });
    expect(failure.message).not.toContain('librdmacm');
  });

  it('says which option or port space an EINVAL is about', () => {
    const { EINVAL } = constants.errno;
    expect(failed('set_option ACK_TIMEOUT', EINVAL).hint).toContain('leave --ack-timeout away');
    const ipoib = { ...place('bind_addr'), portSpace: 'IPOIB' as const };
    expect(callFailed(new NativeCallError('rdma_bind_addr', EINVAL), ipoib).message).toContain(
      'needs an InfiniBand port',
    );
  });

  it('names the release that has a function', () => {
    const error = new MissingSymbolError('librdmacm.so.1', 'rdma_init_qp_attr', 23);
    expect(callFailed(error, place('init_qp_attr'))).toMatchObject({
      code: 'NO_SYMBOL',
      message: 'init_qp_attr: librdmacm.so.1 has no rdma_init_qp_attr; it needs rdma-core 23 or newer',
    });
  });

  it('says something of every errno', () => {
    for (const errno of Object.values(constants.errno)) {
      for (const step of ['bind_addr', 'resolve_addr', 'resolve_route', 'create_qp', 'connect', 'listen']) {
        const failure = failed(step, errno);
        expect(failure.message).toContain('10.9.0.1:7174 (rxe0)');
        expect(failure.hint).not.toBe('');
      }
    }
  });
});

it('parseLockedMemoryLimit', () => {
  expect(
    parseLockedMemoryLimit('Max locked memory         65536                65536                bytes'),
  ).toBe(65536);
  expect(
    parseLockedMemoryLimit('Max locked memory         unlimited            unlimited            bytes'),
  ).toBe(Number.POSITIVE_INFINITY);
  expect(parseLockedMemoryLimit('')).toBeNull();
});
