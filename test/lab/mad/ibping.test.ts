/** Pings with ibping(8) at the other end, both ways, through libibumad and through the device itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MadServeObject } from '../../../src/model/mad.ts';
import { parse } from '../cm/lab.ts';
import { product } from '../support/json.ts';
import { TestFabric } from './fabric.ts';

/** The simulator and its library speak the old header where the device is opened, the new one with libibumad. */
const WAYS = ['--transport libibumad', '--header old'];

describe.each(WAYS)('mad %s', (way) => {
  let fabric: TestFabric;
  beforeAll(async () => {
    fabric = await TestFabric.start({ fabric: 'pair' });
  });
  afterAll(() => fabric.stop());
  /** The simulator ends a server that is asked something that it has not registered: nobody asks meanwhile. */
  const manager = (): number => fabric.lab.running.servers[1]?.pid ?? 0;

  it('serve answers ibping, and mad ping over either', async () => {
    const { status, stdout, stderr } = await fabric.shell(
      `kill -STOP ${manager()}; rm -f served
       SIM_HOST=H2 SIM_SET_ISSM=1 rdmatool mad serve ${way} --also SUBN_LID_ROUTED --also SUBN_DIRECTED_ROUTE -c 6 --idle 20000 --json > served & server=$!
       for tenth in $(seq 100); do grep -q listening served && break; sleep 0.1; done
       ibping -c 2 3 > pongs || exit 3
       rdmatool mad ping 3 -c 2 > /dev/null || exit 4
       rdmatool mad ping 3 -c 2 --header old > /dev/null || exit 5
       wait $server; status=$?; kill -CONT ${manager()}; cat pongs; echo ----; cat served; exit $status`,
      'H1',
    );
    expect(status, stderr).toBe(0);
    const [pongs = '', served = ''] = stdout.split('----\n');
    expect(pongs).toContain('2 packets transmitted, 2 received, 0% packet loss');
    const [listening, ...requests] = served
      .trim()
      .split('\n')
      .map((line) => parse<MadServeObject>('mad-serve', line));
    expect(listening?.header_kind).toBe(way === '--header old' ? 'old' : 'new');
    // The name that ibping printed is the one that it was answered with.
    expect(pongs).toMatch(/Pong from [^ ]+\.[^ ]+ \(Lid 3\)/);
    // H1 asks, whose LID is 2.
    expect(requests.map(({ event, header }) => [event, header?.lid])).toEqual(Array(6).fill(['answered', 2]));
  });

  it('ping is answered by ibping -S', async () => {
    const { status, stdout, stderr } = await fabric.shell(
      `kill -STOP ${manager()}
       SIM_HOST=H2 SIM_SET_ISSM=1 timeout 30 ibping -S & server=$!
       for tenth in $(seq 50); do rdmatool mad ping 3 -c 1 --timeout 200 --retries 0 ${way} > /dev/null 2>&1 && break; done
       rdmatool mad ping 3 -c 3 ${way} --json; status=$?
       kill $server; kill -CONT ${manager()}; exit $status`,
      'H1',
    );
    expect(status, stderr).toBe(0);
    expect(product(stdout)).toMatchObject({ error: null, sent: 3, received: 3, target: { lid: 3 } });
  });
});
