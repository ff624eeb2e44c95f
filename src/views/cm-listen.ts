import { bytesText } from '../explain/quantities.ts';
import type { CmAddress, CmConnection, CmListenObject } from '../model/cm.ts';
import { addressText, statusText } from './cm.ts';
import { echoText } from './cm-exchange.ts';
import { kernelCommandText } from './kernel-commands.ts';

/** One line for one object of the stream; null for what is said on stderr. */
export function cmListenLine(object: CmListenObject): string | null {
  const shown = kernelCommandText(object.kernel_commands);
  const isOther = object.event === null && object.id === null;
  if (isOther && (object.error !== null || shown !== '')) return shown === '' ? null : shown.slice(1);
  const time = object.time.slice(11, 23);
  const where = [
    object.id === null ? '' : `#${object.id}`,
    endpoints(object.local, object.peer),
    object.device === null ? '' : `(${object.device})`,
  ];
  const what =
    object.error !== null
      ? `failed: ${object.error.message}`
      : object.event === null
        ? (object.action ?? '')
        : `${object.event.name ?? `event ${object.event.value}`} ${statusText(object.status, object.status_name)}`;
  const done = object.event !== null && object.action !== null ? `-> ${object.action}` : '';
  const line = [time, ...where, what, parameters(object.connection), done, echoText(object.echo)]
    .filter(Boolean)
    .join(' ');
  return `${printable(line)}${shown}`;
}

const endpoints = (local: CmAddress | null, peer: CmAddress | null): string => {
  if (local === null) return peer === null ? '' : `from ${addressText(peer)}`;
  return peer === null || peer.port === 0
    ? addressText(local)
    : `${addressText(local)} from ${addressText(peer)}`;
};

/** `private data "hello" of 56 bytes, responder_resources 1 …`. */
export function parameters(connection: CmConnection | null): string {
  if (connection === null) return '';
  const { private_data, private_data_text, private_data_len, private_data_padded, ...values } = connection;
  const data =
    private_data === null || (private_data_text === null && /^0x(00)*$/.test(private_data))
      ? []
      : [
          `private data ${private_data_text === null ? private_data : JSON.stringify(private_data_text)} in ${bytesText(private_data_len)}${private_data_padded ? ' with padding' : ''}`,
        ];
  const rest = Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${value}`],
  );
  return [...data, ...rest].join(', ');
}

/** What comes from a peer must not move the cursor of a terminal. */
const printable = (text: string): string =>
  text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
