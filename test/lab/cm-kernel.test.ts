/** The user CM's own interface, spoken without librdmacm, against the kernel of the lab. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { CmRunObject } from '../../src/model/cm-run.ts';
import type { KernelCommand } from '../../src/model/kernel-commands.ts';
import {
  BACKENDS,
  type CmDocument,
  cmJson,
  LEFT,
  parse,
  RIGHT,
  resources,
  SERVING,
  useGuest,
} from './cm/lab.ts';
import { REPOSITORY } from './roce/tools.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();
const script = (text: string) => place.inLab(['bash', '-c', text]);
const KERNEL = ['--backend', 'kernel'];

/** Runs a script of steps, and gives its objects, which fit their schema. */
async function run(steps: string, more: readonly string[] = []) {
  const outcome = await place.inLab(['rdmatool', 'cm', 'run', '-', ...KERNEL, '--json', ...more], {
    input: steps,
  });
  const objects = outcome.stdout
    .trim()
    .split('\n')
    .map((line) => parse<CmRunObject>('cm-run', line));
  return { outcome, objects };
}

const valuesOf = (fields: KernelCommand['fields']): Record<string, unknown> =>
  Object.fromEntries(fields.map(({ name, value }) => [name, value]));

describe('the 17 commands of the reference document, and GET_OPTION', () => {
  /** TCP with all that a connection has, then datagrams, then a multicast group. */
  const STEPS = `
    create-id listener
    bind-ip listener ${RIGHT}:7311
    listen listener --backlog 7
    create-id client
    set-option client tos 8
    bind-ip client ${LEFT}
    resolve-ip client ${RIGHT}:7311 --timeout 4s
    get-event client ADDR_RESOLVED within 10s
    resolve-route client --timeout 4s
    get-event client ROUTE_RESOLVED within 10s
    query-route client
    ! get-option client
    create-qp client
    connect client --private-data hello --responder-resources 2 --initiator-depth 3
    get-event listener CONNECT_REQUEST within 10s as server
    create-qp server
    accept server --private-data welcome
    notify server COMM_EST
    get-event server ESTABLISHED within 10s
    get-event client ESTABLISHED within 10s
    disconnect client
    get-event server DISCONNECTED within 10s
    disconnect server
    get-event client DISCONNECTED within 10s
    create-id refused
    resolve-ip refused ${RIGHT}:7311 --from ${LEFT}
    get-event refused ADDR_RESOLVED within 10s
    resolve-route refused
    get-event refused ROUTE_RESOLVED within 10s
    connect refused --qp-num 9
    get-event listener CONNECT_REQUEST within 10s as unwanted
    reject unwanted --private-data no
    ! get-event refused ESTABLISHED within 10s
    destroy-id unwanted
    destroy-id refused
    destroy-id client
    destroy-id server
    create-id service --ps udp
    bind-ip service ${RIGHT}:7312
    listen service
    create-id asker --ps udp
    resolve-ip asker ${RIGHT}:7312 --from ${LEFT}
    get-event asker ADDR_RESOLVED within 10s
    resolve-route asker
    get-event asker ROUTE_RESOLVED within 10s
    create-qp asker
    connect asker --private-data ask
    get-event service CONNECT_REQUEST within 10s as answerer
    create-qp answerer
    accept answerer --private-data served
    get-event asker ESTABLISHED within 10s
    create-id member --ps udp
    bind-ip member ${LEFT}
    join-ip-mcast member 239.9.1.7
    get-event member MULTICAST_JOIN within 10s
    leave-mcast member 239.9.1.7
    destroy-id member`;

  it('go to the kernel, and every field of every answer is shown', async () => {
    const before = await resources(place);
    const guid = (await script('cat /sys/class/infiniband/rxe0/node_guid')).stdout.trim();
    const { outcome, objects } = await run(STEPS, ['--show-bytes']);
    expect(outcome.stderr.replace(/^lab .*\n/gm, '')).toBe('');
    expect(outcome.status).toBe(0);
    const commands = objects.flatMap(({ kernel_commands }) => kernel_commands ?? []);
    const taken = commands.filter(({ errno }) => errno === null);
    const numbers = [...new Set(taken.map(({ command }) => command.value))].sort((a, b) => a - b);
    // All that the document has; 13 is refused.
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17]);
    const getOption = commands.find(({ command }) => command.value === 13);
    expect(getOption).toMatchObject({ result: -1, errno: { name: 'ENOSYS' } });
    for (const { bytes, result, answer, fields, notes } of taken) {
      expect(result).toBe(bytes.length / 2);
      expect(notes).toEqual([]);
      // Nothing of the bytes is left unread: fields lie side by side, but for padding.
      for (const read of answer ? [fields, answer.fields] : [fields]) {
        const ends = read.map(({ offset, size }) => offset + size);
        read.forEach(({ offset, name }, index) => {
          const end = Math.max(0, ...ends.slice(0, index));
          // The parameters of a connection are shorter than those of datagrams, whose room they have.
          const rest = name === 'reserved' && read[index - 1]?.name.startsWith('param.conn.') ? 32 : 7;
          expect(offset - end).toBeLessThanOrEqual(rest);
        });
      }
      if (answer) {
        const end = Math.max(...answer.fields.map(({ offset, size }) => offset + size));
        expect(end).toBe(answer.bytes.length / 2);
        expect(answer.notes).toEqual([]);
      }
    }
    const answers = (name: string): Record<string, unknown>[] =>
      taken.flatMap(({ command, answer }) =>
        command.name === name && answer ? [valuesOf(answer.fields)] : [],
      );
    // QUERY_ROUTE of the step of that name: both entries of ib_route, and the device.
    const asked = objects.find(({ operation }) => operation === 'query-route')?.kernel_commands?.[0];
    const route = valuesOf(asked?.answer?.fields ?? []);
    expect(route).toMatchObject({
      node_guid: guid,
      num_paths: 1,
      port_num: 1,
      dst_addr: `${RIGHT}:7311`,
      'ib_route[0].sgid': `::ffff:${LEFT}`,
      'ib_route[0].dgid': `::ffff:${RIGHT}`,
      'ib_route[0].mtu': { value: 3, name: '1024' },
      // TOS 8, which is what a packet has in its class of traffic.
      'ib_route[0].traffic_class': 8,
      'ib_route[1].dgid': '::',
    });
    expect(String(route['src_addr'])).toMatch(new RegExp(`^${LEFT}:`));
    // GET_EVENT: the parameters of a connection and of datagrams.
    const events = answers('GET_EVENT');
    const text = (data: unknown): string => Buffer.from(String(data), 'hex').toString().replace(/\0+$/, '');
    const ofEvent = (name: string): Record<string, unknown>[] =>
      events.filter((event) => (event['event'] as { name: string }).name === name);
    const [request, , asking] = ofEvent('CONNECT_REQUEST');
    expect(request).toMatchObject({
      'param.conn.private_data_len': 56,
      // What the client starts is answered by the server, and the other way round.
      'param.conn.responder_resources': 3,
      'param.conn.initiator_depth': 2,
      'param.conn.rnr_retry_count': 7,
      'param.conn.srq': 0,
    });
    expect(text(request?.['param.conn.private_data'])).toBe('hello');
    expect(asking).toMatchObject({ 'param.ud.private_data_len': 180 });
    expect(text(asking?.['param.ud.private_data'])).toBe('ask');
    expect(ofEvent('REJECTED')).toMatchObject([{ status: { value: 28, signed: 28 } }]);
    const served = ofEvent('ESTABLISHED').find((event) => 'param.ud.qp_num' in event);
    expect(served).toMatchObject({
      'param.ud.qkey': '0x1234567',
      'param.ud.ah_attr.grh.dgid': `::ffff:${RIGHT}`,
      'param.ud.ah_attr.is_global': 1,
      'param.ud.private_data_len': 136,
    });
    expect(text(served?.['param.ud.private_data'])).toBe('served');
    expect(ofEvent('MULTICAST_JOIN')).toMatchObject([{ 'param.ud.qp_num': 0xffffff }]);
    checkEventsReported(taken);
    expect(await resources(place)).toBe(before);
  });
});

