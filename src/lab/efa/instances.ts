/** EC2 instance types with the EFA devices that they have. */
import { efaLink, type ModelName } from './models.ts';

/** One device of an instance. */
export interface InstanceDevice {
  readonly name: string;
  readonly model: ModelName;
  /** What differs from the model, as a profile file has it. */
  readonly changes: {
    readonly ports?: readonly [ReturnType<typeof efaLink>];
    readonly sysfs: {
      readonly numa_node: { readonly value: number; readonly source: 'observed' | 'assumed' };
    };
  };
}

export interface Instance {
  readonly name: string;
  /** One line for people, with what was not read from such a machine. */
  readonly description: string;
  readonly devices: readonly InstanceDevice[];
}

/** `rdmapBsS`: bus and slot of the PCI function, as udev's rule names EFA devices. */
const names = (buses: readonly number[], slot: number): string[] => buses.map((bus) => `rdmap${bus}s${slot}`);

/** `count` buses from each start on. */
const runs = (starts: readonly number[], count: number): number[] =>
  starts.flatMap((start) => Array.from({ length: count }, (_, index) => start + index));

/** The first half of the devices on NUMA node 0, the second on node 1. */
function halves(
  model: ModelName,
  deviceNames: readonly string[],
  source: 'observed' | 'assumed',
  link?: ReturnType<typeof efaLink>,
): InstanceDevice[] {
  return deviceNames.map((name, index) => ({
    name,
    model,
    changes: {
      ...(link === undefined ? {} : { ports: [link] as const }),
      sysfs: { numa_node: { value: index < deviceNames.length / 2 ? 0 : 1, source } },
    },
  }));
}

export const EFA_INSTANCES: readonly Instance[] = [
  {
    name: 'c5n.18xlarge',
    description: '1 x efa0; the name of the device is assumed',
    devices: [
      { name: 'rdmap0s6', model: 'efa0', changes: { sysfs: { numa_node: { value: 0, source: 'assumed' } } } },
    ],
  },
  {
    name: 'p4d.24xlarge',
    description: '4 x efa1; the names are real, the part id and the NUMA nodes assumed',
    devices: halves('efa1', names([16, 32, 144, 160], 27), 'assumed'),
  },
  {
    name: 'p5.48xlarge',
    description: '32 x efa2; names and NUMA nodes are real, the part id is assumed',
    devices: halves('efa2', names(runs([79, 96, 113, 130, 147, 164, 181, 198], 4), 0), 'observed'),
  },
  {
    name: 'p5en.48xlarge',
    description: '16 x efa2 of 200 Gb/s; names and part id are real, the NUMA nodes assumed',
    devices: halves('efa2', names(runs([85, 110, 135, 160], 4), 0), 'assumed', efaLink(200)),
  },
];

export const findInstance = (name: string): Instance | undefined =>
  EFA_INSTANCES.find((instance) => instance.name === name);
