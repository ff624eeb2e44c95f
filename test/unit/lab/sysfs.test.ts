import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { labDevice } from '../../../src/lab/efa/device.ts';
import { type MachineFaults, parseFaults } from '../../../src/lab/efa/faults.ts';
import { modelProfile } from '../../../src/lab/efa/models.ts';
import type { Profile } from '../../../src/lab/efa/profile.ts';
import { readProfile } from '../../../src/lab/efa/profile-json.ts';
import { writeSysfs } from '../../../src/lab/efa/sysfs.ts';

const made: string[] = [];
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true });
});

/** The tree of one device, and a way to read its attributes. */
function treeOf(name: string, profile: Profile, faults: readonly string[] = []) {
  const base = mkdtempSync(join(tmpdir(), 'rdmatool-test-'));
  made.push(base);
  const root = join(base, 'sys');
  const machine: MachineFaults = parseFaults(faults).machine;
  writeSysfs(root, [labDevice(name, 0, profile, {})], machine);
  return {
    root,
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
    list: (path: string) => readdirSync(join(root, path)).sort(),
    follow: (path: string) => realpathSync(join(root, path)).slice(realpathSync(root).length + 1),
  };
}

const EFA2 = modelProfile('efa2');
const PORT = 'class/infiniband/rdmap16s27/ports/1';

describe('the sysfs tree', () => {
  // Expected texts: what the kernel's drivers/infiniband/core/sysfs.c and EFA machines show.
  it('shows an EFA device as its kernel does', () => {
    const { read, list, follow } = treeOf('rdmap16s27', EFA2);
    const device = 'class/infiniband/rdmap16s27';
    expect(follow(device)).toBe('devices/pci0000:00/0000:10:1b.0/infiniband/rdmap16s27');
    expect(follow(`${device}/device`)).toBe('devices/pci0000:00/0000:10:1b.0');
    expect(follow('class/infiniband_verbs/uverbs0/device')).toBe('devices/pci0000:00/0000:10:1b.0');
    expect(follow(`${device}/device/driver`)).toBe('bus/pci/drivers/efa');
    expect(read(`${device}/node_type`)).toBe('7: unspecified\n');
    expect(read(`${device}/node_guid`)).toMatch(/^([0-9a-f]{4}:){3}[0-9a-f]{4}\n$/);
    expect(read(`${device}/sys_image_guid`)).toBe('0000:0000:0000:0000\n');
    expect(read(`${device}/device/vendor`)).toBe('0x1d0f\n');
    expect(read(`${device}/device/device`)).toBe('0xefa2\n');
    expect(read(`${device}/device/class`)).toBe('0x020000\n');
    expect(read(`${device}/device/modalias`)).toMatch(/^pci:v00001D0Fd0000EFA2sv/);
    expect(read('class/infiniband_verbs/abi_version')).toBe('6\n');
    expect(read('class/infiniband_verbs/uverbs0/dev')).toBe('231:192\n');
    expect(read('class/infiniband_verbs/uverbs0/ibdev')).toBe('rdmap16s27\n');
    expect(read(`${PORT}/state`)).toBe('4: ACTIVE\n');
    expect(read(`${PORT}/phys_state`)).toBe('5: LinkUp\n');
    expect(read(`${PORT}/link_layer`)).toBe('Unknown\n');
    expect(read(`${PORT}/rate`)).toBe('100 Gb/sec (4X EDR)\n');
    expect(read(`${PORT}/lid`)).toBe('0x0\n');
    expect(read(`${PORT}/lid_mask_count`)).toBe('1\n');
    expect(read(`${PORT}/cap_mask`)).toBe('0x00000000\n');
    expect(read(`${PORT}/pkeys/0`)).toBe('0xffff\n');
    expect(read(`${PORT}/gids/0`)).toMatch(/^fe80:0000:0000:0000:([0-9a-f]{4}:){3}[0-9a-f]{4}\n$/);
    expect(read(`${PORT}/hw_counters/tx_bytes`)).toBe('0\n');
    expect(list('module')).toEqual(['efa', 'ib_core', 'ib_uverbs']);
    expect(list('bus/pci/devices')).toEqual(['0000:10:1b.0']);
    expect(list(device)).not.toContain('board_id');
  });

  it('refuses the type of a GID that is not RoCE with EINVAL', () => {
    const { read } = treeOf('rdmap16s27', EFA2);
    for (const attribute of ['types', 'ndevs']) {
      expect(() => read(`${PORT}/gid_attrs/${attribute}/0`)).toThrow(
        expect.objectContaining({ code: 'EINVAL' }),
      );
    }
  });

  it('shows a soft device without a PCI function', () => {
    const { read, list, root } = treeOf('rxe0', modelProfile('rxe'));
    const port = 'class/infiniband/rxe0/ports/1';
    expect(list('class/infiniband/rxe0')).not.toContain('device');
    expect(readlinkSync(join(root, 'class/infiniband/rxe0'))).toBe('../../devices/virtual/infiniband/rxe0');
    expect(read('class/infiniband/rxe0/node_type')).toBe('1: CA\n');
    expect(read('class/infiniband/rxe0/parent')).toBe('eth0\n');
    expect(read(`${port}/link_layer`)).toBe('Ethernet\n');
    expect(read(`${port}/rate`)).toBe('10 Gb/sec (1X FDR10)\n');
    expect(read(`${port}/gid_attrs/types/0`)).toBe('RoCE v2\n');
    expect(read(`${port}/gid_attrs/ndevs/1`)).toBe('eth0\n');
    expect(read(`${port}/gids/1`)).toMatch(/^0000:0000:0000:0000:0000:ffff:/);
    // An empty slot.
    expect(read(`${port}/gids/1023`)).toBe('0000:0000:0000:0000:0000:0000:0000:0000\n');
    expect(list(`${port}/gids`)).toHaveLength(1024);
  });

  // Width code, speed code, text: rate_show of the kernel.
  it.each([
    [2, 64, '200 Gb/sec (4X HDR)'],
    [4, 64, '400 Gb/sec (8X HDR)'],
    [2, 128, '400 Gb/sec (4X NDR)'],
    [2, 256, '800 Gb/sec (4X XDR)'],
    [1, 1, '2.5 Gb/sec (1X)'],
    [8, 16, '168 Gb/sec (12X FDR)'],
    [16, 32, '50 Gb/sec (2X EDR)'],
  ])('width %d, speed %d: %s', (active_width, speed, text) => {
    const query_port = { active_width, active_speed: Math.min(speed, 128), active_speed_ex: speed };
    const { read } = treeOf('rdmap16s27', readProfile({ ports: [{ query_port }] }, EFA2, 'test'));
    expect(read(`${PORT}/rate`)).toBe(`${text}\n`);
  });

  it.each([
    ['no-module', ['infiniband'], ['efa', 'ib_core'], 1],
    ['no-driver', [], [], 1],
    ['no-device', ['infiniband', 'infiniband_verbs'], ['efa', 'ib_core', 'ib_uverbs'], 0],
  ])('%s leaves out what is not there', (fault, classes, modules, functions) => {
    const { list } = treeOf('rdmap16s27', EFA2, [fault]);
    expect(list('class')).toEqual(classes);
    expect(list('module')).toEqual(modules);
    expect(list('bus/pci/devices')).toHaveLength(functions);
  });
});