/** DESTROY_ID and LEAVE_MCAST answer how many events were taken of the id: as many as GET_EVENT gave with its uid. */
function checkEventsReported(commands: readonly KernelCommand[]): void {
  // The kernel gives a number again once it is free; the uid is never the same.
  const ids = new Map<unknown, unknown>();
  const memberships = new Map<unknown, unknown>();
  const taken = new Map<unknown, number>();
  const compared: string[] = [];
  let memberOwner: unknown = null;
  for (const { command, fields, answer } of commands) {
    const asked = valuesOf(fields);
    const answered = valuesOf(answer?.fields ?? []);
    if (command.name === 'CREATE_ID') ids.set(answered['id'], asked['uid']);
    if (command.name === 'JOIN_IP_MCAST') memberships.set(answered['id'], asked['uid']);
    if (command.name === 'ACCEPT' && asked['conn_param.valid'] === 1) ids.set(asked['id'], asked['uid']);
    if (command.name === 'GET_EVENT') {
      const { uid } = answered;
      taken.set(uid, (taken.get(uid) ?? 0) + 1);
      const { name } = answered['event'] as { name: string };
      // Its uid comes with ACCEPT.
      if (name === 'CONNECT_REQUEST') ids.set(answered['id'], null);
      // An event of a membership is one of the id as well.
      const owner = [...memberships].find(([, known]) => known === uid) && memberOwner;
      if (owner) taken.set(owner, (taken.get(owner) ?? 0) + 1);
    }
    if (command.name === 'JOIN_IP_MCAST') memberOwner = ids.get(asked['id']);
    const of = command.name === 'DESTROY_ID' ? ids : command.name === 'LEAVE_MCAST' ? memberships : null;
    if (of === null) continue;
    expect(answered['events_reported'], command.name ?? '').toBe(taken.get(of.get(asked['id'])) ?? 0);
    compared.push(command.name ?? '');
  }
  expect(compared.filter((name) => name === 'LEAVE_MCAST')).toHaveLength(1);
  expect(compared.length).toBeGreaterThan(8);
}

