/** From answers to what the commands show. */
import { gidText, guidText } from '../abi/ib-types.ts';
import { isSa } from '../datagram/headers.ts';
import { headerLayout, type Mad, recordJson, type Section, sectionJson } from '../datagram/message.ts';
import { madStatusText } from '../explain/mad-status.ts';
import type { Json } from '../layout/codec.ts';
import type { AttributeFields, MadEnvelope, MadTarget } from '../model/mad.ts';
import type { Received } from './reply.ts';
import type { Answer } from './session.ts';
import type { Target } from './target.ts';
import { userHeaderJson } from './user-header.ts';

/** The datagram's header and sections; each section is null where the class has none of that kind. */
export function envelopeOf(mad: Mad): MadEnvelope {
  const section = (name: Section['name']): { readonly [field: string]: Json } | null => {
    const found = mad.sections.find((each) => each.name === name);
    return found ? sectionJson(found) : null;
  };
  const { name } = madStatusText(mad.status, isSa(mad.header.mgmt_class));
  return {
    ...headerLayout.toJson(mad.header),
    status: { value: mad.status, name },
    smp: section('smp') as MadEnvelope['smp'],
    dr_smp: section('dr_smp') as MadEnvelope['dr_smp'],
    rmpp: section('rmpp') as MadEnvelope['rmpp'],
    sa: section('sa') as MadEnvelope['sa'],
    vendor: section('vendor') as MadEnvelope['vendor'],
  };
}

/** Round-trip times in ms, to the microsecond. */
export const milliseconds = (value: number): number => Math.round(value * 1000) / 1000;

export const receivedHeaderJson = (reply: Received) => userHeaderJson(reply.header);

/** The first record, as JSON; null where there is none. */
export function fieldsOf({ attribute, records: [record] }: Mad): AttributeFields | null {
  return attribute && record ? recordJson(attribute, record) : null;
}

export const answerJson = ({ mad, reply }: Answer) => ({
  header: receivedHeaderJson(reply),
  mad: envelopeOf(mad),
  fields: fieldsOf(mad),
  rtt_ms: milliseconds(reply.rttMs),
  attempts: reply.attempts,
});

export const NO_ANSWER = { header: null, mad: null, fields: null, rtt_ms: null, attempts: null } as const;

/** @param lid that the target was resolved to, null where it was not */
export function targetJson(target: Target, lid: number | null): MadTarget {
  return {
    lid: target.kind === 'lid' ? target.lid : lid,
    path: target.kind === 'path' ? [...target.path] : null,
    guid: target.kind === 'guid' ? guidText(target.guid) : null,
    gid: target.kind === 'gid' ? gidText(target.gid) : null,
  };
}
