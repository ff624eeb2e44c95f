/** `rdmatool trace` on the real kernel, with rdma-core's own programs under it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { TraceEntry, TraceSummary } from '../../src/model/trace.ts';
import { LEFT, RIGHT, useGuest } from './cm/lab.ts';
import { products } from './support/json.ts';

vi.setConfig({ testTimeout: 240_000 });
const place = useGuest();
const script = (text: string) => place.inLab(['bash', '-c', text]);

const LISTENING = 'until rdma resource show cm_id | grep -q LISTEN; do sleep 0.1; done';

/** What rdmatool prints of a program, which runs beside a server. */
async function traced(
  command: string,
  server = '',
): Promise<{ entries: TraceEntry[]; summary: TraceSummary }> {
  const serving = server === '' ? '' : `${server} >/dev/null 2>&1 & s=$!; ${LISTENING};`;
  const { stdout, stderr, status } = await script(
    `${serving} rdmatool trace --json -- ${command} 2>/dev/null; e=$?; [ -z "$s" ] || kill $s; exit $e`,
  );
  expect(status, stderr).toBe(0);
  const objects = products<TraceEntry | TraceSummary>(stdout);
  const entries = objects.filter((object) => object.schema === 'rdmatool/trace/1');
  const [summary] = objects.filter((object) => object.schema === 'rdmatool/trace-summary/1');
  if (!summary) throw new Error('there is no summary');
  return { entries, summary };
}

/** The names in `wanted` come in that order, whatever is between them. */
function expectInOrder(entries: readonly TraceEntry[], wanted: readonly string[]): void {
  const names = [...entries].sort((a, b) => a.line - b.line).map(({ name }) => name);
  let at = 0;
  for (const name of wanted) {
    const found = names.indexOf(name, at);
    expect(
      found,
      `${name} after ${wanted.slice(0, wanted.indexOf(name)).join(', ')} in ${names.join(', ')}`,
    ).not.toBe(-1);
    at = found + 1;
  }
}

describe('what a program asks of rdma_cm', () => {
  // The order of steps of a client and a server is that of rdma_cm(7).
  it.each([
    [
      'rping, a client',
      `rping -c -a ${LEFT} -I ${RIGHT} -C 2`,
      `rping -s -a ${LEFT} -C 2`,
      ['CREATE_ID', 'RESOLVE_ADDR', 'RESOLVE_ROUTE', 'CONNECT', 'ACCEPT', 'DISCONNECT', 'DESTROY_ID'],
    ],
    [
      'ucmatose, a client',
      `ucmatose -s ${LEFT} -b ${RIGHT} -c 1 -C 2`,
      `ucmatose -b ${LEFT} -c 1 -C 2`,
      ['CREATE_ID', 'RESOLVE_ADDR', 'RESOLVE_ROUTE', 'CONNECT', 'ACCEPT', 'DISCONNECT', 'DESTROY_ID'],
    ],
    [
      'udaddy, a client',
      `udaddy -s ${LEFT} -b ${RIGHT} -c 1 -C 2`,
      `udaddy -b ${LEFT} -c 1 -C 2`,
      ['CREATE_ID', 'RESOLVE_ADDR', 'RESOLVE_ROUTE', 'CONNECT', 'DESTROY_ID'],
    ],
    [
      'cmtime, a client',
      `cmtime -s ${LEFT} -b ${RIGHT} -c 3`,
      `cmtime -b ${LEFT} -c 3`,
      ['CREATE_ID', 'RESOLVE_ADDR', 'RESOLVE_ROUTE', 'CONNECT', 'ACCEPT', 'DISCONNECT', 'DESTROY_ID'],
    ],
  ])('%s', async (_name, command, server, steps) => {
    const { entries, summary } = await traced(command, server);
    expectInOrder(entries, steps);
    expect(summary).toMatchObject({ error: null, exit_status: 0, damaged: [] });
    const resolved = entries.find(({ name }) => name === 'RESOLVE_ADDR');
    expect(resolved?.brief).toContain(`${RIGHT}:0 -> ${LEFT}:7`);
    expect(resolved?.program).toBe(command.split(' ')[0]);
  });

  it('mckey, a member of a group', async () => {
    const { entries } = await traced(`timeout -s INT 20 mckey -m 239.1.1.1 -b ${LEFT} -s -c 1 -C 1 || true`);
    expectInOrder(entries, ['CREATE_ID', 'RESOLVE_ADDR', 'JOIN_MCAST']);
  });

  it('a server, and what fails', async () => {
    const { entries } = await traced(`sh -c "timeout -s INT 5 ucmatose -b 10.9.9.9 || true"`);
    const bind = entries.filter(({ name, result }) => name === 'BIND' && result.errno !== null);
    // ucmatose says: Cannot assign requested address.
    expect(bind.map(({ result }) => result.errno)).toEqual(['EADDRNOTAVAIL']);
  });

  it('threads and children are followed', async () => {
    const { entries } = await traced(`sh -c "(rdmatool cm bind ${LEFT}; true) & wait"`);
    expect(new Set(entries.map(({ pid }) => pid)).size).toBeGreaterThan(1);
    expectInOrder(entries, ['CREATE_ID', 'BIND', 'DESTROY_ID']);
  });
});