describe('the commands that came later', () => {
  it('BIND, RESOLVE_ADDR, QUERY, JOIN_MCAST and MIGRATE_ID do; the newest need a newer kernel', async () => {
    const { outcome, objects } = await run(
      `
      create-event-channel other
      create-id a
      bind a ${LEFT}
      resolve-addr a ${RIGHT}:7313
      get-event a ADDR_RESOLVED within 10s
      resolve-route a
      migrate-id a other
      get-event a ROUTE_RESOLVED within 10s
      query a addr
      query a path
      query a gid
      ! query a ib_service
      create-id m --ps udp
      bind m ${LEFT}
      join-mcast m 239.9.1.8 --send-only
      get-event m MULTICAST_JOIN within 10s
      leave-mcast m 239.9.1.8
      !EINVAL resolve-ib-service a --service-id 0x1000000000000001
      !EINVAL write-cm-event a USER`,
      ['--show-bytes'],
    );
    expect(outcome.status).toBe(0);
    const commands = objects.flatMap(({ kernel_commands }) => kernel_commands ?? []);
    const taken = new Set(commands.filter(({ errno }) => errno === null).map(({ command }) => command.value));
    for (const number of [18, 19, 20, 21, 22]) expect(taken).toContain(number);
    const result = (what: string): Record<string, unknown> => {
      const found = objects.find(({ step }) => step === what)?.result;
      return found && 'fields' in found ? valuesOf(found.fields) : {};
    };
    expect(result('query a gid')).toMatchObject({ src_size: 48, port_num: 1 });
    expect(String(result('query a gid')['dst_addr'])).toContain(`::ffff:${RIGHT}`);
    expect(result('query a path')).toMatchObject({
      num_paths: 1,
      'path_data[0].flags': { flags: ['GMP', 'PRIMARY', 'OUTBOUND', 'INBOUND_REVERSE'] },
    });
    const newest = objects.filter(({ error }) => error?.errno?.name === 'EINVAL');
    expect(newest).toHaveLength(2);
    for (const { error } of newest) expect(error?.message).toContain('a kernel of late 2025');
  });

  const folder = join(REPOSITORY, 'examples/cm');
  it.each(
    readdirSync(folder).filter(
      (name) => !readFileSync(join(folder, name), 'utf8').includes('resolve-addrinfo'),
    ),
  )('the example %s, which needs no function of the library, runs', async (name) => {
    const outcome = await place.inLab(['rdmatool', 'cm', 'run', `examples/cm/${name}`, ...KERNEL]);
    expect(outcome.status, `${outcome.stdout}${outcome.stderr}`).toBe(0);
  });
});

