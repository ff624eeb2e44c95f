/** The library in lab roce, with rping, mckey and the tools of the system as peers. */
import { expect, it, vi } from 'vitest';
import { LEFT, RIGHT, resources, useGuest } from '../cm/lab.ts';
import { foreign } from '../support/json.ts';
import { type CallOutcome, consumer } from './consumer.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();

/** Runs a shell command in the lab with the program as its arguments, and gives the lines it printed. */
async function lines(script: string, body: string): Promise<string[]> {
  const { status, stdout, stderr } = await place.inLab(['bash', '-c', script, 'bash', ...consumer(body)]);
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout.trim().split('\n');
}

/** What the program said: its line is the last. */
async function said(body: string, script = '"$@"'): Promise<Record<string, CallOutcome>> {
  return foreign((await lines(script, body)).at(-1) ?? '');
}

it('resolve tells the device of the route, and fails as a value', async () => {
  const outcomes = await said(`
    said.found = await outcome(() => rdmatool.resolve('${RIGHT}', { bind: '${LEFT}' }));
    said.nobody = await outcome(() => rdmatool.resolve('192.0.2.1', { bind: '${LEFT}', timeoutMs: 500 }));
    said.aborted = await outcome(() => rdmatool.resolve('192.0.2.1', { bind: '${LEFT}', timeoutMs: 60000, signal: abortedAfter(500) }));
    said.wrong = await outcome(() => rdmatool.resolve('${RIGHT}', { tos: 256 }));
    said.names = await outcome(() => rdmatool.getaddrinfo('localhost', 7174, { family: 'inet' }));
  `);
  const netdev = (await place.inLab(['ip', '-br', 'address'])).stdout
    .split('\n')
    .find((line) => line.includes(`${LEFT}/`))
    ?.replace(/[@ ].*/, '');
  const link = (await place.inLab(['rdma', 'link'])).stdout
    .split('\n')
    .find((line) => new RegExp(`netdev ${netdev}\\b`).test(line));
  expect(outcomes.found?.gave).toMatchObject({
    error: null,
    device: /^link (\w+)\//.exec(link ?? '')?.[1],
    local: { addr: LEFT },
    peer: { addr: RIGHT },
  });
  expect(outcomes.nobody).toMatchObject({ code: 'TIMED_OUT', result: { device: 'rxe0' } });
  expect(outcomes.aborted).toMatchObject({ code: 'INTERRUPTED', result: { error: { code: 'INTERRUPTED' } } });
  expect(outcomes.wrong).toMatchObject({ code: 'USAGE', result: null });
  const [address] = (await place.inLab(['getent', 'ahostsv4', 'localhost'])).stdout.split(/\s/);
  expect(outcomes.names?.gave).toMatchObject({ results: [{ dst_addr: { addr: address, port: 7174 } }] });
});

it('connect pings rping -s, which ends well', async () => {
  const before = await resources(place);
  const printed = await lines(
    `rping -s -a ${RIGHT} -C 3 -v & server=$!
     until rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done
     "$@" > /tmp/said; wait $server && echo rping ended well; cat /tmp/said`,
    `said.pinged = await outcome(() => rdmatool.connect('${RIGHT}', { bind: '${LEFT}', ping: { count: 3 } }));
     said.nobody = await outcome(() => rdmatool.connect('${RIGHT}', { bind: '${LEFT}' }));
     said.wrong = await outcome(() => rdmatool.connect('${RIGHT}', { ping: { count: 1, size: 0 } }));`,
  );
  expect(printed.filter((line) => line.startsWith('server ping data: '))).toHaveLength(3);
  expect(printed).toContain('rping ended well');
  const outcomes = foreign<Record<string, CallOutcome>>(printed.at(-1) ?? '');
  expect(outcomes.pinged?.gave).toMatchObject({ error: null, ping: { sent: 3, received: 3 } });
  expect(outcomes.nobody).toMatchObject({ code: 'REJECTED', result: { device: 'rxe0' } });
  expect(outcomes.wrong).toMatchObject({ code: 'USAGE' });
  expect(await resources(place)).toBe(before);
});

it('listen answers rping -c, and ends by its count, by leaving the loop, and by its signal', async () => {
  const before = await resources(place);
  const printed = await lines(
    `"$@" > /tmp/said & program=$!
     until rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done
     rping -c -a ${RIGHT} -I ${LEFT} -C 3 -v && echo rping ended well; wait $program; cat /tmp/said`,
    `const events = async (options, isLast = () => false) => {
       const told = [];
       for await (const event of rdmatool.listen('${RIGHT}', options)) {
         told.push({ event: event.event?.name ?? null, served: event.echo?.served ?? null });
         if (isLast(event)) break;
       }
       return told;
     };
     said.served = await outcome(() => events({ count: 1, echo: true }));
     said.left = await outcome(() => events({}, () => true));
     said.aborted = await outcome(() => events({ signal: abortedAfter(1000) }));
     said.failed = await outcome(async () => {
       for await (const event of rdmatool.listen('${RIGHT}')) await events({});
     });
     said.held = await outcome(async () => {
       for await (const event of rdmatool.listen('${RIGHT}')) {
         return await rdmatool.connect('${RIGHT}', { bind: '${LEFT}', holdMs: 60000, signal: abortedAfter(1500) });
       }
     });`,
  );
  expect(printed.filter((line) => line.startsWith('ping data: '))).toHaveLength(3);
  expect(printed).toContain('rping ended well');
  const outcomes = foreign<Record<string, CallOutcome>>(printed.at(-1) ?? '');
  expect(outcomes.served?.gave).toEqual([
    { event: null, served: null },
    { event: 'RDMA_CM_EVENT_CONNECT_REQUEST', served: null },
    { event: 'RDMA_CM_EVENT_ESTABLISHED', served: null },
    { event: 'RDMA_CM_EVENT_DISCONNECTED', served: 3 },
  ]);
  expect(outcomes.left?.gave).toEqual([{ event: null, served: null }]);
  expect(outcomes.aborted).toMatchObject({ code: 'INTERRUPTED' });
  expect(outcomes.failed).toMatchObject({ code: 'ADDRESS_IN_USE', errno: 'EADDRINUSE' });
  expect(outcomes.held).toMatchObject({ code: 'INTERRUPTED', result: { device: 'rxe0' } });
  expect(await resources(place)).toBe(before);
});

it('join is in the group of mckey', async () => {
  const group = '239.9.1.1';
  const { join, stranger, aborted } = await said(`
    said.join = await outcome(() => rdmatool.join('${group}', { bind: '${LEFT}' }));
    said.stranger = await outcome(() => rdmatool.join('${RIGHT}', { bind: '${LEFT}' }));
    said.aborted = await outcome(() => rdmatool.join('${group}', { bind: '${LEFT}', holdMs: 60000, signal: abortedAfter(1500) }));
  `);
  const mckey = await place.inLab(['mckey', '-m', group, '-b', LEFT, '-s', '-C', '0']);
  const dgid = /joined dgid: (\S+) mlid/.exec(mckey.stdout)?.[1];
  expect(dgid).toBeDefined();
  expect(JSON.stringify(join?.gave)).toContain(`"${dgid}"`);
  expect(stranger).toMatchObject({ code: 'USAGE' });
  expect(aborted).toMatchObject({ code: 'INTERRUPTED' });
});
