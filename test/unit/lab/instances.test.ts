import { describe, expect, it } from 'vitest';
import { labDevice } from '../../../src/lab/efa/device.ts';
import { EFA_INSTANCES, findInstance } from '../../../src/lab/efa/instances.ts';
import { modelProfile } from '../../../src/lab/efa/models.ts';
import { readProfile } from '../../../src/lab/efa/profile-json.ts';

describe('instance types', () => {
  // Counts, names and part ids: what users of such machines have published.
  it.each([
    ['c5n.18xlarge', 1, 'efa0'],
    ['p4d.24xlarge', 4, 'efa1'],
    ['p5.48xlarge', 32, 'efa2'],
    ['p5en.48xlarge', 16, 'efa2'],
  ])('%s has %d x %s', (name, count, model) => {
    const devices = findInstance(name)?.devices ?? [];
    expect(devices).toHaveLength(count);
    expect(new Set(devices.map((device) => device.model))).toEqual(new Set([model]));
    expect(new Set(devices.map((device) => device.name)).size).toBe(count);
  });

  it('have the names that such machines show', () => {
    const namesOf = (name: string) => findInstance(name)?.devices.map((device) => device.name);
    expect(namesOf('p4d.24xlarge')).toEqual(['rdmap16s27', 'rdmap32s27', 'rdmap144s27', 'rdmap160s27']);
    expect(namesOf('p5en.48xlarge')).toEqual(expect.arrayContaining(['rdmap85s0', 'rdmap163s0']));
    const p5 = namesOf('p5.48xlarge') ?? [];
    // rdmap115s0 was seen as uverbs10.
    expect(p5.indexOf('rdmap115s0')).toBe(10);
    expect(p5[0]).toBe('rdmap79s0');
    expect(p5.at(-1)).toBe('rdmap201s0');
  });

  it('p5en has links of 200 Gb/s: 4X HDR', () => {
    const [device] = findInstance('p5en.48xlarge')?.devices ?? [];
    const profile = readProfile(device?.changes, modelProfile('efa2'), 'p5en');
    expect(profile.ports[0]?.query_port).toMatchObject({ active_width: 2, active_speed: 64 });
    expect(profile.ports[0]?.speed).toBe(2000n);
  });

  it('say in a line what was not read from such a machine', () => {
    for (const { description } of EFA_INSTANCES) expect(description).toMatch(/assumed/);
  });
});

describe('identities', () => {
  const device = (name: string, index: number) => labDevice(name, index, modelProfile('efa2'), {});
  const gidOf = (name: string, index: number, port = 1) => {
    const [entry] = modelProfile('efa2').ports[0]?.gids ?? [];
    return entry === undefined ? '' : Buffer.from(device(name, index).gid(port, entry)).toString('hex');
  };

  it('are all different and always the same', () => {
    const names = Array.from({ length: 256 }, (_, index) => `rdmap${index}s0`);
    const guids = names.map((name, index) => device(name, index).nodeGuid);
    const gids = names.map((name, index) => gidOf(name, index));
    expect(new Set(guids).size).toBe(256);
    expect(new Set(gids).size).toBe(256);
    expect(guids).toEqual(names.map((name, index) => device(name, index).nodeGuid));
    expect(guids.includes(0n)).toBe(false);
    expect(gids.every((gid) => gid.startsWith('fe80000000000000') && gid.slice(22, 26) === 'fffe')).toBe(
      true,
    );
    expect(gidOf('a', 0, 1)).not.toBe(gidOf('a', 0, 2));
  });

  it('PCI addresses follow the names, as udev made the names from them', () => {
    expect(device('rdmap16s27', 0).pciAddress).toBe('0000:10:1b.0');
    expect(device('rdmap201s0', 31).pciAddress).toBe('0000:c9:00.0');
    expect(labDevice('rxe0', 0, modelProfile('rxe'), {}).pciAddress).toBeNull();
    const others = Array.from({ length: 256 }, (_, index) => device(`efa_${index}`, index).pciAddress);
    expect(new Set(others).size).toBe(256);
  });
});
