/** User MADs on the real kernel, between the two devices of lab roce: transports, headers, RMPP, failures. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { MadRecvObject, MadSendResult, MadServeObject, MadTableResult } from '../../src/model/mad.ts';
import { bundleDriver } from './cm/bundle.ts';
import { parse, useGuest } from './cm/lab.ts';
import { killAtWork } from './mad-kernel/kills.ts';
import { foreign } from './support/json.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 300_000 });
const place = useGuest();
/** In a directory of the guest's own. */
const script = (text: string) => place.inLab(['bash', '-c', `cd $(mktemp -d)\n${text}`]);

const LEFT = 'fd09::1';
const RIGHT = 'fd09:1::1';
const WAYS = ['libibumad', 'device new', 'device old'] as const;
const OPTIONS: Readonly<Record<(typeof WAYS)[number], string>> = {
  libibumad: '--transport libibumad',
  'device new': '--transport device --header new',
  'device old': '--header old',
};

interface Failed {
  readonly code: string | null;
  readonly errno: { readonly name: string } | null;
  readonly message: string;
  readonly hint: string;
}

let driver = '';
beforeAll(async () => {
  driver = await bundleDriver('driver', join(import.meta.dirname, 'mad-kernel'));
});
async function drive<R>(...args: readonly string[]): Promise<R> {
  const { status, stdout, stderr } = await place.inLab(['node', driver, ...args]);
  expect(status, stderr).toBe(0);
  return foreign<R>(stdout);
}

/** A script in which `serve ...` has begun to listen before it goes on, and `end` ends it and prints what it said. */
const SERVING = `
  serve() { out=$(mktemp); rdmatool mad "$@" --json > $out & server=$!
    for _ in $(seq 600); do grep -q listening $out && return; sleep 0.1; done; cat $out >&2; exit 9; }
  end() { kill -INT $server 2>/dev/null; wait $server; echo "ended $?" >&2; cat $out; }`;

const lines = <D>(schema: string, text: string): D[] =>
  text
    .trim()
    .split('\n')
    .map((line) => parse<D>(schema, line));

describe('request and answer', () => {
  it('go between every pair of transports and headers', async () => {
    const { results } = await drive<{
      readonly results: readonly {
        readonly server: string;
        readonly client?: string;
        readonly header?: string;
        readonly error?: unknown;
        readonly received?: number;
        readonly failure?: unknown;
        readonly requests?: readonly MadServeObject[];
      }[];
    }>('pairs');
    const pairs = results.filter(({ client }) => client !== undefined);
    expect(pairs.map(({ server, client, error, received }) => [server, client, error, received])).toEqual(
      WAYS.flatMap((server) => WAYS.map((client) => [server, client, null, 1])),
    );
    expect(pairs.map(({ header }) => header)).toEqual(WAYS.flatMap(() => ['new', 'new', 'old']));
    for (const { server, failure, requests = [] } of results.filter(({ client }) => client === undefined)) {
      expect([failure, requests.length]).toEqual([null, 3]);
      for (const { header } of requests) {
        const isOld = server === 'device old';
        expect(header).toMatchObject({
          kind: isOld ? 'old' : 'new',
          status: { value: 0 },
          // Header and one datagram, as read(2) gives them.
          length: (isOld ? 56 : 64) + 256,
          qpn: 1,
          grh_present: 1,
          gid: LEFT,
          timeout_ms: null,
          qkey: null,
          pkey_index: isOld ? null : 0,
        });
        // Debian's kernel fills it in from the route header; documented as unset, it is shown with a note.
        expect(header?.gid_index).toBe(2);
        expect(header?.notes['gid_index']).toMatch(/documented as unset/);
        expect(header?.unavailable).toMatchObject({ timeout_ms: 'unset', qkey: 'unset' });
      }
    }
  });

  it.each(['device new', 'device old'] as const)(
    'that nobody answers comes back with ETIMEDOUT and its own transaction id: %s',
    async (way) => {
      const { stdout } = await script(`${SERVING}
        serve recv -d rxe1 --class PERF -c 1
        rdmatool mad send PortCounters ${RIGHT} port_select=1 -d rxe0 ${OPTIONS[way]} ${way === 'device new' ? '--pkey-index 3' : ''} --class PERF --timeout 100 --retries 0 --json > sent.json 2>/dev/null
        echo "$?"; tr -d '\\n' < sent.json; echo; wait $server; cat $out`);
      const [status, sent = '', ...received] = stdout.trim().split('\n');
      expect(status).toBe('75');
      const document = parse<MadSendResult>('mad-send', sent);
      const [, came] = lines<MadRecvObject>('mad-recv', received.join('\n'));
      expect(document).toMatchObject({
        error: { code: 'TIMED_OUT' },
        header: {
          status: { value: 110, name: 'ETIMEDOUT' },
          timeout_ms: 100,
          qpn: 1,
          gid: RIGHT,
          // As it was sent; the old header has none.
          pkey_index: way === 'device new' ? 3 : null,
        },
        reply: null,
      });
      expect(came).toMatchObject({ event: 'received', message: { attribute: 'PortCounters' } });
      expect(document.returned_tid).toBe(came?.message?.mad?.tid);
      // The kernel puts a number of the agent into the upper half.
      expect(document.returned_tid).not.toMatch(/^0x00000000/);
    },
  );

  it('carry every field of the header as it was given, as far as the driver does', async () => {
    const { stdout } = await script(`${SERVING}
      serve recv -d rxe1 --class PERF -c 1
      rdmatool mad send PortCounters ${RIGHT} -d rxe0 --class PERF --timeout 100 --retries 0 --hop-limit 9 --traffic-class 32 --flow-label 0x12345 --sl 3 --header-field path_bits=5 --header-field qkey=0x80010001 --json 2>/dev/null | tr -d '\\n'; echo
      wait $server; cat $out`);
    const [sent = '', ...received] = stdout.trim().split('\n');
    // What the kernel gives back is what it was given.
    expect(parse<MadSendResult>('mad-send', sent).header).toMatchObject({
      hop_limit: 9,
      traffic_class: 32,
      flow_label: 0x12345,
      sl: 3,
      path_bits: 5,
      qkey: 0x80010001,
      gid_index: 2,
      timeout_ms: 100,
    });
    // Of these, rxe puts the traffic class alone on the wire: it chooses the hop limit by the route.
    const [, came] = lines<MadRecvObject>('mad-recv', received.join('\n'));
    expect(came?.header).toMatchObject({ traffic_class: 32, gid: LEFT, pkey_index: 0 });
  });
});

