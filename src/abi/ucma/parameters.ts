/** Parameters of connections and datagrams, whose second words and tails tell the editions apart. */
import { about, type Codec } from '../../layout/codec.ts';
import { bytes, hex, u8, u32 } from '../../layout/scalar.ts';
import { ibUverbsAhAttr } from '../verbs-qp.ts';
import { UCMA_PRIVATE_DATA } from './shared.ts';

export const privateData = about(
  bytes(UCMA_PRIVATE_DATA),
  'private data, of which private_data_len bytes count',
);
export const privateDataLen = about(u8, 'bytes of private data that count');
export const qkey = about(hex(u32), 'Q_Key');

/** The rest of rdma_ucm_conn_param after its second word. */
export const connParamRest = {
  private_data: privateData,
  private_data_len: privateDataLen,
  srq: about(u8, '1: the queue pair has a shared receive queue'),
  responder_resources: about(
    u8,
    'RDMA reads and atomics that it answers at a time; 255: the most the device can',
  ),
  initiator_depth: about(u8, 'RDMA reads and atomics that it starts at a time; 255: the most the device can'),
  flow_control: about(u8, '1: end-to-end flow control'),
  retry_count: about(u8, 'retries after a timeout'),
  rnr_retry_count: about(u8, 'retries where the receiver has no buffer; 7 is for ever'),
  valid: about(u8, '1: the parameters hold; ACCEPT with 0 is the last step of a client'),
} as const;

export const qpNum = about(u32, 'number of the queue pair');

/** rdma_ucm_ud_param up to its reserved bytes. */
export const udParamHead = {
  qp_num: qpNum,
  qkey,
  ah_attr: about(ibUverbsAhAttr, 'how to send to the peer'),
  private_data: privateData,
  private_data_len: privateDataLen,
} as const;

/** A status is declared unsigned, and is a negative errno or a positive code of the transport. */
export const eventStatus: Codec<number, { readonly value: number; readonly signed: number }> = about(
  {
    ...u32,
    toJson: (value: number) => ({ value, signed: value | 0 }),
    schema: () => ({
      type: 'object',
      properties: { value: { type: 'integer' }, signed: { type: 'integer' } },
      required: ['value', 'signed'],
      additionalProperties: false,
    }),
  },
  '0, a negative errno, or a positive reason of the transport; declared unsigned',
);
