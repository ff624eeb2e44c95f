/** `rdmatool doctor` on the real kernel: links that go down, addresses that are taken away, connections. */
import { expect, it } from 'vitest';
import type { DoctorResult } from '../../src/model/doctor.ts';
import { parse, useGuest } from './cm/lab.ts';

const guest = useGuest();

/** The document of `doctor ARGS --json` between two scripts of the shell. */
async function doctor(args: string, before = ':', after = ':'): Promise<DoctorResult & { status: number }> {
  const script = `${before}; rdmatool doctor ${args} --json; code=$?; ${after}; exit $code`;
  const { status, stdout, stderr } = await guest.inLab(['sh', '-c', script]);
  const result = parse<DoctorResult>('doctor', stdout);
  expect(status, stderr).toBe(result.counts.failure > 0 ? 1 : 0);
  return { ...result, status: status ?? -1 };
}

const failures = ({ checks }: DoctorResult) => checks.filter(({ status }) => status === 'failure');
const checksOf = (result: DoctorResult, wanted: string) => result.checks.filter(({ id }) => id === wanted);

it('two devices with everything: no failure, and the GID index of each is the one that gid chooses', async () => {
  const result = await doctor('');
  expect(failures(result)).toEqual([]);
  const { stdout } = await guest.inLab(['rdmatool', 'gid', '--json']);
  const gids = parse<{ devices: { name: string; ports: { port: number; choice: { index: number } }[] }[] }>(
    'gid',
    stdout,
  );
  for (const { name, ports } of gids.devices) {
    for (const { port, choice } of ports) {
      const check = checksOf(result, 'gid').find(({ subject }) => subject === `${name}/${port}`);
      expect(check?.fact).toContain(`GID index ${choice.index}:`);
    }
  }
  expect(checksOf(result, 'umad-node').map(({ status }) => status)).toEqual(['ok', 'ok']);
});

it('a network device that is switched off is the root cause, with the command that switches it on', async () => {
  const result = await doctor('', 'ip link set veth0 down', 'ip link set veth0 up');
  expect(result.root_cause).toEqual({ id: 'port', subject: 'rxe0/1' });
  expect(failures(result)[0]).toMatchObject({
    fact: 'rxe0/1 is DOWN, physical state DISABLED: its network device veth0 is down',
    repair: 'ip link set veth0 up',
  });
});

it('a jumbo network device that the port has not followed, or has: the MTU that fits', async () => {
  const result = await doctor(
    '',
    'ip link set veth0 mtu 4300; ip link set veth1 mtu 4300',
    'ip link set veth0 mtu 1500; ip link set veth1 mtu 1500',
  );
  expect(checksOf(result, 'mtu')).toHaveLength(2);
  for (const check of checksOf(result, 'mtu')) {
    const [, active] = /MTU (\d+), network device veth\d 4300/.exec(check.fact) ?? [];
    expect(check.status).toBe(active === '4096' ? 'ok' : 'warning');
  }
});

it('the way to an address, and a connection that rping takes', async () => {
  const server =
    'rping -s -a 10.9.1.1 -p 7188 >/dev/null 2>&1 & server=$!; timeout 30 sh -c "until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done"';
  const result = await doctor('10.9.1.1:7188', server, 'kill $server 2>/dev/null');
  expect(failures(result)).toEqual([]);
  expect(checksOf(result, 'route-device')[0]?.fact).toMatch(
    /^rxe1\/1 would be used, GID index \d+ \(10\.9\.1\.1\)/,
  );
  expect(checksOf(result, 'connect')[0]?.fact).toContain('10.9.1.1:7188 took the connection, over rxe1');
});

it('nobody listens: a failure on a port that was named, a warning on the one that was not', async () => {
  const named = await doctor('10.9.1.1:9999');
  expect(named.root_cause?.id).toBe('connect');
  expect(failures(named)[0]?.fact).toContain('INVALID_SERVICE_ID');
  expect(failures(named)[0]?.meaning).toContain('the way there is good');
  const guessed = await doctor('10.9.1.1');
  expect(failures(guessed)).toEqual([]);
  expect(checksOf(guessed, 'connect')[0]?.status).toBe('warning');
});

it('an address without a route, and one behind a network device without RDMA', async () => {
  const nowhere = await doctor('192.168.77.1');
  expect(failures(nowhere)).toMatchObject([
    { id: 'route', fact: 'no route leads to 192.168.77.1 (ENETUNREACH)' },
  ]);
  const loopback = await doctor('127.0.0.1');
  expect(failures(loopback)).toMatchObject([{ id: 'route-device', subject: 'lo' }]);
});

it('nobody may open umad, which is a failure for mad only', async () => {
  const asNobody = async (args: readonly string[]) => {
    const { stdout } = await guest.inLab([
      'setpriv',
      '--reuid',
      'nobody',
      '--clear-groups',
      'rdmatool',
      'doctor',
      ...args,
      '--json',
    ]);
    return parse<DoctorResult>('doctor', stdout);
  };
  const mad = await asNobody(['--for', 'mad']);
  expect(mad.root_cause).toEqual({ id: 'umad-node', subject: 'rxe0/1' });
  expect(failures(mad)[0]?.fact).toMatch(/user 65534.*EACCES \(13\).*mode 0600, owner root:root/);
  const all = await asNobody([]);
  expect(failures(all)).toEqual([]);
  expect(checksOf(all, 'umad-node').map(({ status }) => status)).toEqual(['warning', 'warning']);
});

it('the node of the connection manager is missing', async () => {
  const missing = await doctor(
    '--for cm',
    'mv /dev/infiniband/rdma_cm /dev/infiniband/kept',
    'mv /dev/infiniband/kept /dev/infiniband/rdma_cm',
  );
  expect(failures(missing)).toMatchObject([{ id: 'rdma_cm-node' }]);
  expect(failures(missing)[0]?.fact).toContain('/dev/infiniband/rdma_cm does not exist');
});
