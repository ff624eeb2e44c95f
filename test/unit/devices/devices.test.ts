import { describe, expect, it } from 'vitest';
import { EFADV_CAP_NAMES, EFADV_CAPS, EfadvDeviceCap } from '../../../src/abi/efadv.ts';
import { linkRateGbps, unknownRate } from '../../../src/abi/link-rate.ts';
import { efaCapabilities, efaVerdict } from '../../../src/devices/efa.ts';
import { isAtLeast, majorRelease, needsRelease } from '../../../src/devices/release.ts';
import {
  hasUverbs,
  readSysfsDevice,
  sysfsDeviceNames,
  sysfsGuid,
} from '../../../src/devices/sysfs-device.ts';
import { EFA_FILES, recordedMachine } from './recorded.ts';

const RELEASES = Array.from({ length: 40 }, (_, index) => 26 + index);

describe("EFA's capabilities under libefa 26 to 65", () => {
  it.each(RELEASES)('%i: a bit that is not set is no only where the library could have set it', (release) => {
    const { caps, needs } = efaCapabilities(0, `${release}.0`);
    for (const name of EFADV_CAP_NAMES) {
      const { since } = EFADV_CAPS[name];
      expect(caps[name], name).toBe(release >= since ? false : null);
      expect(needs[name], name).toBe(release >= since ? undefined : `rdma-core ${since}`);
    }
  });

  it.each(RELEASES)('%i: a bit that is set is yes, whoever says so', (release) => {
    for (const name of EFADV_CAP_NAMES) {
      const { caps, needs } = efaCapabilities(Number(EfadvDeviceCap.maskOf(name)), `${release}.0`);
      expect(caps[name]).toBe(true);
      expect(needs[name]).toBeUndefined();
    }
  });

  it('nothing is no where the release is not known', () => {
    const { caps, needs } = efaCapabilities(1, null);
    expect(caps.RDMA_READ).toBe(true);
    expect(caps.RDMA_WRITE).toBeNull();
    expect(Object.keys(needs)).toEqual(EFADV_CAP_NAMES.filter((name) => name !== 'RDMA_READ'));
  });

  it('bits to come change nothing', () => {
    expect(efaCapabilities(0xffffff80, '65.0')).toEqual(efaCapabilities(0, '65.0'));
  });

  it.each([
    [0x9, '65.0', 'RDMA read yes, RDMA write yes, up to 1 GiB'],
    [0x1, '65.0', 'RDMA read yes, RDMA write no, up to 1 GiB'],
    [0x0, '46.0', 'RDMA read no, RDMA write no'],
    [
      0x1,
      '44.0',
      'RDMA read yes, RDMA write unknown, up to 1 GiB (libefa 44.0 cannot tell, rdma-core 46 can)',
    ],
    [0x0, '44.0', 'RDMA read no, RDMA write unknown (libefa 44.0 cannot tell, rdma-core 46 can)'],
    [0x0, '26.0', 'RDMA read unknown, RDMA write unknown (libefa 26.0 cannot tell, rdma-core 46 can)'],
    [
      0x1,
      null,
      'RDMA read yes, RDMA write unknown, up to 1 GiB (this libefa may be too old to tell, rdma-core 46 can)',
    ],
  ])('mask %i under %s: %s', (mask, version, verdict) => {
    expect(efaVerdict(efaCapabilities(mask, version), 2 ** 30, version)).toBe(verdict);
  });
});

describe('releases', () => {
  it.each([
    ['44.0', 44],
    ['56.1', 56],
    ['58.amzn0', 58],
    ['', null],
    [null, null],
    ['unknown', null],
  ])('%s', (version, major) => {
    expect(majorRelease(version)).toBe(major);
    expect(isAtLeast(version, 50)).toBe(major === null ? null : major >= 50);
  });

  it('what needs a newer one says which, and which this is', () => {
    expect(needsRelease('x', 62, 'libibverbs', '44.0')).toBe('x needs rdma-core 62; this libibverbs is 44.0');
    expect(needsRelease('x', 62, 'libibverbs', null)).toBe(
      'x needs rdma-core 62; this libibverbs is of unknown release',
    );
  });
});

