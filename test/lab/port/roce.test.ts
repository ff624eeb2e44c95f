/** `rdmatool port` and `counters` on the real kernel, beside rdma(8), ibstat(8) and sysfs. */
import { describe, expect, it } from 'vitest';
import type { CountersResult } from '../../../src/model/counters.ts';
import type { PortResult } from '../../../src/model/port.ts';
import { parse, useGuest } from '../cm/lab.ts';
import { foreign, product } from '../support/json.ts';

const guest = useGuest();

interface RdmaLink {
  readonly ifname: string;
  readonly port: number;
  readonly state: string;
  readonly physical_state: string;
  readonly netdev: string;
  readonly netdev_index: number;
}

async function output(command: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await guest.inLab(command);
  expect(status, stderr).toBe(0);
  return stdout;
}

describe('port', () => {
  it('says what rdma link and ibstat say', async () => {
    const document = parse<PortResult>('port', await output(['rdmatool', 'port', '--json']));
    const links = foreign<readonly RdmaLink[]>(await output(['rdma', '-j', 'link']));
    expect(links.length).toBe(2);
    expect(
      document.ports.map(({ device, port, state, phys_state, netdevs: [netdev] }) => ({
        ifname: device,
        port,
        state: state?.name,
        physical_state: phys_state?.name,
        netdev: netdev?.name,
        netdev_index: netdev?.ifindex,
      })),
    ).toEqual(
      links.map(({ ifname, port, state, physical_state, netdev, netdev_index }) => ({
        ifname,
        port,
        state,
        physical_state,
        netdev,
        netdev_index,
      })),
    );
    for (const {
      device,
      port_guid,
      node_guid,
      lid,
      sm_lid,
      lmc,
      rate_gbps,
      port_cap_flags,
    } of document.ports) {
      const ibstat = await output(['ibstat', device]);
      const said = (label: string): string => new RegExp(`${label}: *(\\S+)`).exec(ibstat)?.[1] ?? '';
      const hex = (guid: string | null): string => `0x${guid?.replaceAll(':', '')}`;
      expect(hex(port_guid)).toBe(said('Port GUID'));
      expect(hex(node_guid)).toBe(said('Node GUID'));
      expect([lid, sm_lid, lmc, rate_gbps].map(String)).toEqual(
        ['Base lid', 'SM lid', 'LMC', 'Rate'].map(said),
      );
      expect(Number(port_cap_flags?.value)).toBe(Number(said('Capability mask')));
    }
  });
});

describe('counters', () => {
  it('are those of rdma statistic while packets flow, and count what rping sent', async () => {
    const script = [
      'lines=$(mktemp); rdmatool counters --watch 1 --json >$lines & watcher=$!',
      "trap 'kill $watcher 2>/dev/null' EXIT",
      'until [ -s $lines ]; do sleep 0.2; done',
      'rdma -j statistic show',
      'timeout 40 rping -s -a 10.9.1.1 -C 50 >/dev/null & server=$!',
      'timeout 30 sh -c "until rdma resource show cm_id | grep -q LISTEN; do sleep 0.2; done"',
      'timeout 40 rping -c -a 10.9.1.1 -I 10.9.0.1 -C 50 >/dev/null; wait $server',
      'sleep 2; kill -INT $watcher; wait $watcher',
      'rdma -j statistic show; cat /sys/class/infiniband/rxe0/ports/1/cm_tx_msgs/req; cat $lines',
    ].join('\n');
    const [before, after, requests, ...lines] = (await output(['sh', '-c', script]))
      .split('\n')
      .filter((line) => line !== '');
    const readings = lines.map((line) => product<CountersResult>(line));
    const [first, last] = [readings[0], readings.at(-1)];
    if (!first || !last || readings.length < 2) throw new Error('too few readings');
    const peer = (text: string | undefined): Record<string, Record<string, unknown>> =>
      Object.fromEntries(foreign<{ ifname: string }[]>(text ?? '[]').map((one) => [one.ifname, { ...one }]));
    const ours = (result: CountersResult, group: string) =>
      Object.fromEntries(
        result.ports.map(({ device, counters }) => [
          device,
          Object.fromEntries(
            counters.flatMap((one) => (one.group === group ? [[one.name, Number(one.value)]] : [])),
          ),
        ]),
      );
    for (const [reading, said] of [
      [first, before],
      [last, after],
    ] as const) {
      const values = ours(reading, 'hw_counters');
      for (const [device, { ifname: _, port: __, ...statistic }] of Object.entries(peer(said))) {
        expect(values[device]).toEqual(statistic);
      }
    }
    expect(Number(ours(last, 'hw_counters')['rxe0']?.['sent_pkts'])).toBeGreaterThan(100);
    expect(ours(last, 'cm_tx_msgs')['rxe0']?.['req']).toBe(Number(requests));
    // What the readings say has changed adds up.
    const sum = readings
      .flatMap(({ ports }) => ports.filter(({ device }) => device === 'rxe0'))
      .flatMap(({ counters }) => counters.filter(({ name }) => name === 'sent_pkts'))
      .reduce((total, { delta }) => total + Number(delta ?? 0), 0);
    const grown = ours(last, 'hw_counters')['rxe0']?.['sent_pkts'] ?? 0;
    expect(sum).toBe(grown - (ours(first, 'hw_counters')['rxe0']?.['sent_pkts'] ?? 0));
    expect(sum).toBeGreaterThan(100);
    // A guest without acceleration, on a busy machine.
  }, 150_000);
});

// The last: the kernel forgets routes and neighbours with the link.
describe('a link that goes down', () => {
  it('is shown, and its network device', async () => {
    await output(['ip', 'link', 'set', 'veth1', 'down']);
    try {
      const document = parse<PortResult>('port', await output(['rdmatool', 'port', 'rxe1/1', '--json']));
      expect(document.ports).toMatchObject([
        { device: 'rxe1', state: { name: 'DOWN' }, netdevs: [{ name: 'veth1', operstate: 'down' }] },
      ]);
      const links = foreign<readonly RdmaLink[]>(await output(['rdma', '-j', 'link']));
      expect(links.find(({ ifname }) => ifname === 'rxe1')?.state).toBe('DOWN');
    } finally {
      await output(['ip', 'link', 'set', 'veth1', 'up']);
    }
  });
});
