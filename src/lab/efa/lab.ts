/**
 * Lab efa: EFA devices for any program, on a machine without them. libibverbs and libefa are the real ones, of any
 * version; a preloaded library answers in place of the kernel.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { packageRoot } from '../../package-root.ts';
import { type EndingSignal, runInTerminal, SignalWatch, statusOfSignal } from '../../processes/child.ts';
import { LabError, usageError } from '../error.ts';
import { TemporaryTree } from '../temporary-tree.ts';
import { type LabDevice, labDevice } from './device.ts';
import { EFA_FAULTS, type FaultHelp, type Faults, parseFaults } from './faults.ts';
import { EFA_INSTANCES, findInstance } from './instances.ts';
import { interposer, restarter } from './interposer.ts';
import { EFA_MODELS, findModel, modelProfile } from './models.ts';
import { netlinkCalls } from './netlink.ts';
import { isAllKnown, type Profile } from './profile.ts';
import { EMPTY_PROFILE, printProfile, readProfile } from './profile-json.ts';
import {
  commandOn,
  findRdmaCore,
  type RdmaCore,
  rdmaCoreName,
  rdmaCoreVariables,
  requireLoads,
} from './rdma-core.ts';
import { replyDevice } from './replies.ts';
import { encodeReplyFile, type Hidden } from './reply-file.ts';
import { writeSysfs } from './sysfs.ts';

export { LabError } from '../error.ts';
export { EFA_FAULTS, EFA_INSTANCES, EFA_MODELS, type FaultHelp };

/** What a lab is to hold. Without instance and devices it holds one device. */
export interface EfaLabOptions {
  /** An EC2 instance type, of EFA_INSTANCES. */
  readonly instance?: string | undefined;
  /** `NAME:MODEL`: a model's name, a part id, or the path of a profile file. They follow the instance's. */
  readonly devices?: readonly string[] | undefined;
  /** As EFA_FAULTS describes them. */
  readonly faults?: readonly string[] | undefined;
  /** Where another rdma-core than the system's stands: its prefix, or the root of another system. */
  readonly rdmaCore?: string | undefined;
  /** Of the caller; process.env if not given. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
}

export interface EfaRunOptions extends EfaLabOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Takes lines for people; stderr if not given. */
  readonly say?: ((line: string) => void) | undefined;
}

/** A device of a lab, for tests and listings. */
export interface EfaLabDevice {
  readonly name: string;
  /** `uverbs0`. */
  readonly node: string;
  readonly profile: Profile;
}

/** A lab that programs can be started in. */
export interface EfaLab {
  /** Variables to add to a program's environment. */
  readonly env: { readonly [name: string]: string };
  /** The temporary tree; `sysfs` is the root of the simulated sysfs. */
  readonly directory: string;
  readonly sysfs: string;
  readonly devices: readonly EfaLabDevice[];
  /** `p5.48xlarge: 32 x efa2`, and whether figures are assumed. */
  readonly summary: string;
  /**
   * What to start for a command, with `env` in its environment. It is the command itself but where another rdma-core
   * is to serve.
   */
  start(command: readonly string[], environment?: NodeJS.ProcessEnv): readonly string[];
  /** Removes the tree. Programs that still run lose their devices. */
  remove(): Promise<void>;
}

const DEFAULT_DEVICE = 'rdmap0s6:efa2';
const MAXIMUM_DEVICES = 256;
const MODEL_NAMES = EFA_MODELS.map(({ name }) => name).join(', ');
/** Directories of the real machine in whose place programs find the lab's. */
const SYSFS_PARTS = [
  'class/infiniband',
  'class/infiniband_verbs',
  'class/infiniband_mad',
  'class/infiniband_cm',
  'module/ib_core',
  'module/ib_uverbs',
  'module/efa',
  'module/rdma_rxe',
];
/** Where libibverbs reads which providers there are. */
const PROVIDER_DIRECTORY = '/etc/libibverbs.d';