it('many requests at once, before the neighbours are known, are all answered', async () => {
  const { stdout, stderr } = await script(`${SERVING}
    serve serve -d rxe1
    ip -6 neigh flush all; ip neigh flush all
    rdmatool mad send 0 ${RIGHT} -d rxe0 --class 0x32 --oui 0x001405 -c 100 --window 100 --timeout 5000 --retries 10 --json | tr -d '\\n'; echo
    end`);
  const [sent = '', ...served] = stdout.trim().split('\n');
  expect(parse<MadSendResult>('mad-send', sent), stderr).toMatchObject({ error: null, received: 100 });
  // None that could not be sent; the last is Ctrl-C's.
  expect(served.slice(0, -1).filter((line) => !line.includes('"error":null'))).toEqual([]);
  expect(served.at(-1)).toContain('"INTERRUPTED"');
});

describe('the old header is real', () => {
  const traced = (options: string) =>
    script(`dmesg -C
      strace -f --seccomp-bpf -y -e trace=openat,ioctl,write,read -o trace.txt rdmatool mad send PortCounters ${RIGHT} -d rxe0 ${options} --class PERF --transport device --json > /dev/null 2>&1
      grep -E "(ioctl|write|read)\\([0-9]+</dev/infiniband/umad0>|(write|read) resumed" trace.txt; dmesg`);

  it('56 bytes before each datagram, no ENABLE_PKEY, and the kernel complains in dmesg', async () => {
    const { stdout } = await traced('--header old');
    // REGISTER_AGENT: number 1, 28 bytes.
    expect(stdout).toMatch(
      /ioctl\(\d+<[^>]*>, (IB_USER_MAD_REGISTER_AGENT,|_IOC\(_IOC_READ\|_IOC_WRITE, 0x1b, 0x0?1, 0x1c\))/,
    );
    expect(stdout).not.toMatch(/0x1b, 0x0?3|ENABLE_PKEY/);
    expect(stdout).toMatch(/write\(\d+<[^>]*>, .*, 312\b/);
    expect(stdout).toMatch(/= 312$/m);
    expect(stdout).toContain('did not enable P_Key index support');
  });

  it('beside the new one: ENABLE_PKEY, 64 bytes, and no complaint', async () => {
    const { stdout } = await traced('--header new');
    expect(stdout).toMatch(/ioctl\(\d+<[^>]*>, (IB_USER_MAD_ENABLE_PKEY|_IOC\(_IOC_NONE, 0x1b, 0x0?3, 0\))/);
    // REGISTER_AGENT2: number 4, 40 bytes.
    expect(stdout).toMatch(
      /ioctl\(\d+<[^>]*>, (IB_USER_MAD_REGISTER_AGENT2|_IOC\(_IOC_READ\|_IOC_WRITE, 0x1b, 0x0?4, 0x28\))/,
    );
    expect(stdout).toMatch(/write\(\d+<[^>]*>, .*, 320\b/);
    expect(stdout).not.toContain('did not enable P_Key index support');
  });

  it('the P_Key index stands at byte 56 of the new one', async () => {
    const { stdout } = await script(
      `strace -f --seccomp-bpf -P /dev/infiniband/umad0 -xx -s 64 -e trace=write -o trace.txt rdmatool mad send PortCounters ${RIGHT} -d rxe0 --class PERF --transport device --pkey-index 0x102 --json > /dev/null 2>&1
      cat trace.txt`,
    );
    // struct ib_user_mad_hdr: a host-order number of 16 bits, and six reserved bytes.
    expect(stdout).toMatch(/write\([^,]*, "(\\x..){56}\\x02\\x01(\\x00){6}"\.\.\., 320\)/);
  });
});

describe('long messages', () => {
  it('a table of 1000 records comes whole, read again with more room', async () => {
    const { stdout, stderr } = await script(`${SERVING}
      cat > answers.json <<END
{"answers": [{"class": "SUBN_ADM", "attribute": "NodeRecord", "records": [$(seq -s, 1000 | sed 's/[0-9]*/{"lid": &, "node_description": "node &"}/g')]},
 {"class": "DEV_MGMT", "attribute": "any", "data": "aabb"}]}
END
      serve serve -d rxe1 --answers answers.json
      ask() { rdmatool mad table NodeRecord --from ${RIGHT} -d rxe0 --json "$@" | tr -d '\\n'; echo; }
      strace -f --seccomp-bpf -e trace=read -o trace.txt rdmatool mad table NodeRecord --from ${RIGHT} -d rxe0 --json --transport device | tr -d '\\n'; echo
      ask --header old; ask --transport libibumad
      grep -c ENOSPC trace.txt
      head -c 5000 /dev/zero | tr '\\0' Z > request
      rdmatool mad send 0x11 ${RIGHT} -d rxe0 --class DEV_MGMT --method GetMulti --rmpp --data-file request --json | tr -d '\\n'; echo
      end`);
    expect(stderr).toContain('ended 130');
    const [first = '', second = '', third = '', refusals, sent = '', ...served] = stdout.trim().split('\n');
    for (const text of [first, second, third]) {
      const { error, records, records_held } = parse<MadTableResult>('mad-table', text);
      expect([error, records_held]).toEqual([null, 1000]);
      expect(records.map((record) => [record['lid'], record['node_description']])).toEqual(
        Array.from({ length: 1000 }, (_, index) => [index + 1, `node ${index + 1}`]),
      );
    }
    expect(refusals).toBe('1');
    expect(parse<MadSendResult>('mad-send', sent)).toMatchObject({ error: null, received: 1 });
    const objects = lines<MadServeObject>('mad-serve', served.join('\n'));
    const [, table] = objects;
    // 1000 records at multiples of 112 bytes after the 56 of the headers.
    expect(table?.answer).toMatchObject({
      method: { name: 'GetTableResp' },
      bytes: 56 + 112_000,
      rmpp: true,
    });
    // Acknowledged: no answer came back.
    expect(objects.map(({ event }) => event).filter((event) => event === 'returned')).toEqual([]);
    const large = objects.find(({ request }) => request?.mad?.method.name === 'GetMulti');
    expect(large?.request?.hex.slice(2 * 64)).toBe('5a'.repeat(5000));
  });

  it('come in segments where the program does RMPP itself', async () => {
    const { stdout } = await script(`${SERVING}
      head -c 500 /dev/zero | tr '\\0' Z > request
      serve recv -d rxe1 --class DEV_MGMT --transport device --flags 1 --rmpp -c 1 --timeout 60000
      rdmatool mad send 0x11 ${RIGHT} -d rxe0 --class DEV_MGMT --method GetMulti --rmpp --data-file request --timeout 100 --retries 0 >/dev/null 2>&1
      wait $server; cat $out`);
    const [, segment] = lines<MadRecvObject>('mad-recv', stdout);
    expect(segment?.message?.mad?.rmpp).toMatchObject({ type: { name: 'DATA' }, segment: 1 });
    expect(segment?.message?.hex.length).toBe(2 * 256);
  });
});

describe('what the kernel refuses', () => {
  it.each(WAYS)('is told with its reason: %s', async (way) => {
    const { agents, registrations, sends, shortRoom, nodes } = await drive<{
      readonly agents: number;
      readonly registrations: Readonly<Record<string, Failed>>;
      readonly sends: Readonly<Record<string, Failed>>;
      readonly shortRoom: Failed;
      readonly nodes: number;
    }>('failures', way);
    const told = (failed: Failed | undefined, code: string, errno: string | null, message: RegExp): void => {
      expect([failed?.code, failed?.errno?.name ?? null]).toEqual([code, errno]);
      expect(`${failed?.message} ${failed?.hint}`).toMatch(message);
    };
    const isOld = way === 'device old';
    const register = (name: string, errno: string, message: RegExp) =>
      told(registrations[name], 'REGISTER_FAILED', errno, message);
    register('duplicate', 'EINVAL', /has class 0x04 PERF already, for one of the methods Get/);
    register('no OUI', 'EINVAL', /--oui/);
    register('queue pair 0', 'EPROTONOSUPPORT', /no QP0/);
    register('RMPP without', 'EINVAL', /no long messages/);
    register('class 0x60', 'EINVAL', /no class 0x60/);
    register('too many', 'ENOMEM', /32 agents/);
    expect(agents).toBe(32);
    if (isOld) {
      told(registrations['unknown flags'], 'USAGE', null, /no flags/);
      told(registrations['OUI too long'], 'USAGE', null, /24 bits/);
    } else {
      register(
        'unknown flags',
        'EINVAL',
        way === 'libibumad' ? /--transport device shows/ : /supports 0x1\b/,
      );
      register('OUI too long', 'EINVAL', /too long.*24 bits/);
    }
    if (way === 'libibumad') told(registrations['queue pair 2'], 'USAGE', null, /by its class/);
    else register('queue pair 2', 'EINVAL', /queue pairs 0 and 1/);

    // Newer kernels say EINVAL.
    expect(sends['GID index']?.errno?.name).toMatch(/^(ENODATA|EINVAL)$/);
    expect(sends['GID index']?.message).toContain('no GID of index 200');
    told(
      sends['another kind of GID'],
      'SEND_FAILED',
      'EINVAL',
      /::ffff:10\.9\.0\.1, IPv4\) is of another kind/,
    );
    told(sends['short'], 'SEND_FAILED', 'EINVAL', /20 bytes are too few.*36/);
    told(sends['agent 7'], 'SEND_FAILED', 'EIO', /no agent 7/);
    told(sends['agent 70'], 'SEND_FAILED', 'EINVAL', /up to 31/);
    told(sends['no route header'], 'SEND_FAILED', 'EINVAL', /only address/);
    told(shortRoom, 'BAD_REPLY', 'EINVAL', /shorter than the header and the first datagram.*--room/);
    expect(nodes).toBe(0);
  });

  it.each(WAYS)('is told when the device goes away: %s', async (way) => {
    const { whileWaiting, registering, events, nodes } = await drive<{
      readonly whileWaiting: Failed;
      readonly registering: Failed;
      readonly events: readonly string[];
      readonly nodes: number;
    }>('removal', way);
    expect([whileWaiting.code, whileWaiting.errno?.name]).toEqual(['DEVICE_GONE', 'EIO']);
    expect([registering.code, registering.errno?.name]).toEqual(['DEVICE_GONE', 'EPIPE']);
    expect([events, nodes]).toEqual([['listening'], 0]);
    await expect
      .poll(async () => (await script('cat /sys/class/infiniband/rxe1/ports/1/state')).stdout, {
        timeout: 20_000,
      })
      .toContain('ACTIVE');
  });

  const MISTAKES = [
    ['send PortCounters 3 --class PERF', 2, 'LID 3 is no address'],
    ['table NodeRecord', 69, 'no subnet manager'],
    ['get PortCounters fd09:1::1', 2, 'which port?'],
    [`send PortCounters ${RIGHT} --class PERF --transport libibumad --header old`, 2, 'the device itself'],
    [`send PortCounters ${RIGHT} --class PERF --header-field nosuch=1`, 2, 'no field nosuch'],
    [`send PortCounters ${RIGHT} --class PERF --header old --pkey-index 1`, 2, 'no pkey_index'],
    ['recv', 2, '--class'],
    ['recv --class PERF --timeout 50', 75, 'nothing came within 50 ms'],
    ['serve --answers /dev/null', 2, 'JSON'],
  ] as const;

  it('names the mistake, for each of many', async () => {
    // Two at a time: the guest has two processors, and a start takes seconds.
    const commands = MISTAKES.map(([command], index) => `${index} ${command}\n`).join('');
    const { stdout } = await script(
      `printf '%s' '${commands}' | xargs -P 2 -L 1 sh -c 'n=$1; shift
        rdmatool mad "$@" -d rxe0 >/dev/null 2>$n; echo "$n $? $(grep "^rdmatool: " $n)"' sh`,
    );
    const told = stdout
      .trim()
      .split('\n')
      .sort((left, right) => Number.parseInt(left, 10) - Number.parseInt(right, 10));
    expect(told).toEqual(
      MISTAKES.map(([, status, message], index) =>
        expect.stringMatching(
          new RegExp(`^${index} ${status} rdmatool: .*${message.replaceAll('?', '\\?')}`),
        ),
      ),
    );
  });
});

it('20 servers and clients killed at work leave no agent and no descriptor', () =>
  killAtWork(place, 20, 4 * 60_000));