describe('what a program asks of umad', () => {
  it('ibping registers, and its datagram is decoded', async () => {
    const { entries } = await traced('sh -c "ibping -c 1 -L 1; true"');
    expectInOrder(entries, ['open', 'ENABLE_PKEY', 'REGISTER_AGENT']);
    const sent = entries.find(({ call }) => call === 'write');
    expect(sent?.fields).toMatchObject({ header: 'new', 'mad.mgmt_class': { value: 0x32 }, 'umad.lid': 1 });
    // ibping says: send failed; Invalid argument.
    expect(sent?.result.errno).toBe('EINVAL');
  });
});

describe('the program', () => {
  it("has its stdout on stderr, or with -o where it was; its exit status is trace's", async () => {
    const plain = await script('rdmatool trace -- sh -c "echo said; exit 3"');
    expect(plain).toMatchObject({ status: 3, stdout: 'No call on an RDMA device.\n' });
    expect(plain.stderr).toContain('said');
    const filed = await script(
      'rdmatool trace -o /tmp/trace -- sh -c "echo said; ibstat -l >/dev/null"; cat /tmp/trace',
    );
    expect(filed.stdout).toContain('said');
  });

  it('that there is not is 127', async () => {
    const outcome = await script('rdmatool trace -- nosuchprogram');
    expect(outcome).toMatchObject({ status: 127 });
    expect(outcome.stderr).toContain('nosuchprogram: command not found');
  });

  it('ended by Ctrl-C ends the trace, with what it has seen', async () => {
    // With job control a job has a process group of its own, which Ctrl-C goes to.
    const outcome = await script(
      `set -m; rdmatool trace -o /tmp/trace -- rdmatool cm listen ${LEFT} & t=$!; ${LISTENING}; kill -INT -$t; wait $t; echo "status $?"; grep -c LISTEN /tmp/trace; pgrep strace`,
    );
    expect(outcome.stdout).toMatch(/status 130\n[12]\n$/);
  });

  it('leaves no file behind', async () => {
    const { stdout } = await script(
      'ls /tmp >/tmp/.before; rdmatool trace -- true >/dev/null; ls /tmp | diff /tmp/.before -',
    );
    expect(stdout).toBe('');
  });
});

describe('where there is no strace', () => {
  const RDMATOOL = join(import.meta.dirname, '../../bin/rdmatool.js');

  it('the package is named, and how to read a log from elsewhere', () => {
    const { status, stderr } = spawnSync(process.execPath, [RDMATOOL, 'trace', '--', 'true'], {
      env: { PATH: '/nonexistent' },
      encoding: 'utf8',
    });
    expect(status).toBe(69);
    expect(stderr).toContain('install strace');
    expect(stderr).toContain('--read');
  });

  it('or it may not trace, its own words are told', async () => {
    // As in a container whose seccomp profile refuses ptrace(2): no strace of another user's process.
    const outcome = await script(
      'mkdir -p /tmp/bin; printf "#!/bin/sh\\necho \\"strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted\\" >&2; exit 1\\n" > /tmp/bin/strace; chmod +x /tmp/bin/strace; PATH=/tmp/bin:$PATH rdmatool trace -- true',
    );
    expect(outcome.status).toBe(77);
    expect(outcome.stderr).toContain('Operation not permitted');
    expect(outcome.stderr).toContain('SYS_PTRACE');
  });
});