/** The text of a profile file for a model, a part id or another profile file. Throws LabError. */
export function efaProfileText(model: string): string {
  return printProfile(resolveModel(model).profile);
}

/** A model's values, with the name to call it by. */
function resolveModel(text: string): { readonly model: string; readonly profile: Profile } {
  const model = findModel(text);
  if (model !== null) return { model, profile: modelProfile(model) };
  if (!/[./]/.test(text)) {
    throw usageError(
      `there is no EFA model ${JSON.stringify(text)}`,
      `known: ${MODEL_NAMES}, a part id such as 0xefa2, or the path of a profile file`,
    );
  }
  return { model: basename(text), profile: readProfileFile(text) };
}

function readProfileFile(path: string): Profile {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LabError(
      'bad_profile',
      `${path}: ${reason}`,
      'a profile is a JSON file, such as {"extends": "efa2"}: man rdmatool-lab-run',
      2,
    );
  }
  // A file may say only what differs from a model.
  if (typeof json !== 'object' || json === null || !('extends' in json)) {
    return readProfile(json, EMPTY_PROFILE, path);
  }
  const { extends: baseName, ...rest } = json;
  const base = typeof baseName === 'string' ? findModel(baseName) : null;
  if (base === null) {
    const message = `${path}: extends: ${JSON.stringify(baseName)} is not a model`;
    throw new LabError('bad_profile', message, `known: ${MODEL_NAMES}`, 2);
  }
  return readProfile(rest, modelProfile(base), path);
}

interface WantedDevice {
  readonly name: string;
  readonly model: string;
  readonly profile: Profile;
}

function wantedDevices({ instance, devices = [] }: EfaLabOptions): WantedDevice[] {
  const wanted: WantedDevice[] = [];
  if (instance !== undefined) {
    const known = findInstance(instance);
    if (!known) {
      throw usageError(
        `there is no instance type ${JSON.stringify(instance)} here`,
        `known: ${EFA_INSTANCES.map(({ name }) => name).join(', ')}`,
      );
    }
    const profiles = new Map<string, Profile>();
    for (const { name, model, changes } of known.devices) {
      const key = JSON.stringify([model, changes]);
      const profile = profiles.get(key) ?? readProfile(changes, modelProfile(model), instance);
      profiles.set(key, profile);
      wanted.push({ name, model, profile });
    }
  }
  const specifications = instance === undefined && devices.length === 0 ? [DEFAULT_DEVICE] : devices;
  for (const text of specifications) {
    const [, name = '', modelText = ''] = /^([^:]*):(.+)$/s.exec(text) ?? [];
    if (!/^[A-Za-z][\w-]{0,62}$/.test(name)) {
      throw usageError(`device ${JSON.stringify(text)}`, 'a device is NAME:MODEL, such as rdmap0s6:efa2');
    }
    const { model, profile } = resolveModel(modelText);
    // libibverbs finds the provider by the name.
    if (profile.provider === 'rxe' && !name.startsWith('rxe')) {
      throw usageError(`device ${JSON.stringify(text)}: the name of an rxe device begins with rxe`);
    }
    if (profile.provider !== 'rxe' && name.startsWith('rxe')) {
      throw usageError(`device ${JSON.stringify(text)}: a name that begins with rxe is for rxe devices`);
    }
    wanted.push({ name, model, profile });
  }
  const names = new Set<string>();
  for (const { name } of wanted) {
    if (names.has(name)) throw usageError(`two devices have the name ${name}`);
    names.add(name);
  }
  if (wanted.length > MAXIMUM_DEVICES)
    throw usageError(`${wanted.length} devices; at most ${MAXIMUM_DEVICES}`);
  return wanted;
}

