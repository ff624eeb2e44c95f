/**
 * Lab ib: an InfiniBand fabric for any program that uses libibumad, on a machine without one. ibsim(1) plays
 * the fabric, opensm(8) manages it; a preloaded library of ibsim answers in place of the kernel.
 */
import { accessSync, constants, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../package-root.ts';
import { type EndingSignal, runInTerminal, SignalWatch, statusOfSignal } from '../../processes/child.ts';
import { LabError, usageError } from '../error.ts';
import type { LabStatus } from '../status.ts';
import { TemporaryTree } from '../temporary-tree.ts';
import { builtInFabric, FABRICS, type Fabric, type FabricNode, fabricFromFile, findNode } from './fabric.ts';
import {
  clientVariables,
  isAlive,
  type RunningFabric,
  startFabric,
  stopFabric,
  tellSimulator,
} from './fabric-servers.ts';
import { faultCommands, IB_FAULTS } from './faults.ts';
import { findPrograms, type LabPrograms } from './programs.ts';
import { forgetLab, makeLabDirectory, recallLab, rememberLab } from './state.ts';
import { copySysfs } from './sysfs-tree.ts';

export { LabError } from '../error.ts';
export { FABRICS, IB_FAULTS };

/** What the fabric is. Without topology and fabric it is `pair`. */
export interface IbLabOptions {
  /** Path of a topology file, as ibnetdiscover(8) prints it. */
  readonly topology?: string | undefined;
  /** One of FABRICS. */
  readonly fabric?: string | undefined;
  /** `NAME=P_KEY`: every port is a full member. */
  readonly partitions?: readonly string[] | undefined;
  /** As IB_FAULTS describes them; they strike once the ports are active. */
  readonly faults?: readonly string[] | undefined;
  /** Of the caller; process.env if not given. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

export interface IbRunOptions extends IbLabOptions {
  readonly command: readonly string[];
  /** The host that the command runs on: id or node description. */
  readonly host?: string | undefined;
  readonly say?: ((line: string) => void) | undefined;
}

/** A fabric that programs can be started on, for tests. */
export interface IbLab {
  readonly fabric: Fabric;
  /** Variables for a program on that host, else on the usual one. Throws LabError for an unknown host. */
  env(host?: string): { [name: string]: string };
  /** One of IB_FAULTS. */
  fault(fault: string): void;
  /** The simulator and the subnet manager. */
  readonly running: RunningFabric;
  remove(): Promise<void>;
}

/** Where a command runs unless told: the second host, so that the subnet manager is elsewhere. */
function chosenHost(fabric: Fabric, name: string | undefined): FabricNode {
  const hosts = fabric.nodes.filter(({ isSwitch }) => !isSwitch);
  if (name === undefined) {
    const usual = hosts[1] ?? hosts[0];
    if (usual) return usual;
  }
  const found = findNode(fabric, name ?? '');
  if (found === null || found.isSwitch) {
    const some = hosts.slice(0, 6).map(({ id, description }) => description ?? id);
    throw usageError(
      `there is no host ${JSON.stringify(name)} in the fabric`,
      `the hosts are: ${some.join(', ')}${hosts.length > some.length ? ' …' : ''}`,
    );
  }
  return found;
}

function wantedFabric({ topology, fabric }: IbLabOptions): Fabric {
  if (topology !== undefined && fabric !== undefined) {
    throw usageError('a topology file or a built-in fabric, not both');
  }
  return topology === undefined ? builtInFabric(fabric ?? 'pair') : fabricFromFile(topology);
}

function partitionLines(partitions: readonly string[] = []): string[] {
  return partitions.map((text) => {
    const [, name, pkey] = /^([\w-]{1,32})=(0x[0-9a-f]{1,4})$/i.exec(text) ?? [];
    const value = Number(pkey) & 0x7fff;
    if (name === undefined || value === 0 || value === 0x7fff) {
      throw usageError(
        `partition ${JSON.stringify(text)}`,
        'a partition is NAME=P_KEY, such as storage=0x0123, with a key from 0x1 to 0x7ffe',
      );
    }
    return `${name}=0x${value.toString(16)} : ALL=full;`;
  });
}

const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;

/** `simulated fabric (pair: 2 hosts, 1 switch)`. */
const describe = (fabric: Fabric): string => {
  const switches = fabric.nodes.filter(({ isSwitch }) => isSwitch).length;
  const hosts = fabric.nodes.length - switches;
  return `simulated fabric (${fabric.title}: ${counted(hosts, 'host', 'hosts')}, ${counted(switches, 'switch', 'switches')})`;
};

/** Makes a lab. Throws LabError. */
export async function prepareIbLab(options: IbLabOptions = {}): Promise<IbLab> {
  return prepare(options);
}

async function prepare(options: IbLabOptions, abort?: AbortSignal): Promise<IbLab> {
  const environment = options.environment ?? process.env;
  const fabric = wantedFabric(options);
  const partitions = partitionLines(options.partitions);
  const commands = faultCommands(fabric, options.faults ?? []);
  const programs = findPrograms(environment);
  const tree = new TemporaryTree('ib');
  try {
    linkRdmatool(tree.path);
    const running = await startFabric({
      fabric,
      partitions,
      directory: tree.path,
      programs,
      environment,
      tied: true,
      abort,
    });
    for (const command of commands) tellSimulator(running, command);
    return {
      fabric,
      running,
      env: (host) => variables(running, programs, chosenHost(fabric, host), environment),
      fault: (fault) => {
        for (const command of faultCommands(fabric, [fault])) tellSimulator(running, command);
      },
      async remove() {
        await stopFabric(running);
        tree.remove();
      },
    };
  } catch (error) {
    tree.remove();
    throw error;
  }
}

/** Makes a lab for `work`, and removes it whatever happens. */
export async function withIbLab<T>(options: IbLabOptions, work: (lab: IbLab) => Promise<T>): Promise<T> {
  const lab = await prepareIbLab(options);
  try {
    return await work(lab);
  } finally {
    await lab.remove();
  }
}

/** `rdmatool` is a command of the lab, whatever PATH says. */
function linkRdmatool(directory: string): void {
  mkdirSync(join(directory, 'bin'));
  symlinkSync(join(packageRoot(), 'bin/rdmatool.js'), join(directory, 'bin/rdmatool'));
}

function variables(
  running: RunningFabric,
  programs: LabPrograms,
  host: FabricNode,
  environment: NodeJS.ProcessEnv,
): { [name: string]: string } {
  const { PATH: path } = environment;
  return {
    ...clientVariables(running, programs, host, environment),
    PATH: `${path || '/usr/local/bin:/usr/bin:/bin'}:${join(running.directory, 'bin')}`,
  };
}

/** The preloaded library writes a folder into the working directory, and ends the program where it cannot. */
function checkWorkingDirectory(): void {
  try {
    accessSync('.', constants.W_OK | constants.X_OK);
  } catch {
    throw new LabError(
      'lab_failed',
      `lab ib: ${process.cwd()} is not writable, and the simulator's library keeps a folder there while a program runs`,
      'change to a folder that you may write to',
      1,
    );
  }
}

/** Removes the folders that programs which were killed left in the working directory. */
function sweep(since: number): void {
  for (const name of readdirSync('.')) {
    const pid = /^sys-(\d+)$/.exec(name)?.[1];
    if (pid === undefined) continue;
    const status = statSync(name, { throwIfNoEntry: false });
    const isLeft = status !== undefined && status.mtimeMs >= since && status.uid === process.getuid?.();
    if (isLeft && statSync(`/proc/${pid}`, { throwIfNoEntry: false }) === undefined) {
      rmSync(name, { recursive: true, force: true });
    }
  }
}

/**
 * Runs the command on the fabric that `lab up ib` started, else on one of its own, which it removes, signals or not.
 * Returns the exit status for this process.
 * @throws LabError where the fabric cannot be had
 */
export async function runIbLab(options: IbRunOptions): Promise<number> {
  if (options.command.length === 0) throw usageError('no command to run in the lab');
  checkWorkingDirectory();
  const environment = options.environment ?? process.env;
  const say = options.say ?? ((line: string) => process.stderr.write(`${line}\n`));
  const watch = new SignalWatch();
  const abort = new AbortController();
  watch.forward = () => abort.abort();
  const interrupted = (): EndingSignal | null => watch.received;
  // File times are coarser than the clock.
  const since = Date.now() - 1000;
  try {
    let sysfs: string | null = null;
    const lab = (await runningLab(options, environment)) ?? (await prepare(options, abort.signal));
    try {
      const early = interrupted();
      if (early !== null) return statusOfSignal(early);
      const host = lab.env(options.host);
      sysfs = await copySysfs(lab.running.directory, { ...environment, ...host });
      const own = sysfs === null ? host : { ...host, SYSFS_PATH: sysfs };
      say(`lab ib: ${describe(lab.fabric)}, seen from host ${own['SIM_HOST']}`);
      return await runInTerminal(options.command, { ...environment, ...own }, watch, (message) =>
        say(`lab ib: ${message}`),
      );
    } finally {
      if (sysfs !== null) rmSync(sysfs, { recursive: true, force: true });
      await lab.remove();
      sweep(since);
    }
  } catch (error) {
    const early = interrupted();
    if (early !== null && abort.signal.aborted) return statusOfSignal(early);
    throw error;
  } finally {
    watch.close();
  }
}

/** The fabric that `lab up ib` started, if it is there and the options do not ask for another. */
async function runningLab(options: IbRunOptions, environment: NodeJS.ProcessEnv): Promise<IbLab | null> {
  if (options.topology !== undefined || options.fabric !== undefined || options.partitions?.length)
    return null;
  const known = recallLab(environment);
  if (known === null || !isAlive(known.running)) return null;
  const { fabric, running } = known;
  const programs = findPrograms(environment);
  const fault = (text: string): void => {
    for (const command of faultCommands(fabric, [text])) tellSimulator(running, command);
  };
  for (const text of options.faults ?? []) fault(text);
  return {
    fabric,
    running,
    env: (host) => variables(running, programs, chosenHost(fabric, host), environment),
    fault,
    remove: async () => {},
  };
}

/** Starts a fabric that stays until `lab down ib`. Returns what to tell. Throws LabError. */
export async function upIbLab(options: IbLabOptions): Promise<string> {
  const environment = options.environment ?? process.env;
  const known = recallLab(environment);
  if (known !== null && isAlive(known.running)) {
    throw new LabError(
      'lab_failed',
      `lab ib is up: ${describe(known.fabric)}`,
      'rdmatool lab down ib ends it',
      1,
    );
  }
  const fabric = wantedFabric(options);
  const partitions = partitionLines(options.partitions);
  const commands = faultCommands(fabric, options.faults ?? []);
  const programs = findPrograms(environment);
  if (known !== null) {
    await stopFabric(known.running);
    forgetLab(environment);
  }
  const directory = makeLabDirectory(environment);
  const watch = new SignalWatch();
  const abort = new AbortController();
  watch.forward = () => abort.abort();
  try {
    linkRdmatool(directory);
    const running = await startFabric({
      fabric,
      partitions,
      directory,
      programs,
      environment,
      tied: false,
      abort: abort.signal,
    });
    rememberLab(environment, { running, fabric });
    for (const command of commands) tellSimulator(running, command);
    return describe(fabric);
  } catch (error) {
    forgetLab(environment);
    if (abort.signal.aborted) throw new LabError('interrupted', 'lab ib: interrupted', null, 130);
    throw error;
  } finally {
    watch.close();
  }
}

/** Ends the fabric of `lab up ib`. Returns whether there was one. */
export async function downIbLab(environment: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const known = recallLab(environment);
  if (known === null) return false;
  await stopFabric(known.running);
  forgetLab(environment);
  return true;
}

/** Whether the fabric of `lab up ib` runs. One that has ended by itself is told of once, and cleared away. */
export async function ibLabStatus(environment: NodeJS.ProcessEnv = process.env): Promise<LabStatus> {
  const known = recallLab(environment);
  if (known === null) return { name: 'ib', state: 'down' };
  if (isAlive(known.running)) return { name: 'ib', state: 'up', machine: null, process: null };
  await downIbLab(environment);
  const death = { reason: 'a server of the fabric runs no more', console: [] };
  return { name: 'ib', state: 'died', machine: null, death };
}
