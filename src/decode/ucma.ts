/** Commands on /dev/infiniband/rdma_cm and the kernel's answers, in either edition. */
import { UcmaQueryOption } from '../abi/ucma/codes.ts';
import type { UcmaCommand } from '../abi/ucma/command.ts';
import {
  commandNumbered,
  UCMA_EDITIONS,
  type UcmaEdition,
  type UcmaEditionName,
} from '../abi/ucma/editions.ts';
import {
  briefText,
  type EventParameters,
  readResponse,
  readWrite,
  type UcmaReading,
} from '../abi/ucma/read.ts';
import { rdmaUcmCmdHdr } from '../abi/ucma/shared.ts';
import { Failure } from '../explain/failure.ts';
import { nearest } from '../explain/nearest.ts';
import { type Findings, partOf } from './result.ts';

/** The answer to which command the bytes are. */
export interface ResponseOf {
  /** By the edition's name or its number, after a colon what was asked for: `QUERY:PATH`. */
  readonly command: string;
  readonly parameters: EventParameters | null;
}

export function findWrite(bytes: Uint8Array, name: UcmaEditionName): Findings {
  const reading = readWrite(UCMA_EDITIONS[name], bytes);
  const isHeader = ({ offset }: { readonly offset: number }): boolean => offset < rdmaUcmCmdHdr.size;
  const body = reading.fields.filter((field) => !isHeader(field));
  return findings(name, reading, [
    partOf(rdmaUcmCmdHdr.title, reading.fields.filter(isHeader)),
    ...(body.length === 0 ? [] : [partOf(reading.command?.request?.layout.title ?? 'request', body)]),
  ]);
}

/** @throws Failure for a command that the edition does not have */
export function findResponse(bytes: Uint8Array, name: UcmaEditionName, of: ResponseOf): Findings {
  const edition = UCMA_EDITIONS[name];
  const [word = '', asked] = of.command.split(':');
  const command = commandNamed(edition, word);
  const request = asked === undefined ? null : requestAsking(command, asked);
  const reading = readResponse(command, bytes, request, of.parameters);
  const title = command.response?.layout.title ?? `answer to ${command.name}`;
  const found = findings(name, reading, [partOf(title, reading.fields)]);
  // The line of a command tells what matters of its request, which is not here.
  return { ...found, brief: `answer to ${command.name}` };
}

function findings(edition: UcmaEditionName, reading: UcmaReading, parts: Findings['parts']): Findings {
  return {
    edition,
    name: reading.command?.name ?? null,
    brief: briefText(reading),
    parts,
    missing: reading.missing,
    older: reading.older,
    extra: reading.extra,
    notes: reading.notes,
    wrong:
      reading.command === null && reading.missing.length === 0 ? (reading.notes[0] ?? 'no command') : null,
  };
}

function commandNamed(edition: UcmaEdition, word: string): UcmaCommand {
  const wanted = word
    .toUpperCase()
    .replace(/^RDMA_USER_CM_CMD_/, '')
    .replaceAll('-', '_');
  const found = /^\d+$/.test(word)
    ? commandNumbered(edition, Number(word))
    : edition.commands.find(({ name }) => name === wanted);
  if (found) return found;
  const names = edition.commands.map(({ name }) => name);
  const meant = nearest(wanted, names);
  throw new Failure(
    'USAGE',
    `the edition ${edition.name} has no command ${word}`,
    meant.length > 0 ? `did you mean ${meant.join(' or ')}?` : `it has ${names.join(', ')}`,
  );
}

/** A request that asks for what is answered, by name or number. */
function requestAsking(command: UcmaCommand, asked: string): Uint8Array {
  const { answers, request } = command;
  if (answers === null || request === null) {
    throw new Failure('USAGE', `${command.name} has one answer`, `--response ${command.name}`);
  }
  const known = [...answers.byValue.keys()];
  const named = known.find((value) => UcmaQueryOption.nameOf(value) === asked.toUpperCase());
  const value = named ?? known.find((each) => String(each) === asked);
  if (value === undefined) {
    const names = known.map((each) => `--response ${command.name}:${UcmaQueryOption.nameOf(each) ?? each}`);
    throw new Failure('USAGE', `${command.name} does not answer '${asked}'`, names.join(', '));
  }
  return request.layout.encode({ [answers.member]: value });
}