describe('without librdmacm', () => {
  it.each(BACKENDS)('$backend: what is mapped into the process', async ({ backend, words }) => {
    const { stdout } = await script(`
      ${SERVING}
      serve rdmatool cm listen ${RIGHT} --count 1 ${words.join(' ')}
      until_said listening
      rdmatool cm connect ${RIGHT} --bind ${LEFT} --hold 20 ${words.join(' ')} > /dev/null & c=$!
      until_said ESTABLISHED
      cat /proc/$server/maps /proc/$c/maps; kill -INT $c; wait $c; served`);
    expect(stdout).toContain('libibverbs.so');
    expect(stdout.includes('librdmacm.so')).toBe(backend === 'librdmacm');
  });

  it.each([
    ['librdmacm', 'kernel'],
    ['kernel', 'librdmacm'],
  ])('%s listens, %s connects', async (listener, client) => {
    const server = place.startInLab(
      ['rdmatool', 'cm', 'listen', RIGHT, '--count', '2', '--json', '--private-data', 'welcome'].concat(
        '--backend',
        listener,
      ),
    );
    await server.said('"listening"');
    const connect = ['connect', RIGHT, '--bind', LEFT, '--backend', client, '--private-data', 'hello'];
    const { document } = await cmJson(place, connect);
    expect(document.error).toBeNull();
    expect(document['connection']).toMatchObject({
      private_data_text: 'welcome',
      private_data_len: 196,
      responder_resources: 1,
      initiator_depth: 1,
    });
    const shared = await cmJson(place, [...connect, '--srq', '--responder-resources', '255']);
    expect(shared.document.error).toBeNull();
    const outcome = await server.outcome;
    expect(outcome.status).toBe(0);
    expect(outcome.stdout).toContain('"private_data_text":"hello"');
  });

  it('resolves what librdmacm resolves', async () => {
    const resolve = async (backend: string) => {
      const { document } = await cmJson(place, ['resolve', RIGHT, '--bind', LEFT, '--backend', backend]);
      const { device, ib_port, peer, port_space } = document;
      const { sgid, dgid, pkey, paths } = document['route'] as {
        sgid: string;
        dgid: string;
        pkey: string;
        paths: Record<string, unknown>[];
      };
      const [path = {}] = paths;
      // Without meaning on RoCE, or of each resolution its own.
      const { flow_label: _flow, preference: _preference, dlid: _dlid, numb_path: _paths, ...rest } = path;
      return { device, ib_port, peer, port_space, sgid, dgid, pkey, count: paths.length, rest };
    };
    expect(await resolve('kernel')).toEqual(await resolve('librdmacm'));
  });

  it('--show-bytes: table and JSON say the same, and go with the kernel only', async () => {
    const bind = ['rdmatool', 'cm', 'bind', LEFT, '--show-bytes'];
    const { outcome, document } = await cmJson(place, ['bind', LEFT, ...KERNEL, '--show-bytes']);
    expect(outcome.status).toBe(0);
    const commands = document['kernel_commands'] as KernelCommand[];
    expect(commands.map(({ command }) => command.name)).toEqual([
      'CREATE_ID',
      'BIND_IP',
      'QUERY_ROUTE',
      'DESTROY_ID',
    ]);
    const table = (await place.inLab([...bind, ...KERNEL])).stdout;
    for (const { command, fields } of commands) {
      expect(table).toContain(`(command ${command.value})`);
      for (const { name } of fields) expect(table).toContain(` ${name} `);
    }
    // 02 00 00 00: the number of BIND_IP; 28 00: 40 bytes.
    expect(table).toContain('0000  02 00 00 00 28 00 00 00');
    const wrong = await place.inLab(bind);
    expect(wrong.status).toBe(2);
    expect((await cmJson(place, ['bind', LEFT])).document['kernel_commands']).toBeNull();
  });
});