function labDevices(wanted: readonly WantedDevice[], faults: Faults): LabDevice[] {
  for (const name of faults.devices) {
    if (!wanted.some((device) => device.name === name)) {
      throw usageError(
        `a fault is for ${name}, and there is no such device`,
        `the devices are: ${wanted.map((device) => device.name).join(', ')}`,
      );
    }
  }
  const { noModule, noDriver, noDevice } = faults.machine;
  const noNodes = noModule || noDriver || noDevice;
  const devices = wanted.map(({ name, profile }, index) => {
    const own = faults.of(name);
    return labDevice(name, index, profile, noNodes ? { ...own, noNode: true } : own);
  });
  const addresses = new Set<string>();
  for (const { name, pciAddress } of devices) {
    if (pciAddress === null) continue;
    if (addresses.has(pciAddress))
      throw usageError(`device ${name} has the PCI address of another: ${pciAddress}`);
    addresses.add(pciAddress);
  }
  return devices;
}

function summarise(
  instance: string | undefined,
  wanted: readonly WantedDevice[],
  rdmaCore: RdmaCore | null,
): string {
  const counts = new Map<string, number>();
  for (const { model } of wanted) counts.set(model, (counts.get(model) ?? 0) + 1);
  const content = [...counts].map(([model, count]) => `${count} x ${model}`).join(', ');
  const assumed = wanted.every(({ profile }) => isAllKnown(profile));
  const caution = assumed ? '' : '; figures marked assumed were never read from a card';
  const under = rdmaCore === null ? '' : ` under ${rdmaCoreName(rdmaCore)}`;
  return `simulated devices (${instance === undefined ? '' : `${instance}: `}${content})${under}${caution}`;
}

/** Makes a lab. Throws LabError. */
export async function prepareEfaLab(options: EfaLabOptions = {}): Promise<EfaLab> {
  return prepare(options);
}

/** Makes a lab for `work`, and removes it whatever happens. */
export async function withEfaLab<T>(options: EfaLabOptions, work: (lab: EfaLab) => Promise<T>): Promise<T> {
  const lab = await prepareEfaLab(options);
  try {
    return await work(lab);
  } finally {
    await lab.remove();
  }
}

async function prepare(options: EfaLabOptions, abort?: AbortSignal): Promise<EfaLab> {
  const environment = options.environment ?? process.env;
  // All that can be wrong with the options, before anything is made.
  const wanted = wantedDevices(options);
  const faults = parseFaults(options.faults ?? []);
  const devices = labDevices(wanted, faults);
  const rdmaCore = options.rdmaCore === undefined ? null : await findRdmaCore(options.rdmaCore);
  const preloads = [await interposer(environment, abort)];
  if (rdmaCore?.loader) preloads.push(await restarter(environment, abort));
  if (rdmaCore !== null) await requireLoads(rdmaCore, preloads);
  abort?.throwIfAborted();
  const tree = new TemporaryTree('efa');
  try {
    const env = writeLab(tree.path, preloads, devices, faults, rdmaCore, environment);
    return {
      env,
      directory: tree.path,
      sysfs: join(tree.path, 'sys'),
      devices: devices.map(({ name, node, profile }) => ({ name, node: `uverbs${node}`, profile })),
      summary: summarise(options.instance, wanted, rdmaCore),
      start: (command, around = environment) =>
        rdmaCore === null ? command : commandOn(rdmaCore, command, { ...around, PATH: env['PATH'] }),
      remove: async () => tree.remove(),
    };
  } catch (error) {
    tree.remove();
    throw error;
  }
}

