/** A simulated fabric at work: ibsim with a subnet manager on it. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { LabError } from '../error.ts';
import type { Fabric, FabricNode } from './fabric.ts';
import type { LabPrograms } from './programs.ts';
import { isRunning, type ServerProcess, startServer, stopServer } from './server.ts';

const execute = promisify(execFile);

/** What is needed to use a fabric from any process, and to end it. */
export interface RunningFabric {
  /** Holds logs, and the fifo of the simulator's console. */
  readonly directory: string;
  /** IBSIM_SOCKNAME: names the simulator's abstract sockets. */
  readonly socket: string;
  readonly servers: readonly ServerProcess[];
}

export interface FabricOptions {
  readonly fabric: Fabric;
  /** Lines of an opensm partition configuration, `Default` aside. */
  readonly partitions: readonly string[];
  readonly directory: string;
  readonly programs: LabPrograms;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether the servers end with this process. */
  readonly tied: boolean;
  readonly abort?: AbortSignal | undefined;
}

/** The simulator's limits where it is not told others; it fails beyond them. */
const DEFAULT_LIMITS = { nodes: 2048, switches: 256, ports: 13312 } as const;
const READY_MS = 60_000;
const IBSTAT_MS = 3000;

/** Variables that make a program see the fabric from one of its hosts. */
export function clientVariables(
  running: Pick<RunningFabric, 'socket'>,
  programs: LabPrograms,
  host: FabricNode,
  environment: NodeJS.ProcessEnv,
): { [name: string]: string } {
  const { LD_PRELOAD: preloaded } = environment;
  return {
    LD_PRELOAD: preloaded ? `${programs.umad2sim}:${preloaded}` : programs.umad2sim,
    IBSIM_SOCKNAME: running.socket,
    SIM_HOST: host.id,
  };
}

/** Starts the servers and waits until the ports of the first and the last host are active. Throws LabError. */
export async function startFabric(options: FabricOptions): Promise<RunningFabric> {
  const { fabric, directory, programs } = options;
  const socket = `rdmatool-${process.pid}-${randomBytes(4).toString('hex')}`;
  const files = {
    topology: join(directory, 'fabric.net'),
    console: join(directory, 'console'),
    simulatorLog: join(directory, 'ibsim.log'),
    managerLog: join(directory, 'opensm.log'),
    partitions: join(directory, 'partitions.conf'),
    manager: join(directory, 'opensm'),
  };
  writeFileSync(files.topology, fabric.topology);
  mkdirSync(files.manager);
  writeFileSync(
    files.partitions,
    ['Default=0x7fff, ipoib : ALL=full;', ...options.partitions, ''].join('\n'),
  );
  await execute('mkfifo', ['-m', '600', files.console]);

  const servers: ServerProcess[] = [];
  const running: RunningFabric = { directory, socket, servers };
  const tiedBy = options.tied ? programs.setpriv : null;
  const { LD_PRELOAD: _, ...clean } = options.environment;
  const environment: NodeJS.ProcessEnv = { ...clean, IBSIM_SOCKNAME: socket };
  try {
    servers.push(
      await startServer([programs.ibsim, '-s', ...limits(fabric), files.topology], {
        environment,
        directory,
        input: files.console,
        log: files.simulatorLog,
        tiedBy,
      }),
    );
    await untilListening(running, files.simulatorLog, options.abort);
    const hosts = fabric.nodes.filter(({ isSwitch }) => !isSwitch);
    const first = hosts[0];
    const last = hosts.at(-1);
    if (!first || !last) throw new Error('a fabric without hosts');
    // The simulator ends a manager that gets a datagram of a class which it does not serve: better off a host.
    const seat = fabric.nodes.find(({ isSwitch }) => isSwitch) ?? first;
    const managerEnvironment = {
      ...environment,
      ...clientVariables(running, programs, seat, environment),
      OSM_TMP_DIR: files.manager,
      OSM_CACHE_DIR: files.manager,
    };
    servers.push(
      await startServer([programs.opensm, '-f', join(files.manager, 'osm.log'), '-P', files.partitions], {
        environment: managerEnvironment,
        directory: files.manager,
        input: null,
        log: files.managerLog,
        tiedBy,
      }),
    );
    await untilActive(running, options, first, files.managerLog);
    await untilActive(running, options, last, files.managerLog);
    return running;
  } catch (error) {
    await stopFabric(running);
    throw error;
  }
}

function limits({ nodes }: Fabric): string[] {
  const switches = nodes.filter(({ isSwitch }) => isSwitch).length;
  const ports = nodes.reduce((sum, node) => sum + node.ports + 1, 0);
  const room = (count: number, usual: number): string => String(Math.max(usual, Math.ceil(count * 1.1)));
  return [
    ...['-N', room(nodes.length, DEFAULT_LIMITS.nodes)],
    ...['-S', room(switches, DEFAULT_LIMITS.switches)],
    ...['-P', room(ports, DEFAULT_LIMITS.ports)],
  ];
}

/** Ends the servers, the subnet manager first. */
export async function stopFabric({ servers }: RunningFabric): Promise<void> {
  for (const server of [...servers].reverse()) await stopServer(server);
}

export const isAlive = ({ servers }: RunningFabric): boolean =>
  servers.length === 2 && servers.every(isRunning);

/** Gives the simulator's console a command. */
export function tellSimulator({ directory }: RunningFabric, command: string): void {
  appendFileSync(join(directory, 'console'), `${command}\n`);
}

/** The end of a log, for a message. */
function endOf(log: string): string {
  try {
    return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-3).join(' | ');
  } catch {
    return 'no output';
  }
}

const failed = (what: string, log: string): LabError =>
  new LabError('lab_failed', `lab ib: ${what}: ${endOf(log)}`, null, 1);

/** The simulator's control socket is an abstract one, and stands in proc(5) once it can be reached. */
async function untilListening(running: RunningFabric, log: string, abort?: AbortSignal): Promise<void> {
  const [server] = running.servers;
  for (let waited = 0; waited < READY_MS; waited += 20) {
    abort?.throwIfAborted();
    if (readFileSync('/proc/net/unix', 'utf8').includes(`@${running.socket}:`)) return;
    if (!server || !isRunning(server)) throw failed('ibsim ended', log);
    await sleep(20);
  }
  throw failed('ibsim did not start in time', log);
}

async function untilActive(
  running: RunningFabric,
  { programs, environment, abort }: FabricOptions,
  host: FabricNode,
  log: string,
): Promise<void> {
  const deadline = Date.now() + READY_MS;
  const env = { ...environment, ...clientVariables(running, programs, host, {}) };
  while (Date.now() < deadline) {
    abort?.throwIfAborted();
    if (!isAlive(running)) throw failed('a server ended while the fabric came up', log);
    try {
      const { stdout } = await execute(programs.ibstat, [], {
        env,
        cwd: running.directory,
        timeout: IBSTAT_MS,
      });
      if (/State: Active/.test(stdout)) return;
    } catch {
      // Not yet there; the deadline decides.
    }
    await sleep(50);
  }
  throw failed(`${host.id} has no active port after ${READY_MS / 1000} s`, log);
}
