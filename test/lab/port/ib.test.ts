/** `rdmatool port` on a simulated InfiniBand fabric, beside ibstat(8). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rdmatool } from '../support/rdmatool.ts';
import { checkDocument } from '../support/schemas.ts';

it('shows LIDs, GUIDs and the capability mask as ibstat does, from sysfs where there are no verbs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rdmatool-ib-port-'));
  try {
    const { stdout, stderr, status } = await rdmatool(
      ['lab', 'run', 'ib', '--', 'sh', '-c', 'rdmatool port --json; echo ==$?; ibstat ibsim0'],
      { cwd: folder },
    );
    expect(status, stderr).toBe(0);
    const [json = '', exit = '', ibstat = ''] = stdout.split(/^==(\d+)\n/m);
    // The simulator has no verbs: that is said, and does not hide the port.
    expect(exit).toBe('69');
    const document = checkDocument(json);
    if (document.schema !== 'rdmatool/port/1') throw new Error(document.schema);
    expect(document.error?.code).toBe('NO_MODULE');
    const said = (label: string): string => new RegExp(`${label}: *(\\S+)`).exec(ibstat)?.[1] ?? '';
    const hex = (guid: string | null | undefined): string => `0x${guid?.replaceAll(':', '')}`;
    expect(document.ports.length).toBe(Number(said('Number of ports')));
    const [port] = document.ports;
    expect(port).toMatchObject({ device: 'ibsim0', port: 1, source: 'sysfs', state: { name: 'ACTIVE' } });
    expect(said('State')).toBe('Active');
    expect([port?.lid, port?.sm_lid, port?.lmc, port?.rate_gbps].map(String)).toEqual(
      ['Base lid', 'SM lid', 'LMC', 'Rate'].map(said),
    );
    expect(hex(port?.port_guid)).toBe(said('Port GUID'));
    expect(hex(port?.node_guid)).toBe(said('Node GUID'));
    expect(Number(port?.port_cap_flags?.value)).toBe(Number(said('Capability mask')));
    expect(port?.fw_ver).toBe(said('Firmware version'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
