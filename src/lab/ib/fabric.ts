/** The fabric that the simulator plays: a topology file as ibnetdiscover(8) prints it, given or generated. */
import { readFileSync } from 'node:fs';
import { LabError, usageError } from '../error.ts';

export interface FabricNode {
  /** Between quotes in the topology file: `H1`, `S-0002c90200000001`. */
  readonly id: string;
  /** NodeDescription, where the file has one. */
  readonly description: string | null;
  readonly isSwitch: boolean;
  readonly ports: number;
}

export interface Fabric {
  /** Contents of the topology file. */
  readonly topology: string;
  readonly nodes: readonly FabricNode[];
  /** `pair`, or the name of the file. */
  readonly title: string;
}

/** What --fabric takes. */
export const FABRICS = [
  { syntax: 'pair', description: 'two hosts, H1 and H2, on one switch' },
  {
    syntax: 'fat-tree:LEAFS,SPINES,HOSTS',
    description: 'a two-level tree; HOSTS on each leaf, named H0_0, H0_1 …; leafs L0 …, spines S0 …',
  },
] as const;

const MOST_NODES = 10_000;
/** A port number is 8 bits, and 255 means all ports. */
const MOST_PORTS = 254;

/** A fabric of one of FABRICS. Throws LabError. */
export function builtInFabric(specification: string): Fabric {
  if (specification === 'pair') return fromTopology(pair(), 'pair');
  const tree = /^fat-tree:(\d+),(\d+),(\d+)$/.exec(specification);
  if (!tree) {
    throw usageError(
      `there is no fabric ${JSON.stringify(specification)}`,
      `known: ${FABRICS.map(({ syntax }) => syntax).join(', ')}`,
    );
  }
  const [leafs = 0, spines = 0, hosts = 0] = tree.slice(1).map(Number);
  if (leafs === 0 || spines === 0 || hosts === 0) {
    throw usageError(`${specification}: each of the three numbers is at least 1`);
  }
  if (hosts + spines > MOST_PORTS || leafs > MOST_PORTS) {
    throw usageError(`${specification}: a switch has at most ${MOST_PORTS} ports`);
  }
  if (leafs * (hosts + 1) + spines > MOST_NODES) {
    throw usageError(`${specification}: more than ${MOST_NODES} nodes`);
  }
  return fromTopology(fatTree(leafs, spines, hosts), specification);
}

/** A fabric from a topology file. Throws LabError. */
export function fabricFromFile(path: string): Fabric {
  let topology: string;
  try {
    topology = readFileSync(path, 'utf8');
  } catch (error) {
    throw new LabError(
      'bad_topology',
      `${path}: ${error instanceof Error ? error.message : error}`,
      'a topology is a file as ibsim reads it: man rdmatool-lab-run',
      2,
    );
  }
  return fromTopology(topology, path);
}

function fromTopology(topology: string, title: string): Fabric {
  const nodes = [
    ...topology.matchAll(/^(Switch|Hca|Ca)\s+(\d+)\s+"([^"]+)"(?:[^#\n]*#\s*"([^"]*)")?/gim),
  ].map(
    ([, kind = '', ports, id = '', description]): FabricNode => ({
      id,
      description: description ?? null,
      isSwitch: kind.toLowerCase() === 'switch',
      ports: Number(ports),
    }),
  );
  if (!nodes.some(({ isSwitch }) => !isSwitch)) {
    throw new LabError(
      'bad_topology',
      `${title}: no host in it`,
      'a topology file is what ibnetdiscover prints: Switch, Ca and the links of their ports',
      2,
    );
  }
  return { topology, nodes, title };
}

/** The node of that id or description, or null. */
export const findNode = (fabric: Fabric, name: string): FabricNode | null =>
  fabric.nodes.find(({ id, description }) => id === name || description === name) ?? null;

const host = (name: string, link: string): string => `Hca\t1 "${name}"\n[1]\t${link}\n\n`;

function pair(): string {
  const links = '[1]\t"H1"[1]\n[2]\t"H2"[1]\n\n';
  return `Switch\t8 "S1"\n${links}${host('H1', '"S1"[1]')}${host('H2', '"S1"[2]')}`;
}

function fatTree(leafs: number, spines: number, hosts: number): string {
  const count = (length: number): number[] => Array.from({ length }, (_, index) => index);
  const leaf = (l: number): string => {
    const down = count(hosts).map((h) => `[${h + 1}]\t"H${l}_${h}"[1]\n`);
    const up = count(spines).map((s) => `[${hosts + s + 1}]\t"S${s}"[${l + 1}]\n`);
    return `Switch\t${hosts + spines} "L${l}"\n${down.join('')}${up.join('')}\n`;
  };
  const spine = (s: number): string => {
    const down = count(leafs).map((l) => `[${l + 1}]\t"L${l}"[${hosts + s + 1}]\n`);
    return `Switch\t${leafs} "S${s}"\n${down.join('')}\n`;
  };
  const hostsOf = (l: number): string =>
    count(hosts)
      .map((h) => host(`H${l}_${h}`, `"L${l}"[${h + 1}]`))
      .join('');
  return [...count(leafs).map(leaf), ...count(spines).map(spine), ...count(leafs).map(hostsOf)].join('');
}
