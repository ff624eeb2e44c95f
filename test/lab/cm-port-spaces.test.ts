/** IPv4 and IPv6, ULA and link-local, in both directions and in each port space, to a listener on every address. */
import { expect, it, vi } from 'vitest';
import { type CmDocument, LEFT, parse, RIGHT, SERVING, useGuest } from './cm/lab.ts';
import { answersWithUpTo } from './cm/private-data.ts';

// A guest without KVM on a busy machine is slow.
vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();
const LEFT_LINK = 'fe80::ff:fe09:1';
const RIGHT_LINK = 'fe80::ff:fe09:101';

/** Source, where it is named; destination; device; local address as the document has it, without a scope. */
const WAYS = [
  [LEFT, RIGHT, 'rxe0', LEFT],
  ['fd09::1', 'fd09:1::1', 'rxe0', 'fd09::1'],
  ['fd09:1::1', 'fd09::1', 'rxe1', 'fd09:1::1'],
  [null, `${RIGHT_LINK}%veth0`, 'rxe0', LEFT_LINK],
  [null, `${LEFT_LINK}%veth1`, 'rxe1', RIGHT_LINK],
] as const;

it.each([
  ['tcp', WAYS],
  ['udp', [WAYS[0], WAYS[3]]],
  ['ib', [WAYS[1], WAYS[4]]],
] as const)('connections in port space %s', async (ps, ways) => {
  const clients = ways.map(
    ([source, destination]) =>
      `rdmatool cm connect ${destination} ${source ? `--bind ${source}` : ''} --ps ${ps} --json | tr -d '\\n'; echo`,
  );
  const { stdout, stderr } = await place.inLab([
    'bash',
    '-c',
    `${SERVING}
    serve rdmatool cm listen --ps ${ps} --count ${ways.length} --json
    until_said listening
    ${clients.join('\n')}
    served; echo $?; cat $said`,
  ]);
  const lines = stdout.trim().split('\n');
  for (const [index, [, destination, device, local]] of ways.entries()) {
    const document = parse('cm-connect', lines[index] ?? '');
    expect([document.error, document.device], stderr).toEqual([null, device]);
    expect(document.local?.addr.split('%')[0]).toBe(local);
    // A scope is shown by its index.
    expect(document.peer?.addr.split('%')[0]).toBe(destination.split('%')[0]);
    expect(document.peer?.addr.includes('%')).toBe(destination.includes('%'));
  }
  expect(lines[ways.length], stderr).toBe('0');
  const [listening, ...events] = lines
    .slice(ways.length + 1)
    .map((line) => parse<CmDocument>('cm-listen', line));
  expect(listening?.local).toEqual({ addr: '::', port: 7174 });
  const requests = events.filter(
    ({ event }) => (event as { name: string } | null)?.name === 'RDMA_CM_EVENT_CONNECT_REQUEST',
  );
  expect(requests.map(({ peer }) => peer?.addr.split('%')[0])).toEqual(ways.map(([, , , local]) => local));
});

it('port space ipoib is for InfiniBand ports, by whichever call it is refused', async () => {
  const { stdout } = await place.inLab([
    'bash',
    '-c',
    `for command in "bind fd09::1" "resolve ${RIGHT}" "resolve ${RIGHT} --bind ${LEFT}"; do
      rdmatool cm $command --ps ipoib --json | tr -d '\\n'; echo
    done`,
  ]);
  const documents = stdout
    .trim()
    .split('\n')
    .map((line, index) => parse(index === 0 ? 'cm-bind' : 'cm-resolve', line));
  expect(documents).toHaveLength(3);
  for (const { error, steps } of documents) {
    expect(error?.message).toContain('needs an InfiniBand port');
    expect(steps.at(-1)?.status).toBe(-22);
  }
});

// The others in test/long.
it.each([
  ['tcp', 'reject', 148],
  ['udp', 'accept', 136],
] as const)('%s %s carries %i bytes of private data, and no more', (ps, answer, limit) =>
  answersWithUpTo(place, ps, answer, limit),
);

it('a reason other than the application can be sent, and those that the library has not are refused', async () => {
  const { stdout } = await place.inLab([
    'bash',
    '-c',
    `${SERVING}
    serve rdmatool cm listen ${RIGHT} --reject --reason 35 --count 1 --json
    until_said listening
    rdmatool cm connect ${RIGHT} --bind ${LEFT} --json 2>/dev/null | tr -d '\\n'; echo
    served
    for reason in 8 30 36; do rdmatool cm listen --reject --reason $reason --json 2>/dev/null; echo $?; done`,
  ]);
  const [rejected = '', ...refused] = stdout.trim().split('\n');
  expect(parse('cm-connect', rejected).steps.at(-1)).toMatchObject({
    status: 35,
    status_name: 'VENDOR_OPTION_NOT_SUPPORTED',
  });
  expect(refused).toHaveLength(6);
  for (const [index, line] of refused.entries()) {
    if (index % 2 === 1) expect(line).toBe('2');
    // One line an object, a failure before the first one too.
    else expect(parse('cm-listen', line).error).toMatchObject({ code: 'USAGE' });
  }
});

it('a module that is not loaded', async () => {
  const { stdout } = await place.inLab([
    'bash',
    '-c',
    `rmmod rdma_ucm; rdmatool cm create-id --json 2>/dev/null | tr -d '\\n'; echo " \${PIPESTATUS[0]}"
    insmod /modules/rdma_ucm.ko; rdmatool cm create-id --json | tr -d '\\n'; echo " \${PIPESTATUS[0]}"`,
  ]);
  const [without = '', again = ''] = stdout.trim().split('\n');
  expect(without).toMatch(/ 69$/);
  expect(parse('cm-create-id', without.slice(0, -3)).error).toMatchObject({
    code: 'NO_MODULE',
    message: expect.stringContaining('module rdma_ucm is not loaded'),
    hint: expect.stringContaining('modprobe rdma_ucm'),
  });
  expect(again).toMatch(/ 0$/);
});
