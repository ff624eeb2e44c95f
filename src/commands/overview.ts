import { openSysfs } from '../system/sysfs.ts';
import { loadCommands } from './all.ts';

/** What `rdmatool` alone says: the commands, and the next step on this machine. */
export async function overviewText(): Promise<string> {
  const commands = await loadCommands();
  const names = commands.map((spec) => spec.path.join(' '));
  const width = Math.max(...names.map((name) => name.length)) + 2;
  const lines = commands.map((spec, index) => `  ${(names[index] ?? '').padEnd(width)}${spec.summary}`);
  return [
    'rdmatool: diagnostics for RDMA devices, connections and management datagrams',
    '',
    ...lines,
    '',
    ...nextSteps(openSysfs().list('class/infiniband') ?? []),
    '',
  ].join('\n');
}

function nextSteps(devices: readonly string[]): string[] {
  if (devices.length === 0) {
    return [
      'The kernel shows no RDMA device here. Next:',
      '  rdmatool doctor              says what is missing: a card, a module, a package',
      '  rdmatool lab run efa -- rdmatool query-device   shows it at work all the same',
    ];
  }
  const few = devices.slice(0, 4).join(', ');
  return [
    `RDMA devices here: ${devices.length} (${few}${devices.length > 4 ? ' …' : ''}). Next:`,
    '  rdmatool list                one line each',
    '  rdmatool query-device        what they can do; -v for everything, --json for scripts',
  ];
}
