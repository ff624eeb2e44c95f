/**
 * MRA and the datagram messages of the connection manager, which tshark does not know, against C structures that are
 * written as the IBTA's tables (volume 1, 12.6.6, 12.11.1, 12.11.2) and the Linux kernel's messages lay them out.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requiredAttribute } from '../../src/datagram/attributes.ts';
import { randomFrom } from '../unit/layout/support.ts';

const BUFFERS = 1000;
const DATA = 232;

const folder = mkdtempSync(join(tmpdir(), 'rdmatool-cm-'));
afterAll(() => rmSync(folder, { recursive: true }));
const program = join(folder, 'messages');

/** Each field of ours and what C reads; in the order of the switch below. */
const MESSAGES = {
  MRA: {
    local_comm_id: 'N(be32toh(m->mra.local_comm_id))',
    remote_comm_id: 'N(be32toh(m->mra.remote_comm_id))',
    message_mraed: 'N(m->mra.message_mraed >> 6)',
    service_timeout: 'N(m->mra.service_timeout >> 3)',
    private_data: 'H(m->mra.private_data)',
  },
  SIDR_REQ: {
    request_id: 'N(be32toh(m->sidr_req.request_id))',
    partition_key: 'N(be16toh(m->sidr_req.pkey))',
    service_id: 'N(be64toh(m->sidr_req.service_id))',
    private_data: 'H(m->sidr_req.private_data)',
  },
  SIDR_REP: {
    request_id: 'N(be32toh(m->sidr_rep.request_id))',
    status: 'N(m->sidr_rep.status)',
    additional_information_length: 'N(m->sidr_rep.info_length)',
    vendor_id_high: 'N(be16toh(m->sidr_rep.vendor_id_high))',
    qpn: 'N(be32toh(m->sidr_rep.qpn_and_vendor_id_low) >> 8)',
    vendor_id_low: 'N(be32toh(m->sidr_rep.qpn_and_vendor_id_low) & 0xff)',
    service_id: 'N(be64toh(m->sidr_rep.service_id))',
    q_key: 'N(be32toh(m->sidr_rep.qkey))',
    additional_information: 'H(m->sidr_rep.info)',
    private_data: 'H(m->sidr_rep.private_data)',
  },
} as const;

beforeAll(() => {
  const cases = Object.values(MESSAGES).map(
    (fields, index) => `case ${index}: ${Object.values(fields).join("; putchar(' '); ")}; break;`,
  );
  writeFileSync(
    `${program}.c`,
    `#include <endian.h>
#include <stdint.h>
#include <stdio.h>
union message {
	uint8_t raw[${DATA}];
	struct __attribute__((packed)) {
		uint32_t local_comm_id, remote_comm_id;
		uint8_t message_mraed, service_timeout;
		uint8_t private_data[222];
	} mra;
	struct __attribute__((packed)) {
		uint32_t request_id;
		uint16_t pkey, reserved;
		uint64_t service_id;
		uint8_t private_data[216];
	} sidr_req;
	struct __attribute__((packed)) {
		uint32_t request_id;
		uint8_t status, info_length;
		uint16_t vendor_id_high;
		uint32_t qpn_and_vendor_id_low;
		uint64_t service_id;
		uint32_t qkey;
		uint8_t info[72], private_data[136];
	} sidr_rep;
};
_Static_assert(sizeof(union message) == ${DATA}, "each message fills the datagram");
#define N(x) printf("%llu", (unsigned long long)(x))
#define H(a) do { for (unsigned i = 0; i < sizeof(a); i++) printf("%02x", (a)[i]); } while (0)
int main(void) {
	static union message room, *m = &room;
	int which;
	while (fread(&room, 1, sizeof room, stdin) == sizeof room) {
		which = getchar();
		switch (which) {
${cases.join('\n')}
		}
		putchar('\\n');
	}
	return 0;
}
`,
  );
  execFileSync('cc', ['-std=gnu11', '-Wall', '-o', program, `${program}.c`], { stdio: 'pipe' });
});

test.each(Object.entries(MESSAGES))('%s', (name, fields) => {
  const { layout, id } = requiredAttribute(name, 'communication');
  const which = Object.keys(MESSAGES).indexOf(name);
  const random = randomFrom(id);
  const datas = Array.from({ length: BUFFERS }, () => random.bytes(DATA));
  const lines = execFileSync(program, {
    input: Buffer.concat(datas.map((data) => Buffer.from([...data, which]))),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  }).split('\n');
  // Every field of ours has its expression.
  expect(layout.members.map((member) => member.name)).toEqual(Object.keys(fields));
  datas.forEach((data, index) => {
    const values: Readonly<Record<string, unknown>> = layout.decode(data);
    const ours = Object.keys(fields).map((field) => {
      const value = values[field];
      return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
    });
    expect(ours).toEqual((lines[index] ?? '').split(' '));
  });
});