describe('what the kernel refuses', () => {
  /** Step by step: the errno that the kernel answers, and words of the message. */
  const REFUSED: readonly (readonly [step: string, errno: string, words: string])[] = [
    ['write a 25', 'EINVAL', 'command 25 is not known to this edition (0 to 24)'],
    ['write a 4294967295', 'EINVAL', 'command 4294967295 is not known'],
    ['write a 10 00000000 --cut 9', 'EINVAL', '3 bytes, and the header alone has 8'],
    ['write a 10 00000000 --in 64', 'EINVAL', 'the header tells 64 bytes and 4 follow'],
    ['write a 10 00000000 --cut 1', 'EINVAL', 'the header tells 4 bytes and 3 follow'],
    ['write a 10 ffffff7f', 'ENOENT', 'no id of that number'],
    ['write a 13', 'ENOSYS', 'nothing behind that number'],
    // QUERY_ROUTE with an address of 0, and with too little room.
    [`write a 5 ${'00'.repeat(16)} --out 208`, 'EFAULT', 'the answer is to go to address 0'],
    [`write a 5 ${'00'.repeat(16)} --out 100 --response-at 0`, 'ENOSPC', 'room for 100 bytes'],
    [`write a 12 ${'00'.repeat(8)} --out 323 --response-at 0`, 'ENOSPC', 'the answer has 324'],
    ['set-option a raw 0 99 00', 'ENOSYS', 'no option of that level and name'],
    ['get-option a', 'ENOSYS', 'in every kernel'],
  ];

  it('each with its errno, a message and status 1', async () => {
    const steps = REFUSED.filter(([step]) => !step.startsWith('set-option'));
    const { outcome, objects } = await run(
      ['create-id a', ...steps.map(([step, errno]) => `!${errno} ${step}`)].join('\n'),
    );
    expect(outcome.status, outcome.stderr).toBe(0);
    for (const [step, errno, words] of steps) {
      const object = objects.find((candidate) => candidate.step?.endsWith(step));
      expect(object, step).toMatchObject({
        ok: true,
        error: { code: 'CM_CALL_FAILED', errno: { name: errno } },
      });
      expect(object?.error?.message, step).toContain(words);
      expect(object?.error?.hint).not.toBe('');
    }
    const alone = await run('create-id a\nwrite a 25');
    expect(alone.outcome.status).toBe(1);
    expect(alone.outcome.stderr).toContain('stdin:2: write a 25: ');
  });

  it('a kernel with another ABI is not spoken to', async () => {
    // Nothing in sysfs can be changed, but what is seen there.
    const outcome = await script(`
      mkdir -p /tmp/abi && cp -r /sys/class/misc/rdma_cm/abi_version /tmp/abi/ && echo 3 > /tmp/abi/abi_version
      mount --bind /tmp/abi/abi_version /sys/class/misc/rdma_cm/abi_version || exit 99
      rdmatool cm create-id --backend kernel --json; s=$?
      umount /sys/class/misc/rdma_cm/abi_version; exit $s`);
    expect(outcome.status).toBe(69);
    expect(parse<CmDocument>('cm-create-id', outcome.stdout).error).toMatchObject({ code: 'OLD_KERNEL' });
  });
});
