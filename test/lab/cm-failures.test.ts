/** Every failure that the lab can provoke: exit status, code, and the words that help. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cmJson, LEFT, parse, RIGHT, resources, said, TESTED_BACKENDS, useGuest } from './cm/lab.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();
const script = (text: string) => place.inLab(['sh', '-c', text]);

/** An address without RDMA, a neighbour that does not answer, and a peer that takes what it gets in silence. */
beforeAll(async () => {
  const { status } = await script(`
    set -e
    ip link add dummy7 type dummy
    ip addr add 10.77.0.1/24 dev dummy7
    ip link set dummy7 up
    ip route add 10.9.0.88 dev veth0 src ${LEFT}
    ip neigh add 10.9.0.99 lladdr 02:00:00:00:00:99 dev veth0 nud permanent
    ip route add 10.9.0.99 dev veth0 src ${LEFT}`);
  expect(status).toBe(0);
});

describe.each(TESTED_BACKENDS)('through $backend', ({ backend, words }) => {
  const json = (args: readonly string[]) => cmJson(place, [...args, ...words]);
  describe('a failure', () => {
    it.each([
      ['nobody listens', ['connect', RIGHT, '--bind', LEFT], 1, 'REJECTED', 8, 'nobody listens on that port'],
      [
        'nobody serves datagrams',
        ['connect', RIGHT, '--bind', LEFT, '--ps', 'udp'],
        1,
        'REJECTED',
        1,
        'nobody listens',
      ],
      ['no route', ['resolve', '203.0.113.9'], 1, 'NO_ROUTE', -101, 'the network has no way to 203.0.113.9'],
      ['loopback', ['resolve', '127.0.0.1'], 69, 'NO_DEVICE', -19, 'is a loopback address'],
      [
        'a source that is not local',
        ['resolve', RIGHT, '--bind', '192.0.2.1'],
        1,
        'ADDRESS_NOT_LOCAL',
        -99,
        '192.0.2.1 is not an address',
      ],
      [
        'too much for the device',
        ['connect', RIGHT, '--bind', LEFT, '--responder-resources', '200'],
        1,
        'CM_CALL_FAILED',
        -22,
        'beyond what the device',
      ],
      [
        'ipoib over RoCE',
        ['resolve', RIGHT, '--ps', 'ipoib'],
        1,
        'CM_EVENT_FAILED',
        -22,
        'needs an InfiniBand port',
      ],
    ] as const)('%s', async (_name, args, exit, code, status, words) => {
      const { outcome, document } = await json(args);
      expect(outcome.status).toBe(exit);
      expect(document.error).toMatchObject({ code, message: expect.stringContaining(words) });
      expect(document.error?.hint).not.toBe('');
      expect(document.steps.at(-1)?.status).toBe(status);
      expect(said(outcome)).toContain(words);
    });

    it('no RDMA device behind the address: ADDR_ERROR -19', async () => {
      const { outcome, document } = await json(['resolve', '10.77.0.5']);
      expect(outcome.status).toBe(69);
      expect(document.error).toMatchObject({ code: 'NO_DEVICE' });
      expect(document.steps.at(-1)).toMatchObject({
        event: { value: 1, name: 'RDMA_CM_EVENT_ADDR_ERROR' },
        status: -19,
        status_name: 'ENODEV',
      });
    });

    it('a silent neighbour, within --timeout', async () => {
      const { outcome, document } = await json(['resolve', '10.9.0.88', '--bind', LEFT, '--timeout', '500']);
      expect(outcome.status).toBe(75);
      expect(document.steps.at(-1)).toMatchObject({ step: 'resolve_addr', status: -110 });
      expect(document.steps.at(-1)?.duration_ms).toBeGreaterThan(490);
    });

    it('a silent peer, within --timeout', async () => {
      const { outcome, document } = await json(['connect', '10.9.0.99', '--bind', LEFT, '--timeout', '1500']);
      expect(outcome.status).toBe(75);
      expect(document.error).toMatchObject({ code: 'TIMED_OUT' });
      expect(document.error?.message).toContain('did not answer any of the requests');
      expect(document.steps.at(-1)).toMatchObject({ step: 'connect', event: null });
    });

    it.each([
      ['tcp', 56],
      ['udp', 180],
    ])('private data too long: %s carries %i bytes', async (ps, limit) => {
      const over = await json([
        'connect',
        RIGHT,
        '--bind',
        LEFT,
        '--ps',
        ps,
        '--private-data',
        'x'.repeat(limit + 1),
      ]);
      expect(over.outcome.status).toBe(2);
      expect(over.document.error).toMatchObject({ code: 'PRIVATE_DATA_TOO_LONG' });
      expect(over.document.error?.message).toContain(`at most ${limit}`);
      const full = await json([
        'connect',
        RIGHT,
        '--bind',
        LEFT,
        '--ps',
        ps,
        '--private-data',
        'x'.repeat(limit),
      ]);
      expect(full.document.error).toMatchObject({ code: 'REJECTED' });
    });

    it.each([
      ['a port out of range', ['resolve', `${RIGHT}:65536`]],
      ['an option out of range', ['resolve', RIGHT, '-p', '70000']],
      ['no address', ['resolve', '10.9.1']],
    ])('%s is a mistake of usage', async (_name, args) => {
      const { outcome, document } = await json(args);
      expect(outcome.status).toBe(2);
      expect(document.error).toMatchObject({ code: 'USAGE' });
    });

    it('a name that does not resolve', async () => {
      const { outcome, document } = await json(['resolve', 'nobody.invalid']);
      expect(outcome.status).toBe(1);
      expect(document.error).toMatchObject({ code: 'UNKNOWN_HOST' });
    });

    it('a port of root', async () => {
      const outcome = await script(
        `setpriv --reuid nobody --clear-groups rdmatool cm bind ${words.join(' ')} ${LEFT}:100 --json`,
      );
      expect(outcome.status).toBe(77);
      expect(parse('cm-bind', outcome.stdout).error?.message).toContain('ports below 1024');
    });

    it('the node of the connection manager: missing, or closed', async () => {
      const missing = await script(
        `mv /dev/infiniband/rdma_cm /dev/infiniband/aside; rdmatool cm create-id ${words.join(' ')} --json; s=$?; mv /dev/infiniband/aside /dev/infiniband/rdma_cm; exit $s`,
      );
      expect(missing.status).toBe(69);
      expect(parse('cm-create-id', missing.stdout).error).toMatchObject({ code: 'NO_NODE' });
      const closed = await script(
        `chmod 600 /dev/infiniband/rdma_cm; setpriv --reuid nobody --clear-groups rdmatool cm create-id ${words.join(' ')} --json; s=$?; chmod 666 /dev/infiniband/rdma_cm; exit $s`,
      );
      expect(closed.status).toBe(77);
      expect(parse('cm-create-id', closed.stdout).error).toMatchObject({ code: 'NO_PERMISSION' });
    });

    it('a device whose verbs node may not be opened', async () => {
      const outcome = await script(
        `chmod 600 /dev/infiniband/uverbs*; setpriv --reuid nobody --clear-groups rdmatool cm bind ${words.join(' ')} ${LEFT} --json; s=$?; chmod 666 /dev/infiniband/uverbs*; exit $s`,
      );
      if (backend === 'kernel') {
        // The kernel binds it all the same; only a queue pair needs the node.
        expect(outcome.status).toBe(0);
        expect(parse('cm-bind', outcome.stdout)).toMatchObject({ error: null, device: 'rxe0' });
      } else {
        expect(outcome.status).toBe(77);
        expect(parse('cm-bind', outcome.stdout).error?.message).toContain('/dev/infiniband/uverbs0: EACCES');
      }
      const connect = await script(
        `chmod 600 /dev/infiniband/uverbs*; setpriv --reuid nobody --clear-groups rdmatool cm connect ${RIGHT} --bind ${LEFT} ${words.join(' ')} --json; s=$?; chmod 666 /dev/infiniband/uverbs*; exit $s`,
      );
      expect(connect.status).toBe(77);
      expect(parse('cm-connect', connect.stdout).error?.message).toContain('/dev/infiniband/uverbs0: EACCES');
    });
  });

  describe('a listener', () => {
    it('that rejects sends its reason and its private data', async () => {
      const server = place.startInLab([
        ...[
          'rdmatool',
          'cm',
          'listen',
          RIGHT,
          '--reject',
          '--private-data',
          'busy',
          '--count',
          '2',
          '--json',
        ],
        ...words,
      ]);
      await server.said('"listening"');
      const { outcome, document } = await json(['connect', RIGHT, '--bind', LEFT]);
      expect(outcome.status).toBe(1);
      expect(document.steps.at(-1)).toMatchObject({ status: 28, status_name: 'CONSUMER_DEFINED' });
      expect(document['connection']).toMatchObject({ private_data_text: 'busy', private_data_len: 148 });
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
      expect(peer.stdout).toContain('RDMA_CM_EVENT_REJECTED, error: 28');
      expect((await server.outcome).status).toBe(0);
    });

    it('finds its address in use', async () => {
      const server = place.startInLab(['rdmatool', 'cm', 'listen', RIGHT, '--json', ...words]);
      await server.said('"listening"');
      const second = await place.inLab(['rdmatool', 'cm', 'listen', RIGHT, '--json', ...words]);
      expect(second.status).toBe(1);
      expect(parse('cm-listen', second.stdout).error).toMatchObject({ code: 'ADDRESS_IN_USE' });
      server.child.kill('SIGINT');
      const outcome = await server.outcome;
      expect(outcome.status).toBe(130);
      expect(parse('cm-listen', outcome.stdout.trim().split('\n').at(-1) ?? '').error).toMatchObject({
        code: 'INTERRUPTED',
      });
    });

    it('learns that its device goes away', async () => {
      const server = place.startInLab(['rdmatool', 'cm', 'listen', RIGHT, '--json', ...words]);
      await server.said('"listening"');
      await script('rdma link del rxe1');
      const outcome = await server.outcome;
      await script('rdma link add rxe1 type rxe netdev veth1');
      expect(outcome.status).toBe(69);
      expect(outcome.stdout).toContain('RDMA_CM_EVENT_DEVICE_REMOVAL');
      expect(said(outcome)).toContain('(rxe1)');
    });
  });

  describe('Ctrl-C', () => {
    it.each([
      ['resolve_addr', ['resolve', '10.9.0.88', '--bind', LEFT, '--timeout', '30000']],
      ['connect', ['connect', '10.9.0.99', '--bind', LEFT, '--timeout', '30000']],
    ])('during %s takes everything down', async (step, args) => {
      // One that holds the node open has begun.
      const outcome = await script(`
      rdmatool cm ${args.join(' ')} ${words.join(' ')} --json & p=$!
      until ls -l /proc/$p/fd | grep -q rdma_cm; do sleep 0.1; done
      sleep 2; kill -INT $p; wait $p`);
      expect(outcome.status).toBe(130);
      const document = parse(`cm-${args[0]}`, outcome.stdout);
      expect(document.error).toMatchObject({ code: 'INTERRUPTED' });
      expect(document.steps.at(-1)?.step).toBe(step);
    });

    afterAll(async () => {
      // A device that was put back has another number of packets, and the same objects.
      expect(await resources(place)).toMatch(
        /^rxe0: .* cm_id 0 .* ctx 0 .*\nrxe1: .* cm_id 0 .* ctx 0 .*\n$/,
      );
    });
  });
});
