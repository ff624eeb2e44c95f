/** Messages of the connection manager against tshark's decoder, on random bytes. MRA and SIDR: see mad-cm-structs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { requiredAttribute } from '../../src/datagram/attributes.ts';
import { encodeMad } from '../../src/datagram/message.ts';
import { randomFrom } from '../unit/layout/support.ts';

const folder = mkdtempSync(join(tmpdir(), 'rdmatool-tshark-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FRAMES = 200;
const LINK_TYPE_ERF = 197;
const ERF_INFINIBAND = 21;

/** A datagram as it is on the wire, in a record of the ERF kind. */
function erfFrame(mad: Uint8Array, index: number): Buffer {
  const lrh = Buffer.from('0002000100480002', 'hex');
  const bth = Buffer.from('6400ffff0000000100000000', 'hex');
  const deth = Buffer.from('8001000000000001', 'hex');
  const frame = Buffer.concat([lrh, bth, deth, mad, Buffer.alloc(6)]);
  const erf = Buffer.alloc(16);
  erf.writeBigUInt64LE(BigInt(index) << 32n, 0);
  erf[8] = ERF_INFINIBAND;
  erf[9] = 0x04;
  erf.writeUInt16BE(16 + frame.length, 10);
  erf.writeUInt16BE(frame.length, 14);
  return Buffer.concat([erf, frame]);
}

function pcap(frames: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(65535, 16);
  header.writeUInt32LE(LINK_TYPE_ERF, 20);
  const records = frames.map((frame, index) => {
    const record = Buffer.alloc(16);
    record.writeUInt32LE(index, 0);
    record.writeUInt32LE(frame.length, 8);
    record.writeUInt32LE(frame.length, 12);
    return Buffer.concat([record, frame]);
  });
  return Buffer.concat([header, ...records]);
}

