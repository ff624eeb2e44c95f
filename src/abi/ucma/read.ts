/** What the bytes of a write(2), and of the kernel's answer to it, say. Nothing is refused: what is odd is said. */
import type { Json } from '../../layout/codec.ts';
import { type FieldReading, type MissingField, readFields } from '../../layout/readings.ts';
import type { UcmaCommand, UcmaForm } from './command.ts';
import { commandNumbered, type UcmaEdition } from './editions.ts';
import { rdmaUcmCmdHdr } from './shared.ts';

/** Bytes that the structure does not have. */
export interface ExtraBytes {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface UcmaReading {
  /** null where the number, or the whole header, is not known. */
  readonly command: UcmaCommand | null;
  /** In order of their places; those of the header of a write first, under `hdr.`. */
  readonly fields: readonly FieldReading[];
  /** Fields that the bytes should hold and do not; not those that only newer kernels or programs have. */
  readonly missing: readonly MissingField[];
  /** Fields that a newer kernel or program would have beyond the end. */
  readonly older: readonly MissingField[];
  readonly extra: ExtraBytes | null;
  /** What is wrong or unusual, one sentence each. */
  readonly notes: readonly string[];
}

/** How the parameters of an event are to be read, where that is known: by the port space of its id. */
export type EventParameters = 'conn' | 'ud';

const HEADER_PREFIX = 'hdr.';

/** Reads the bytes of one write: header and request. */
export function readWrite(edition: UcmaEdition, bytes: Uint8Array): UcmaReading {
  const header = readFields(rdmaUcmCmdHdr, bytes, { prefix: HEADER_PREFIX });
  if (header.missing.length > 0) {
    const note = `${bytes.length} bytes, and the header alone has ${rdmaUcmCmdHdr.size}: the kernel answers EINVAL`;
    return { command: null, ...header, older: [], extra: null, notes: [note] };
  }
  const { cmd, in: declared, out } = rdmaUcmCmdHdr.decode(bytes);
  const command = commandNumbered(edition, cmd);
  const body = bytes.subarray(rdmaUcmCmdHdr.size);
  const notes: string[] = [];
  if (command === null) {
    notes.push(
      `command ${cmd} is not known to this edition (0 to ${edition.commands.length - 1}): the kernel answers EINVAL`,
    );
  }
  if (declared !== body.length) {
    notes.push(
      declared > body.length
        ? `the header tells ${declared} bytes and ${body.length} follow: the kernel answers EINVAL`
        : `the header tells ${declared} bytes and ${body.length} follow: the kernel leaves the rest alone`,
    );
  }
  const request = command?.request ?? null;
  const read = readForm(request, body, rdmaUcmCmdHdr.size, {});
  if (command !== null && read.missing.length > 0) {
    notes.push(`${command.name} has ${sizesText(request)} bytes, and ${body.length} are there`);
  }
  if (command !== null) notes.push(...roomNotes(command, body, out));
  return {
    command,
    fields: [...header.fields, ...read.fields],
    missing: read.missing,
    older: read.older,
    extra: read.extra,
    notes,
  };
}

/**
 * Reads the answer to a command.
 * @param request the bytes of the request without the header, where they are known
 * @param parameters how an event's parameters are meant; without a word both readings are given, and for
 *   multicast events `ud`
 */
export function readResponse(
  command: UcmaCommand,
  bytes: Uint8Array,
  request: Uint8Array | null = null,
  parameters: EventParameters | null = null,
): UcmaReading {
  const form = responseForm(command, request);
  if (form === null) {
    const extra = bytes.length === 0 ? null : { offset: 0, bytes };
    const note =
      command.answers === null
        ? `${command.name} has no answer`
        : `what ${command.name} answers depends on ${command.answers.member}, which is not known`;
    return { command, fields: [], missing: [], older: [], extra, notes: extra ? [note] : [] };
  }
  const choose: { [union: string]: string } = {};
  const meant = parameters ?? multicastParameters(form, bytes);
  if (meant !== null) choose['param'] = meant;
  const read = readForm(form, bytes, 0, choose);
  const notes =
    read.missing.length === 0
      ? []
      : [`the answer to ${command.name} has ${sizesText(form)} bytes, and ${bytes.length} are there`];
  return { command, ...read, notes };
}

/** What a command answers: null where it is nothing, or where that depends on a request that is not known. */
export function responseForm(command: UcmaCommand, request: Uint8Array | null): UcmaForm | null {
  if (command.answers === null || command.request === null) return command.response;
  const { member, byValue } = command.answers;
  const values = new Map<string, unknown>(
    Object.entries(command.request.layout.decodeAvailable(request ?? new Uint8Array())),
  );
  const value = values.get(member);
  return typeof value === 'number' ? (byValue.get(value) ?? null) : null;
}

/** One line: the name, and what matters of the request. */
export function briefText(reading: UcmaReading): string {
  const { command } = reading;
  const texts = new Map(reading.fields.map(({ name, value }) => [name, valueText(value)]));
  if (command === null) {
    const number = texts.get(`${HEADER_PREFIX}cmd`);
    return number === undefined ? 'a write without a whole header' : `unknown command ${number}`;
  }
  return [command.name, command.brief((path) => texts.get(path) ?? '?')]
    .filter((part) => part !== '')
    .join(' ');
}

/** A value in few letters: the name of a number that has one. */
function valueText(value: Json): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return String(value);
  const parts = new Map<string, Json>(Object.entries(value));
  return String(parts.get('name') ?? parts.get('signed') ?? parts.get('value') ?? JSON.stringify(value));
}

