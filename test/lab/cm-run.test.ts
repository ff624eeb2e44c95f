/** Scripts of the connection manager's operations, on the real kernel. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { BACKENDS, LEFT, parse, RIGHT, resources, SERVING, said, useGuest } from './cm/lab.ts';
import { type Outcome, REPOSITORY } from './roce/tools.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();

/** What the tests look at in an object of the stream. */
interface RunObject {
  readonly error: { readonly code: string; readonly errno: { readonly name: string } | null } | null;
  readonly line: number | null;
  readonly operation: string | null;
  readonly id: string | null;
  readonly state: string | null;
  readonly ok: boolean;
  readonly failure_expected: boolean;
  readonly result: { readonly [key: string]: unknown } | null;
}

const objects = ({ stdout }: Outcome): RunObject[] =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => parse<RunObject>('cm-run', line));
const run = (script: string) => place.inLab(['rdmatool', 'cm', 'run', '-', '--json'], { input: script });

describe('the examples', () => {
  it.each(readdirSync(join(REPOSITORY, 'examples/cm')))('%s runs as it is', async (name) => {
    const outcome = await place.inLab(['rdmatool', 'cm', 'run', `examples/cm/${name}`, '--json']);
    expect(outcome, said(outcome)).toMatchObject({ status: 0 });
    const steps = objects(outcome);
    expect(steps.every(({ ok }) => ok)).toBe(true);
    expect(steps.at(-1)).toMatchObject({ operation: 'take-down' });
  });

  it('leave nothing behind', async () => {
    expect(await resources(place)).toMatch(/^rxe0: .* cm_id 0 .* ctx 0 .*\nrxe1: .* cm_id 0 .* ctx 0 .*\n$/);
  });
});

