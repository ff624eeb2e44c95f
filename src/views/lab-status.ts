import type { LabState, LabStatusResult } from '../model/lab-status.ts';
import type { Block, Cell } from '../output/blocks.ts';

const NONE = '-';

/** One line a lab; under it, the console of one that has died. */
export function labStatusView({ labs }: LabStatusResult): Block[] {
  if (labs.length === 0) return [];
  return [
    {
      type: 'table',
      columns: ['LAB', 'STATE', 'KERNEL', 'PROCESSOR', 'MEMORY', 'PID', 'SINCE'],
      rows: labs.map(row),
    },
    ...labs.flatMap(deathBlocks),
  ];
}

function deathBlocks({ name, death }: LabState): Block[] {
  if (death === null) return [];
  const { reason, console: lines } = death;
  return [
    { type: 'gap' },
    { type: 'heading', text: name, detail: reason },
    ...lines.map((line): Block => ({ type: 'text', text: line, indent: 2 })),
  ];
}

function row({ name, state, machine, process }: LabState): Cell[] {
  return [
    { text: name, tone: 'title' },
    { text: state, tone: state === 'up' ? 'good' : state === 'died' ? 'bad' : 'plain' },
    machine?.kernel ?? NONE,
    machine === null ? NONE : machine.acceleration === 'kvm' ? 'KVM' : 'emulated',
    process === null ? NONE : mebibytes(process.memory_bytes),
    process === null ? NONE : String(process.pid),
    machine?.since ?? NONE,
  ];
}

const mebibytes = (bytes: string): string => `${Math.round(Number(bytes) / 2 ** 20)} MiB`;