/** Fills the tree; returns the variables that lead programs to it. */
function writeLab(
  root: string,
  preloads: readonly string[],
  devices: readonly LabDevice[],
  { machine }: Faults,
  rdmaCore: RdmaCore | null,
  environment: NodeJS.ProcessEnv,
): { [name: string]: string } {
  const paths = {
    sysfs: join(root, 'sys'),
    nodes: join(root, 'dev-infiniband'),
    providers: join(root, 'libibverbs.d'),
    replies: join(root, 'replies'),
    bin: join(root, 'bin'),
  };
  writeSysfs(paths.sysfs, devices, machine);
  // Only to be listed; the interposed library answers for the nodes themselves.
  mkdirSync(paths.nodes);
  for (const { node, faults } of devices) {
    if (!faults.noNode) writeFileSync(join(paths.nodes, `uverbs${node}`), '');
  }
  const hidden: Hidden[] = [
    ...machine.hiddenSymbols.map((name) => ({ kind: 'symbol', name }) as const),
    ...machine.hiddenLibraries.map((name) => ({ kind: 'library', name }) as const),
  ];
  const redirects = [
    { from: '/dev/infiniband', to: paths.nodes },
    ...SYSFS_PARTS.map((part) => ({ from: `/sys/${part}`, to: join(paths.sysfs, part) })),
  ];
  if (machine.noProvider) hidden.push({ kind: 'library prefix', name: 'libefa' });
  const drivers = machine.noProvider ? new Map<string, string>() : (rdmaCore?.drivers ?? null);
  if (machine.noProvider || (drivers !== null && drivers.size > 0)) {
    mkdirSync(paths.providers);
    for (const [file, lines] of drivers ?? []) writeFileSync(join(paths.providers, file), lines);
    for (const from of new Set([PROVIDER_DIRECTORY, ...(rdmaCore?.configurations ?? [])])) {
      redirects.push({ from, to: paths.providers });
    }
  }
  const { noModule, noDriver, noDevice, noNetlink } = machine;
  const isSilent = noModule || noDriver || noNetlink;
  const replies = encodeReplyFile({
    devices: devices.map(replyDevice),
    redirects,
    hidden,
    netlink: isSilent ? [] : netlinkCalls(noDevice ? [] : devices),
  });
  writeFileSync(paths.replies, replies);
  // The cache may have a path that LD_PRELOAD cannot hold.
  const libraries = preloads.map((file, index) => {
    const path = join(root, `preload-${index}.so`);
    symlinkSync(file, path);
    return path;
  });
  mkdirSync(paths.bin);
  symlinkSync(join(packageRoot(), 'bin/rdmatool.js'), join(paths.bin, 'rdmatool'));
  const { LD_PRELOAD: preloaded, PATH: path } = environment;
  return {
    ...(rdmaCore === null ? {} : rdmaCoreVariables(rdmaCore, environment)),
    LD_PRELOAD: [...libraries, ...(preloaded ? [preloaded] : [])].join(':'),
    SYSFS_PATH: paths.sysfs,
    RDMATOOL_LAB_EFA: paths.replies,
    PATH: path ? `${path}:${paths.bin}` : `/usr/local/bin:/usr/bin:/bin:${paths.bin}`,
  };
}

/**
 * Makes a lab, runs the command in it with this process's own terminal, and removes the lab, signals or not. Returns
 * the exit status for this process.
 * @throws LabError where the lab cannot be had
 */
export async function runEfaLab(options: EfaRunOptions): Promise<number> {
  if (options.command.length === 0) throw usageError('no command to run in the lab');
  const say = options.say ?? ((line: string) => process.stderr.write(`${line}\n`));
  const watch = new SignalWatch();
  const abort = new AbortController();
  const interrupted = (): EndingSignal | null => watch.received;
  watch.forward = () => abort.abort();
  try {
    const lab = await prepare(options, abort.signal);
    try {
      // A signal that came while files were written waits in the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      const early = interrupted();
      if (early !== null) return statusOfSignal(early);
      say(`lab efa: ${lab.summary}`);
      const environment = { ...(options.environment ?? process.env), ...lab.env };
      return await runInTerminal(lab.start(options.command), environment, watch, (message) =>
        say(`lab efa: ${message}`),
      );
    } finally {
      await lab.remove();
    }
  } catch (error) {
    const early = interrupted();
    if (early !== null && abort.signal.aborted) return statusOfSignal(early);
    throw error;
  } finally {
    watch.close();
  }
}
