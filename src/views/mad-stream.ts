/** What comes and what is answered, for people. */
import { bytesText } from '../explain/quantities.ts';
import type { MadAgent, MadRecvObject, MadServeObject, ReceivedHeader } from '../model/mad.ts';
import type { Block } from '../output/blocks.ts';
import { receivedHeaderBlock } from './mad-header.ts';
import { messageBlocks } from './mad-message.ts';

const clock = (time: string): string => time.slice(11, 23);

type Listening = Pick<MadRecvObject, 'time' | 'device' | 'port' | 'transport' | 'header_kind' | 'agents'>;

function listeningBlocks(object: Listening): Block[] {
  const { time, device, port, transport, header_kind } = object;
  return [
    {
      type: 'text',
      tone: 'quiet',
      text: `${clock(time)} listening on ${device} port ${port}, by ${transport}, with the ${header_kind} header`,
    },
    ...object.agents.map(
      (agent): Block => ({ type: 'text', tone: 'quiet', indent: 2, text: agentText(agent) }),
    ),
  ];
}

function agentText({ id, mgmt_class, class_version, oui, methods, rmpp_version }: MadAgent): string {
  const hex = `0x${mgmt_class.value.toString(16).padStart(2, '0')}`;
  return [
    `agent ${id}: class ${hex}${mgmt_class.name === null ? '' : ` ${mgmt_class.name}`} version ${class_version}`,
    ...(oui === null ? [] : [`OUI ${oui}`]),
    methods.length === 0 ? 'no methods unasked' : methods.join(' '),
    ...(rmpp_version === 1 ? ['RMPP'] : []),
  ].join(', ');
}

/** `fd09::1`, or `LID 3`. */
const senderText = (header: ReceivedHeader): string =>
  `${header.grh_present === 0 ? `LID ${header.lid}` : header.gid} QP ${header.qpn}`;

export function madRecvView(object: MadRecvObject): Block[] {
  const { event, header, message, time } = object;
  if (event === 'listening') return listeningBlocks(object);
  if (header === null || message === null) return [];
  const title =
    event === 'returned'
      ? `${clock(time)} came back: ${header.status.name}`
      : `${clock(time)} from ${senderText(header)}, to agent ${header.id}`;
  return [
    { type: 'heading', text: title },
    receivedHeaderBlock(header),
    ...messageBlocks('Datagram', message),
    { type: 'gap' },
  ];
}

/** A line a request. */
export function madServeView(object: MadServeObject): Block[] {
  const { event, header, request, answer, time, error } = object;
  if (event === 'listening') return listeningBlocks(object);
  if (header === null || request === null) return [];
  const { mad, attribute } = request;
  const asked =
    mad === null
      ? `${bytesText(request.hex.length / 2)} that are no datagram`
      : [
          mad.method.name ?? `method 0x${mad.method.value.toString(16)}`,
          attribute ?? `attribute ${mad.attr_id}`,
          `modifier ${mad.attr_mod}`,
          `(${mad.mgmt_class.name ?? `class 0x${mad.mgmt_class.value.toString(16)}`})`,
          `tid ${mad.tid}`,
        ].join(' ');
  const status =
    answer === null
      ? (event ?? '')
      : `${answer.method.name ?? `0x${answer.method.value.toString(16)}`} ${answer.status.name ?? ''} 0x${answer.status.value.toString(16).padStart(4, '0')}, ${bytesText(answer.bytes)}${answer.rmpp ? ' in segments' : ''}`;
  const failed = error === null ? '' : ` failed: ${error.message}`;
  const from =
    event === 'returned'
      ? `to ${senderText(header)} came back ${header.status.name}`
      : `from ${senderText(header)}`;
  return [
    {
      type: 'text',
      tone: event === 'answered' && error === null ? 'plain' : 'doubt',
      text: `${clock(time)} ${from}: ${asked} -> ${status}${failed}`,
    },
  ];
}
