/** Lines that commands of both editions share. */
import type { Brief } from './command.ts';

export const idOnly: Brief = (field) => `id=${field('id')}`;

/** Of CONNECT and ACCEPT. */
export const parameters: Brief = (field) => {
  const of = (name: string): string => field(`conn_param.${name}`);
  return [
    `id=${field('id')}`,
    `qp_num=${of('qp_num')}`,
    `responder_resources=${of('responder_resources')}`,
    `initiator_depth=${of('initiator_depth')}`,
    `private data ${of('private_data_len')} bytes`,
  ].join(' ');
};