/** Our field, and tshark's after `infiniband.cm.`. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  REQ: {
    local_comm_id: 'req',
    service_id: 'req.serviceid',
    local_ca_guid: 'req.localcaguid',
    local_q_key: 'req.localqkey',
    local_qpn: 'req.localqpn',
    responder_resources: 'req.responderres',
    local_eecn: 'req.localeecn',
    initiator_depth: 'req.initdepth',
    remote_eecn: 'req.remoteeecn',
    remote_cm_response_timeout: 'req.remoteresptout',
    transport_service_type: 'req.transpsvctype',
    end_to_end_flow_control: 'req.e2eflowctrl',
    starting_psn: 'req.startpsn',
    local_cm_response_timeout: 'req.localresptout',
    retry_count: 'req.retrcount',
    partition_key: 'req.pkey',
    path_packet_payload_mtu: 'req.pppmtu',
    rdc_exists: 'req.rdcexist',
    rnr_retry_count: 'req.rnrretrcount',
    max_cm_retries: 'req.maxcmretr',
    srq: 'req.srq',
    extended_transport_type: 'req.ext_transport',
    primary_local_port_lid: 'req.prim_locallid',
    primary_remote_port_lid: 'req.prim_remotelid',
    primary_traffic_class: 'req.prim_tfcclass',
    primary_hop_limit: 'req.prim_hoplim',
    primary_sl: 'req.prim_sl',
    primary_subnet_local: 'req.prim_subnetlocal',
    primary_local_ack_timeout: 'req.prim_localacktout',
    alternate_local_port_lid: 'req.alt_locallid',
    alternate_remote_port_lid: 'req.alt_remotelid',
    alternate_local_port_gid: 'req.alt_localgid',
    alternate_remote_port_gid: 'req.alt_remotegid',
    alternate_traffic_class: 'req.alt_tfcclass',
    alternate_hop_limit: 'req.alt_hoplim',
    alternate_sl: 'req.alt_sl',
    alternate_subnet_local: 'req.alt_subnetlocal',
    alternate_local_ack_timeout: 'req.alt_localacktout',
    private_data: 'req.private',
  },
  REP: {
    local_comm_id: 'rep',
    remote_comm_id: 'rep.remotecommid',
    local_q_key: 'rep.localqkey',
    local_qpn: 'rep.localqpn',
    local_eecn: 'rep.localeecn',
    starting_psn: 'rep.startpsn',
    responder_resources: 'rep.respres',
    initiator_depth: 'rep.initdepth',
    target_ack_delay: 'rep.tgtackdelay',
    failover_accepted: 'rep.failoveracc',
    end_to_end_flow_control: 'rep.e2eflowctrl',
    rnr_retry_count: 'rep.rnrretrcount',
    srq: 'rep.srq',
    local_ca_guid: 'rep.localcaguid',
    private_data: 'rep.private',
  },
  RTU: { local_comm_id: 'rtu.localcommid', remote_comm_id: 'rtu.remotecommid', private_data: 'rtu.private' },
  REJ: {
    local_comm_id: 'rej.localcommid',
    remote_comm_id: 'rej.remotecommid',
    message_rejected: 'rej.msgrej',
    reject_info_length: 'rej.rejinfolen',
    reason: 'rej.reason',
    ari: 'rej.ari',
    private_data: 'rej.private',
  },
  DREQ: {
    local_comm_id: 'dreq.localcommid',
    remote_comm_id: 'dreq.remotecommid',
    remote_qpn_eecn: 'req.remoteqpneecn',
    private_data: 'dreq.private',
  },
  DREP: {
    local_comm_id: 'drsp.localcommid',
    remote_comm_id: 'drsp.remotecommid',
    private_data: 'drsp.private',
  },
};

test('REQ: flow label and rate lie where the kernel reads them (tshark 4.0 reads other bits)', () => {
  const random = randomFrom(88);
  const { layout } = requiredAttribute('REQ', 'communication');
  for (let round = 0; round < FRAMES; round++) {
    const data = random.bytes(layout.size);
    const word = (offset: number): number => new DataView(data.buffer).getUint32(offset);
    expect(layout.decode(data)).toMatchObject({
      primary_flow_label: word(88) >>> 12,
      primary_packet_rate: word(88) & 0x3f,
      alternate_flow_label: word(132) >>> 12,
      alternate_packet_rate: word(132) & 0x3f,
    });
  }
});

const printed = (value: unknown): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
const parsed = (text: string): string =>
  /^(0x[0-9a-f]+|\d+)$/i.test(text) && text.length < 20 ? String(BigInt(text)) : text.replaceAll(':', '');

test.each(Object.entries(FIELDS))('%s', (name, fields) => {
  const attribute = requiredAttribute(name, 'communication');
  const random = randomFrom(attribute.id);
  const datas = Array.from({ length: FRAMES }, () => random.bytes(attribute.layout.size));
  const frames = datas.map((data, index) =>
    erfFrame(
      encodeMad({
        header: {
          base_version: 1,
          mgmt_class: 7,
          class_version: 2,
          method: 3,
          attr_id: attribute.id,
          tid: BigInt(index + 1),
        },
        data,
      }),
      index,
    ),
  );
  const file = join(folder, `${name}.pcap`);
  writeFileSync(file, pcap(frames));
  const columns = Object.values(fields).flatMap((field) => ['-e', `infiniband.cm.${field}`]);
  const output = execFileSync('tshark', ['-r', file, '-T', 'fields', '-E', 'separator=|', ...columns], {
    encoding: 'utf8',
    stdio: 'pipe',
    maxBuffer: 1 << 26,
  });
  const lines = output.trimEnd().split('\n');
  expect(lines.length).toBe(FRAMES);
  datas.forEach((data, index) => {
    const values: Readonly<Record<string, unknown>> = attribute.layout.decode(data);
    const theirs = (lines[index] ?? '').split('|').map(parsed);
    expect(Object.keys(fields).map((field) => `${field}=${printed(values[field])}`)).toEqual(
      Object.keys(fields).map((field, column) => `${field}=${theirs[column]}`),
    );
  });
});