type FormReading = Pick<UcmaReading, 'fields' | 'missing' | 'older' | 'extra'>;

function readForm(
  form: UcmaForm | null,
  bytes: Uint8Array,
  offset: number,
  choose: { readonly [union: string]: string },
): FormReading {
  if (form === null) {
    const extra = bytes.length === 0 ? null : { offset, bytes };
    return { fields: [], missing: [], older: [], extra };
  }
  const { layout, sizes, list } = form;
  const read = readFields(layout, bytes, { offset, choose });
  const shortest = sizes[0] ?? layout.size;
  const isOlder = (field: MissingField): boolean =>
    sizes.includes(bytes.length) && field.offset - offset >= shortest;
  const fields = [...read.fields];
  const missing = read.missing.filter((field) => !isOlder(field));
  let end = layout.size;
  if (list !== null && read.missing.length === 0) {
    const count = fields.find(({ name }) => name === list.count)?.value;
    // The kernel tells how many there are, and writes as many as the room takes.
    for (let index = 0; typeof count === 'number' && index < count && end < bytes.length; index++) {
      const element = readFields(list.layout, bytes.subarray(end), {
        offset: offset + end,
        prefix: `${list.name}[${index}].`,
      });
      fields.push(...element.fields);
      missing.push(...element.missing);
      end += list.layout.size;
    }
  }
  const rest = bytes.subarray(end);
  return {
    fields,
    missing,
    older: read.missing.filter(isOlder),
    extra: rest.length === 0 ? null : { offset: offset + end, bytes: rest },
  };
}

const sizesText = (form: UcmaForm | null): string => form?.sizes.join(', ') ?? '0';

/** What of the room for the answer the kernel will not have. */
function roomNotes(command: UcmaCommand, body: Uint8Array, out: number): string[] {
  const form = responseForm(command, body);
  if (form === null) return [];
  const needed = form.sizes[0] ?? form.layout.size;
  const notes: string[] = [];
  if (out < needed)
    notes.push(`room for ${out} bytes, and the answer has ${needed}: the kernel answers ENOSPC`);
  const layout = command.request?.layout;
  const address = layout && readFields(layout, body).fields.find(({ name }) => name === 'response')?.value;
  if (address === '0x0') notes.push('the answer is to go to address 0: the kernel answers EFAULT');
  return notes;
}

/** The events of a multicast group have the parameters of datagrams, whatever the id is. */
function multicastParameters(form: UcmaForm, bytes: Uint8Array): EventParameters | null {
  const event = readFields(form.layout, bytes).fields.find(({ name }) => name === 'event')?.value;
  return valueText(event ?? null).startsWith('MULTICAST_') ? 'ud' : null;
}