describe('a script', () => {
  it('says what the kernel says', async () => {
    const steps = objects(
      await run(
        `create-id a\nset-option a tos 0x28\nbind a ${LEFT}\nresolve-addr a ${RIGHT}:7174\nget-event a ADDR_RESOLVED\nresolve-route a\nget-event a ROUTE_RESOLVED\nquery-route a addr\nquery-route a path\nquery-route a gid\ninit-qp-attr a INIT`,
      ),
    );
    const result = (line: number) => steps.find((step) => step.line === line)?.result;
    expect(result(8)).toMatchObject({
      local: { addr: LEFT },
      peer: { addr: RIGHT, port: 7174 },
      device: 'rxe0',
      ib_port: 1,
    });
    // The type of service becomes the traffic class of the path.
    expect(result(9)).toMatchObject({ paths: [{ traffic_class: 0x28, dgid: `::ffff:${RIGHT}` }] });
    expect(result(10)).toEqual({ sgid: `::ffff:${LEFT}`, dgid: `::ffff:${RIGHT}`, pkey: '0xffff' });
    expect(result(11)).toMatchObject({
      qp_attr: { qp_state: { name: 'INIT' }, qp_attr_mask: { value: '0x39' } },
    });
    expect(steps.at(-2)).toMatchObject({ operation: 'init-qp-attr', state: 'route resolved' });
  });

  it('talks to a script in another process, and to ucmatose', async () => {
    const server = place.startInLab(['rdmatool', 'cm', 'run', '-', '--json'], {
      input: [
        'create-id l',
        `bind l ${RIGHT}:7230`,
        'listen l',
        'get-event l CONNECT_REQUEST within 90s data ping as first',
        'create-qp first',
        'accept first --private-data pong',
        'get-event first ESTABLISHED within 30s',
        'get-event first DISCONNECTED within 30s',
        'disconnect first',
        'get-event l CONNECT_REQUEST within 90s as second',
        'create-qp second',
        'accept second',
        'get-event second ESTABLISHED within 30s',
        'disconnect second',
        'get-event second DISCONNECTED within 30s',
      ].join('\n'),
    });
    await server.said('"operation":"listen"');
    const client = await run(
      `create-id a\nresolve-addr a ${RIGHT}:7230 --from ${LEFT}\nget-event a ADDR_RESOLVED\nresolve-route a\nget-event a ROUTE_RESOLVED\ncreate-qp a\nconnect a --private-data ping\nget-event a ESTABLISHED data pong within 60s\ndisconnect a\nget-event a DISCONNECTED within 60s`,
    );
    expect(client.status, said(client)).toBe(0);
    const peer = await place.inLab(['ucmatose', '-s', RIGHT, '-b', LEFT, '-p', '7230', '-c', '1', '-C', '0']);
    expect(peer.stdout).toContain('return status 0');
    const outcome = await server.outcome;
    expect(outcome.status, said(outcome)).toBe(0);
  });

  it('ends at the line that fails, and takes everything down', async () => {
    const outcome = await run(`create-id a\nbind a ${LEFT}\n\nbind a ${LEFT}\ncreate-id b`);
    expect(outcome.status).toBe(1);
    expect(said(outcome)).toContain(`stdin:4: bind a ${LEFT}: bind_addr: not possible now: the id is bound`);
    expect(objects(outcome).map(({ line, operation, ok }) => [line, operation, ok])).toEqual([
      [1, 'create-id', true],
      [2, 'bind', true],
      [4, 'bind', false],
      [null, 'take-down', true],
    ]);
  });

  it.each<[string, string, number, string]>([
    ['another event', 'get-event a ROUTE_RESOLVED within 20s', 1, 'ADDR_RESOLVED came, not ROUTE_RESOLVED'],
    ['no event', 'get-event a within 20s\nget-event a within 100ms', 75, 'no event within 100 ms'],
    ['a failure that does not come', '! get-event a within 20s', 1, 'it was to fail, and did not fail'],
    [
      'another failure',
      '!EINVAL get-event a ADDR_ERROR within 20s',
      1,
      'it was to fail with EINVAL, and failed otherwise',
    ],
  ])('fails for %s', async (_name, line, status, words) => {
    const outcome = await run(`create-id a\nbind a ${LEFT}\nresolve-addr a ${RIGHT}\n${line}`);
    expect(outcome.status).toBe(status);
    expect(said(outcome)).toContain(words);
    expect(objects(outcome).at(-1)).toMatchObject({ operation: 'take-down', result: { ids: ['a'] } });
  });

  it('with a mistake is not begun', async () => {
    const outcome = await run('create-id a\nlisten b\nconect a');
    expect(outcome.status).toBe(2);
    expect(objects(outcome)).toMatchObject([
      { line: 2, column: 8, error: { code: 'SCRIPT_INVALID' } },
      { line: 3, column: 1, error: { code: 'SCRIPT_INVALID' } },
    ]);
    expect(outcome.stderr).toContain('did you mean connect?');
  });

  it('is taken down on Ctrl-C', async () => {
    const script = `create-id l\nbind l ${RIGHT}:7231\nlisten l\nget-event l within 10m`;
    const outcome = await place.inLab([
      'bash',
      '-c',
      `${SERVING}
       serve rdmatool cm run - --json <<< '${script}'
       until_said listen; sleep 1; kill -INT $server; served; r=$?; cat $said; exit $r`,
    ]);
    expect(outcome.status).toBe(130);
    expect(objects(outcome).slice(-2)).toMatchObject([
      { line: 4, ok: false, error: { code: 'INTERRUPTED' } },
      { operation: 'take-down', result: { ids: ['l'], channels: ['default'] } },
    ]);
    expect((await place.inLab(['rdma', 'resource', 'show', 'cm_id'])).stdout).not.toContain(':7231');
  });

  it.each(BACKENDS)('sees the address move to other hardware, through $backend', async ({ words }) => {
    const bond = '10.9.9.1';
    const onBond = (text: string) => place.inLab(['bash', '-ec', text]);
    const made = await onBond(
      `ip link add bond9 type bond mode active-backup fail_over_mac active
       for slave in slave8 slave9; do ip link add $slave type dummy; ip link set $slave master bond9; done
       ip addr add ${bond}/24 dev bond9; ip link set bond9 up; rdma link add rxe9 type rxe netdev bond9`,
    );
    expect(made.status, made.stderr).toBe(0);
    try {
      const script = `create-id l\nbind l ${bond}:7232\nlisten l\nget-event l ADDR_CHANGE within 60s`;
      const watching = place.startInLab(['rdmatool', 'cm', 'run', '-', '--json', ...words], {
        input: script,
      });
      await watching.said('"operation":"listen"');
      const active = (await onBond('cat /sys/class/net/bond9/bonding/active_slave')).stdout.trim();
      const other = active === 'slave8' ? 'slave9' : 'slave8';
      expect((await onBond(`ip link set bond9 type bond active_slave ${other}`)).status).toBe(0);
      const outcome = await watching.outcome;
      expect(outcome.status, said(outcome)).toBe(0);
      expect(objects(outcome).find(({ line }) => line === 4)).toMatchObject({
        ok: true,
        state: 'listening',
        result: { event: { name: 'RDMA_CM_EVENT_ADDR_CHANGE' } },
      });
    } finally {
      await onBond('rdma link delete rxe9; ip link del bond9; ip link del slave8; ip link del slave9');
    }
  });

  it('makes a queue pair once the limit of its cgroup allows it, after it has not', async () => {
    const script = [
      'create-id a',
      `resolve-addr a ${RIGHT}:7233 --from ${LEFT}`,
      'get-event a ADDR_RESOLVED within 20s',
      '!EAGAIN create-qp a',
      '! get-event a within 6s',
      'create-qp a',
    ].join('\n');
    const { status, stdout, stderr } = await place.inLab([
      'bash',
      '-ec',
      `${SERVING}
       groups=$(mktemp -d); mount -t cgroup2 none $groups; echo +rdma > $groups/cgroup.subtree_control
       mkdir -p $groups/few; echo 'rxe0 hca_object=1' > $groups/few/rdma.max
       within() { echo $BASHPID > $groups/few/cgroup.procs; exec "$@"; }
       serve within rdmatool cm run - --json <<< '${script}'
       until_said EAGAIN; echo 'rxe0 hca_object=max' > $groups/few/rdma.max
       ended=0; served || ended=$?; cat $said; rmdir $groups/few; umount $groups; exit $ended`,
    ]);
    expect(status, stderr).toBe(0);
    const steps = objects({ stdout, stderr, status, signal: null });
    expect(steps.filter(({ operation }) => operation === 'create-qp')).toMatchObject([
      {
        ok: true,
        failure_expected: true,
        error: {
          errno: { name: 'EAGAIN' },
          message: expect.stringContaining('may have no more RDMA objects (rdma.max)'),
        },
      },
      { ok: true, failure_expected: false, error: null },
    ]);
  });

  it('says which release has a call that this library lacks', async () => {
    const outcome = await run('create-id a\nwrite-cm-event a USER');
    expect(outcome.status).toBe(69);
    expect(said(outcome)).toMatch(/has no rdma_write_cm_event; it needs rdma-core 60 or newer/);
  });
});
