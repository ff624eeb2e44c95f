import type { Json } from '../layout/codec.ts';
import type { CmRunEvent, CmRunObject, CmRunResult } from '../model/cm-run.ts';
import type { KernelField } from '../model/kernel-commands.ts';
import { harmless } from '../output/harmless.ts';
import { statusText } from './cm.ts';
import { parameters } from './cm-listen.ts';
import { fieldText, kernelCommandText } from './kernel-commands.ts';

/** One line for one step; null for what is said on stderr only. */
export function cmRunLine(object: CmRunObject): string | null {
  if (object.operation === null) return null;
  const line = object.line === null ? '' : String(object.line);
  const duration = object.duration_ms === null ? '' : `${object.duration_ms.toFixed(2)} ms`;
  const head = `${line.padStart(4)} ${duration.padStart(12)}  ${object.step ?? 'taken down'}`;
  const shown = kernelCommandText(object.kernel_commands);
  return `${harmless([head, ...outcome(object)].join('  '))}${shown}`;
}

function outcome({ error, ok, result }: CmRunObject): string[] {
  const found = result === null ? [] : [resultText(result)];
  if (error === null) return found.map((word) => `-> ${word}`);
  const word = error.errno === null ? error.code : `${error.code} ${error.errno.name}`;
  return [...found.map((came) => `-> ${came}`), ok ? `-> failed as expected: ${word}` : `-> FAILED: ${word}`];
}

function resultText(result: CmRunResult): string {
  if ('event' in result) return eventText(result);
  if ('fields' in result) return fieldsText(result.fields);
  return text(result);
}

/** `num_paths 1, port_num 1`, without what is reserved. */
const fieldsText = (fields: readonly KernelField[]): string =>
  fields
    .filter(({ name }) => !/(^|\.)reserved\d?$/.test(name))
    .map(({ name, value }) => `${name} ${fieldText(value)}`)
    .join(', ');

function eventText({ event, status, status_name, meaning, connection, ah_attr }: CmRunEvent): string {
  const name = event.name?.replace(/^RDMA_CM_EVENT_/, '') ?? `event ${event.value}`;
  return [
    `${name} ${statusText(status, status_name)}`,
    ...(status === 0 ? [] : [meaning]),
    ...[parameters(connection)].filter(Boolean),
    ...(ah_attr === null ? [] : [`group GID ${ah_attr.grh.dgid}, LID ${ah_attr.dlid}, SL ${ah_attr.sl}`]),
  ].join(', ');
}

/** `qp_num 17, type RC`: whatever the operation answers. */
function text(result: object): string {
  return Object.entries(result)
    .flatMap(([name, value]: [string, Json]) => member(name, value))
    .join(', ');
}

function member(name: string, value: Json): string[] {
  if (value === null || name === 'reserved') return [];
  if (Array.isArray(value)) {
    const parts = value.map((part) => (typeof part === 'object' ? `(${text(part ?? {})})` : `${part}`));
    return [`${name} ${parts.length === 0 ? 'none' : parts.join(' ')}`];
  }
  if (typeof value !== 'object') return [`${name} ${value}`];
  if ('addr' in value && 'port' in value) {
    const address = String(value['addr']);
    return [`${name} ${address.includes(':') ? `[${address}]` : address}:${value['port']}`];
  }
  if ('value' in value && 'name' in value) return [`${name} ${value['name'] ?? value['value']}`];
  if ('value' in value && 'flags' in value) return [`${name} ${value['value']}`];
  return [`${name} (${text(value)})`];
}
