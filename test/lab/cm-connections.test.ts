/** Connections in the lab: with other programs as peers, in numbers, and with nothing left behind. */
import { describe, expect, it, vi } from 'vitest';
import { type CmDocument, cmJson, LEFT, parse, RIGHT, TESTED_BACKENDS, useGuest } from './cm/lab.ts';
import { inNumbers } from './cm/numbers.ts';
import { foreign } from './support/json.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();
const script = (text: string) => place.inLab(['bash', '-c', text]);

describe.each(TESTED_BACKENDS)('through $backend', ({ backend, words }) => {
  const json = (args: readonly string[]) => cmJson(place, [...args, ...words]);
  describe('what resolve says', () => {
    it('agrees with ibv_devinfo and sysfs', async () => {
      const { document } = await json(['resolve', RIGHT, '--bind', LEFT]);
      expect(document).toMatchObject({
        error: null,
        device: 'rxe0',
        ib_port: 1,
        peer: { addr: RIGHT, port: 7174 },
      });
      expect(document.steps.map(({ step }) => step)).toEqual([
        'create_id',
        'bind_addr',
        'resolve_addr',
        'resolve_route',
      ]);
      const route = document['route'] as {
        sgid: string;
        pkey: string;
        paths: { mtu: { name: string }; sgid: string }[];
      };
      const gids = (await script('cat /sys/class/infiniband/rxe0/ports/1/gids/* | grep ffff:0a09:0001'))
        .stdout;
      expect(gids).not.toBe('');
      expect(route.sgid).toBe(`::ffff:${LEFT}`);
      expect(route.pkey).toBe((await script('cat /sys/class/infiniband/rxe0/ports/1/pkeys/0')).stdout.trim());
      const mtu = /active_mtu:\s+(\d+)/.exec((await script('ibv_devinfo -d rxe0')).stdout)?.[1];
      expect(route.paths[0]?.mtu.name).toBe(mtu);
    });
  });

  describe('a connection', () => {
    it('to rping is RTS while it is held, and ends properly', async () => {
      const server = place.startInLab([
        'bash',
        '-c',
        `rping -s -a ${RIGHT} -C 1 -d & sleep 1; echo ready; wait $!; echo rping ended $?`,
      ]);
      await server.said('ready');
      const client = place.startInLab([
        'rdmatool',
        'cm',
        'connect',
        RIGHT,
        '--bind',
        LEFT,
        '--hold',
        '6',
        '--json',
        ...words,
      ]);
      await expect
        .poll(async () => (await script('rdma resource show qp')).stdout, { timeout: 40_000, interval: 500 })
        .toMatch(/link rxe0\/1 .*type RC state RTS/);
      expect((await script('rdma resource show cm_id')).stdout).toMatch(
        /rxe0\/1 .* state CONNECT ps TCP .*dst-addr 10\.9\.1\.1:7174/,
      );
      const shown = await script('rdma -j resource show cm_id');
      const ids = foreign<readonly Record<string, unknown>[]>(shown.stdout);
      const held = ids.find((id) => id['ifname'] === 'rxe0' && id['state'] === 'CONNECT');
      const outcome = await client.outcome;
      const document = parse('cm-connect', outcome.stdout);
      expect(document.error).toBeNull();
      // What the kernel has told of the id while it was held.
      expect(held).toMatchObject({
        port: document.ib_port,
        lqpn: (document['qp'] as { qp_num: number }).qp_num,
        'src-addr': `${document.local?.addr}:${document.local?.port}`,
        'dst-addr': `${document.peer?.addr}:${document.peer?.port}`,
      });
      expect(document.steps.map(({ step }) => step).slice(-3)).toEqual([
        'create_qp',
        'connect',
        'disconnect',
      ]);
      expect((await server.outcome).stdout).toContain('rping ended 0');
    });

    it('of ucmatose and of rdmatool itself to cm listen', async () => {
      const server = place.startInLab([
        'rdmatool',
        'cm',
        'listen',
        RIGHT,
        '--count',
        '3',
        '--hold',
        '1',
        '--private-data',
        'welcome',
        '--json',
        ...words,
      ]);
      await server.said('"listening"');
      const peer = await place.inLab([
        'ucmatose',
        '-s',
        RIGHT,
        '-b',
        LEFT,
        '-p',
        '7174',
        '-c',
        '1',
        '-C',
        '0',
      ]);
      expect(peer.stdout).toContain('return status 0');
      const client = await json(['connect', RIGHT, '--bind', LEFT, '--private-data', 'hello', '--srq']);
      expect(client.document['connection']).toMatchObject({
        private_data_text: 'welcome',
        private_data_len: 196,
      });
      expect(client.document['qp']).toMatchObject({ type: 'RC', srq: true, real: true });
      const handshake = await json(['connect', RIGHT, '--bind', LEFT, '--qp-num', '77']);
      expect(handshake.document['qp']).toMatchObject({ qp_num: 77, real: false });
      expect(handshake.document.steps.map(({ step }) => step)).toContain('establish');
      const { status, stdout } = await server.outcome;
      expect(status).toBe(0);
      const objects = stdout
        .trim()
        .split('\n')
        .map((line) => parse<CmDocument>('cm-listen', line));
      const names = objects.map((object) => (object['event'] as { name: string } | null)?.name);
      for (const name of ['CONNECT_REQUEST', 'ESTABLISHED', 'DISCONNECTED']) {
        expect(names.filter((found) => found === `RDMA_CM_EVENT_${name}`)).toHaveLength(3);
      }
      expect(stdout).toContain('"private_data_text":"hello"');
    });

    it('of datagrams, to udaddy', async () => {
      const server = place.startInLab(['bash', '-c', `udaddy -b ${RIGHT} -C 0 & sleep 1; echo ready; wait`]);
      await server.said('ready');
      const { document } = await json(['connect', `${RIGHT}:7174`, '--bind', LEFT, '--ps', 'udp']);
      expect(document.error).toBeNull();
      expect(document['connection']).toMatchObject({ qkey: '0x1234567' });
      server.child.kill('SIGTERM');
      await server.outcome;
    });

    it('gives the attributes of its queue pair', async () => {
      const server = place.startInLab([
        'rdmatool',
        'cm',
        'listen',
        RIGHT,
        '--count',
        '1',
        '--json',
        ...words,
      ]);
      await server.said('"listening"');
      const { document } = await json(['init-qp-attr', RIGHT, '--bind', LEFT]);
      expect(document.error).toBeNull();
      expect(document['attributes']).toMatchObject([
        { qp_state: { name: 'INIT' }, qp_attr_mask: { value: '0x39' }, port_num: 1 },
        {
          qp_state: { name: 'RTR' },
          ah_attr: { grh: { dgid: `::ffff:${RIGHT}` }, is_global: 1, port_num: 1 },
        },
        { qp_state: { name: 'RTS' }, retry_cnt: 7, rnr_retry: 7 },
      ]);
      await server.outcome;
    });
  });

  // More of each in test/long.
  inNumbers(place, backend, { connects: 20, rejects: 20, atOnce: 16, untaken: 20, kills: 20 });
});