describe('the rate of a link', () => {
  // As the kernel's sysfs prints them: "100 Gb/sec (4X EDR)".
  it.each([
    ['1X', 1, 'SDR', 1, 2.5],
    ['4X', 2, 'DDR', 2, 20],
    ['4X', 2, 'QDR', 4, 40],
    ['4X', 2, 'FDR10', 8, 40],
    ['4X', 2, 'FDR', 16, 56],
    ['4X', 2, 'EDR', 32, 100],
    ['4X', 2, 'HDR', 64, 200],
    ['2X', 16, 'HDR', 64, 100],
    ['8X', 4, 'HDR', 64, 400],
    ['4X', 2, 'NDR', 128, 400],
    ['2X', 16, 'NDR', 128, 200],
    ['4X', 2, 'XDR', 256, 800],
    ['12X', 8, 'EDR', 32, 300],
  ])('%s (%i) %s (%i) is %d Gb/s', (_width, width, _speed, speed, rate) => {
    expect(linkRateGbps(width, speed)).toBe(rate);
  });

  it.each([
    [32, 128, 'width code 32 is not known'],
    [2, 512, 'speed code 512 is not known'],
    [0, 0, 'width code 0 and speed code 0 are not known'],
  ])('width %i and speed %i: none, and why', (width, speed, reason) => {
    expect(linkRateGbps(width, speed)).toBeNull();
    expect(unknownRate(width, speed)).toBe(reason);
  });
});

describe('a device in sysfs', () => {
  it('of EFA', () => {
    const machine = recordedMachine({ files: EFA_FILES, nodes: { uverbs0: { mode: '0666' } } });
    expect(sysfsDeviceNames(machine)).toEqual(['rdmap0s6']);
    expect(hasUverbs(machine)).toBe(true);
    expect(sysfsGuid(machine, 'rdmap0s6')).toBe('0242:acff:fe11:0002');
    expect(readSysfsDevice(machine, 'rdmap0s6')).toEqual({
      driver: 'efa',
      pci_address: '0000:00:06.0',
      numa_node: 0,
      netdevs: [],
      node_desc: null,
      fw_ver: '0.0.0.0',
      hca_type: null,
      board_id: null,
      uverbs: 'uverbs0',
      uverbs_node: {
        path: '/dev/infiniband/uverbs0',
        mode: '0666',
        owner: 'root',
        group: 'root',
        accessible: true,
      },
      ports: [
        {
          port: 1,
          state: '4: ACTIVE',
          phys_state: '5: LinkUp',
          link_layer: 'Unknown',
          rate: '100 Gb/sec (4X EDR)',
        },
      ],
    });
  });

  it('of two that share a PCI function, each has its own node', () => {
    const machine = recordedMachine({
      files: {
        ...Object.fromEntries(
          ['mlx4_0', 'mlx4_1'].flatMap((name) => [
            [`class/infiniband/${name}/device/infiniband_verbs/uverbs0/ibdev`, 'mlx4_0'],
            [`class/infiniband/${name}/device/infiniband_verbs/uverbs1/ibdev`, 'mlx4_1'],
          ]),
        ),
        'class/infiniband_verbs/uverbs0/ibdev': 'mlx4_0',
        'class/infiniband_verbs/uverbs1/ibdev': 'mlx4_1',
      },
    });
    expect(readSysfsDevice(machine, 'mlx4_1').uverbs).toBe('uverbs1');
    expect(readSysfsDevice(machine, 'mlx4_0').uverbs).toBe('uverbs0');
  });

  it('of a soft device: the interface that it stands on, and the node by its name', () => {
    const machine = recordedMachine({
      files: {
        'class/infiniband/rxe0/parent': 'ens160',
        'class/infiniband_verbs/uverbs0/ibdev': 'mlx5_0',
        'class/infiniband_verbs/uverbs1/ibdev': 'rxe0',
      },
    });
    expect(readSysfsDevice(machine, 'rxe0')).toMatchObject({
      driver: null,
      netdevs: ['ens160'],
      uverbs: 'uverbs1',
    });
  });

  it('whose driver stands in a link only', () => {
    const machine = recordedMachine({
      files: { 'class/infiniband/mlx5_0/device/driver': { link: '../../../../bus/pci/drivers/mlx5_core' } },
    });
    expect(readSysfsDevice(machine, 'mlx5_0').driver).toBe('mlx5_core');
  });

  it('that is not there is all null, and no GUID is made up', () => {
    const machine = recordedMachine({ files: { 'class/infiniband/x/node_guid': 'nonsense' } });
    expect(readSysfsDevice(machine, 'y')).toMatchObject({
      driver: null,
      uverbs: null,
      uverbs_node: null,
      ports: [],
    });
    expect(sysfsGuid(machine, 'x')).toBeNull();
    expect(sysfsGuid(machine, 'y')).toBeNull();
    expect(sysfsDeviceNames(recordedMachine({}))).toBeNull();
  });
});
