/** What can go wrong in a simulated fabric: commands for the console of ibsim(1). */
import { usageError } from '../error.ts';
import { type Fabric, findNode } from './fabric.ts';

/** What --fault takes. */
export const IB_FAULTS = [
  { syntax: 'NODE:PORT:drop=PERCENT', description: 'that part of the MADs that arrive there is lost' },
  {
    syntax: 'NODE:PORT:drop=PERCENT,ATTRIBUTE',
    description: 'only those with the attribute, a number: 17 is NodeInfo, 21 PortInfo',
  },
  { syntax: 'NODE:PORT:unlink', description: 'the cable is pulled' },
  {
    syntax: 'NODE:PORT:COUNTER=VALUE',
    description: 'a counter of PortCounters is set, by its name in perfquery(8): SymbolErrorCounter=17',
  },
] as const;

/** The console command for each fault. Throws LabError. */
export function faultCommands(fabric: Fabric, faults: readonly string[]): string[] {
  return faults.map((fault) => {
    const [, name = '', portText = '', what = ''] = /^(.+):(\d+):([^:]+)$/.exec(fault) ?? [];
    if (what === '') {
      throw usageError(
        `fault ${JSON.stringify(fault)}`,
        `known: ${IB_FAULTS.map((f) => f.syntax).join(', ')}`,
      );
    }
    const node = findNode(fabric, name);
    if (node === null) throw usageError(`a fault is for ${name}, and there is no such node in the fabric`);
    const port = Number(portText);
    if (port > node.ports || (port === 0 && !node.isSwitch)) {
      throw usageError(`fault ${fault}: ${name} has the ports ${node.isSwitch ? 0 : 1} to ${node.ports}`);
    }
    const place = `"${node.id}"[${port}]`;
    if (what === 'unlink') return `Unlink ${place}`;
    const drop = /^drop=(\d+)(?:,(\d+))?$/.exec(what);
    if (drop) {
      const percent = Number(drop[1]);
      if (percent > 100) throw usageError(`fault ${fault}: ${percent} percent`);
      return `Error ${place} ${percent}${drop[2] === undefined ? '' : ` ${drop[2]}`}`;
    }
    const counter = /^([A-Z]\w+)=(\d+)$/.exec(what);
    if (!counter) {
      throw usageError(
        `fault ${JSON.stringify(fault)}`,
        `known: ${IB_FAULTS.map((f) => f.syntax).join(', ')}`,
      );
    }
    return `PerformanceSet ${place} PortCounters.${counter[1]}=${counter[2]}`;
  });
}
