/** Commands on this machine as it is. Where it has RDMA hardware, there is nothing to see here. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { product } from './support/json.ts';
import { lab } from './support/labs.ts';
import { list, queryDevice, rdmatool } from './support/rdmatool.ts';

function hasDevices(): boolean {
  try {
    return readdirSync('/sys/class/infiniband').length > 0;
  } catch {
    return false;
  }
}

describe.skipIf(hasDevices())('without RDMA hardware', () => {
  it('rdmatool alone says what there is, and what to do next', async () => {
    const { status, stdout, stderr } = await rdmatool([]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    for (const command of ['query-device', 'list', 'lab run', 'schema'])
      expect(stdout).toContain(`  ${command}`);
    expect(stdout).toContain('no RDMA device here');
    expect(stdout).toContain('rdmatool lab run efa -- rdmatool query-device');
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it.each([['list'], ['query-device']])(
    '%s says what is missing, and how to see it at work',
    async (command) => {
      const { status, stdout, stderr } = await rdmatool([command]);
      expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
      expect(stderr).toMatch(/^rdmatool: no RDMA device: .+\nnext: .+\n$/);
    },
  );

  it('--json has the same in a document', async () => {
    const [short, long] = await Promise.all([list([]), queryDevice([])]);
    expect([short.status, long.status]).toEqual([69, 69]);
    expect(short.document.error).toEqual(long.document.error);
    expect(short.document.devices).toEqual([]);
  });

  it.each([['counters'], ['mad', 'get', 'NodeInfo']])(
    '%s %s --watch: a failure is one line too',
    async (...words) => {
      const { stdout } = await rdmatool([...words, '--watch', '1', '--json']);
      expect(stdout.trimEnd().split('\n')).toHaveLength(1);
      expect(product<{ error: object | null }>(stdout).error).not.toBeNull();
    },
  );

  it('the command that is offered works', async () => {
    const { status, stdout } = await rdmatool(['lab', 'run', 'efa', '--', 'rdmatool', 'query-device']);
    expect(status).toBe(0);
    expect(stdout).toContain('rdmap0s6');
  });
});

describe('with devices', () => {
  it('rdmatool alone counts them, and offers what looks at them', async () => {
    const { status, stdout } = await rdmatool([], { lab: await lab({ instance: 'p5.48xlarge' }) });
    expect(status).toBe(0);
    expect(stdout).toContain('RDMA devices here: 32 (rdmap79s0, rdmap80s0, rdmap81s0, rdmap82s0 …)');
    expect(stdout).toContain('rdmatool list');
    expect(stdout).toContain('rdmatool query-device');
  });
});
