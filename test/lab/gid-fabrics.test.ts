/** `rdmatool gid` on the real kernel of lab roce, and on a fabric of lab ib. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GidResult } from '../../src/model/gid.ts';
import { parse, useGuest } from './cm/lab.ts';
import { TestFabric } from './mad/fabric.ts';

describe('on the real kernel', () => {
  const place = useGuest();

  it('shows what its sysfs shows, and marks the IPv4 address of RoCE v2', async () => {
    const { stdout } = await place.inLab(['rdmatool', 'gid', '--json']);
    const { error, devices } = parse<GidResult>('gid', stdout);
    expect(error).toBeNull();
    expect(devices.map(({ name }) => name)).toEqual(['rxe0', 'rxe1']);
    // The kernel refuses to read the type of an entry that is empty.
    const script = `cd /sys/class/infiniband; for d in rxe0 rxe1; do for i in 0 1 2 3; do
      p=$d/ports/1; g=$(cat $p/gids/$i); case $g in 0000:0000:0000:0000:0000:0000:0000:0000) continue;; esac
      n=$(cat $p/gid_attrs/ndevs/$i); echo "$d;$i;$g;$(cat $p/gid_attrs/types/$i);$n;$(cat /sys/class/net/$n/operstate)"
    done; done`;
    const peer = await place.inLab(['sh', '-c', script]);
    const own = devices.flatMap(({ name, ports }) =>
      ports.flatMap(({ gids }) =>
        (gids ?? []).map(({ index, gid_full, type, netdev, netdev_state }) =>
          [
            name,
            index,
            gid_full,
            type?.name === 'ROCE_V2' ? 'RoCE v2' : type?.name,
            netdev,
            netdev_state,
          ].join(';'),
        ),
      ),
    );
    expect(own.length).toBeGreaterThanOrEqual(4);
    expect(own).toEqual(peer.stdout.trimEnd().split('\n'));
    for (const { ports } of devices) {
      const [port] = ports;
      expect(port?.gids_from).toBe('ibv_query_gid_table');
      const chosen = port?.gids?.find(({ wanted }) => wanted);
      expect(chosen).toMatchObject({
        index: port?.choice?.index,
        ipv4: expect.stringMatching(/^10\.9\./),
        scope: 'routable',
      });
    }
  });

  it('the index that is marked is one that rping and ib_write programs can use: ibv_rc_pingpong -g', async () => {
    const { stdout } = await place.inLab(['rdmatool', 'gid', '--json']);
    const { devices } = parse<GidResult>('gid', stdout);
    const index = (name: string) =>
      devices.find((device) => device.name === name)?.ports[0]?.choice?.index ?? -1;
    const script = `ibv_rc_pingpong -d rxe0 -g ${index('rxe0')} -n 10 & server=$!; sleep 1
      ibv_rc_pingpong -d rxe0 -g ${index('rxe0')} -n 10 10.9.0.1 && wait $server`;
    const outcome = await place.inLab(['sh', '-c', script]);
    expect(outcome.stdout).toContain('10 iters');
  });
});

describe('on a fabric', () => {
  let fabric: TestFabric | undefined;
  beforeAll(async () => {
    fabric = await TestFabric.start({});
  });
  afterAll(() => fabric?.stop());

  it('shows the GID that ibaddr shows, at index 0', async () => {
    const document = await fabric?.json('gid');
    const peer = await fabric?.shell('ibaddr -g');
    const text = /GID (\S+)/.exec(peer?.stdout ?? '')?.[1];
    expect(text).toMatch(/^fe80::/);
    expect(document).toMatchObject({
      error: null,
      devices: [
        {
          ports: [
            {
              link_layer: 'INFINIBAND',
              gids_from: 'umad_get_port',
              choice: { index: 0 },
              gids: [{ index: 0, gid: text, type: { name: 'IB' }, wanted: true }],
            },
          ],
        },
      ],
    });
  });

  it('another name is not there, a port neither', async () => {
    const [name, port] = await Promise.all([
      fabric?.shell('rdmatool gid nosuch'),
      fabric?.shell('rdmatool gid -i 2'),
    ]);
    expect(name?.status).toBe(69);
    expect(port?.status).toBe(1);
    expect(port?.stderr).toContain('there is no port 2');
  });
});
