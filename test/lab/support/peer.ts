/**
 * A C program on libibverbs and libefa that does what their manual pages tell: the inline functions of
 * <infiniband/verbs.h>, efadv_query_device with each `inlen`. What it prints is what rdmatool is to say.
 */
import { efadvDeviceAttr } from '../../../src/abi/efadv.ts';
import { ibvCompCntrCaps, ibvDeviceAttrEx, ibvPortAttr } from '../../../src/abi/verbs.ts';
import type { EfaLab } from '../../../src/lab/efa/lab.ts';
import type { Member } from '../../../src/layout/codec.ts';
import { compile } from './c.ts';
import { RELEASE } from './generation.ts';
import { run } from './rdmatool.ts';

/** Members that not every rdma-core has in its headers, and the first that does. */
const SINCE: Readonly<Record<string, number>> = { active_speed_ex: 49, inline_buf_size_ex: 63 };

/** Statements that print the members of a structure, each on a line of `PREFIX.PATH VALUE`. */
function printMembers(members: readonly Member[], variable: string, prefix: string): string {
  return members
    .filter(({ name }) => !(RELEASE < (SINCE[name] ?? 0)))
    .map(({ name, codec }): string => {
      const [path, value] = [`${prefix}.${name}`, `${variable}.${name}`];
      if (codec.members) return printMembers(codec.members, value, path);
      if (codec.type.startsWith('char[')) return `\tprintf("${path} %s\\n", ${value});`;
      if (codec.type === 'be64') return `\tprintf("${path} %llu\\n", (unsigned long long)be64toh(${value}));`;
      return `\tPRINT("${path}", ${value});`;
    })
    .join('\n');
}

const SOURCE = `
#include <endian.h>
#include <infiniband/efadv.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRINT(path, value) do { \\
	if ((__typeof__(value))-1 < (__typeof__(value))1) printf("%s %lld\\n", path, (long long)(value)); \\
	else printf("%s %llu\\n", path, (unsigned long long)(value)); } while (0)

static void port(struct ibv_context *context, unsigned int number, struct ibv_gid_entry *gids, ssize_t gid_count)
{
	struct ibv_port_attr p;
	__be16 pkey;
	int result;

	memset(&p, 0, sizeof(p));
	result = ibv_query_port(context, number, &p);
	printf("port %u\\nport.result %d\\n", number, result);
	if (result)
		return;
${printMembers(ibvPortAttr.members, 'p', 'port')}
#if RDMA_CORE >= 62
	{
		uint64_t speed = 0;

		result = ibv_query_port_speed(context, number, &speed);
		printf("speed.result %d\\nspeed.value %llu\\n", result, (unsigned long long)speed);
	}
#endif
	for (int i = 0; i < p.pkey_tbl_len; i++)
		if (!ibv_query_pkey(context, number, i, &pkey))
			printf("pkey.%d %d\\n", i, be16toh(pkey));
	for (ssize_t i = 0; i < gid_count; i++) {
		if (gids[i].port_num != number)
			continue;
		printf("gid.%u %u ", gids[i].gid_index, gids[i].gid_type);
		for (int byte = 0; byte < 16; byte++)
			printf("%02x", gids[i].gid.raw[byte]);
		putchar('\\n');
	}
}

static void efa(struct ibv_context *context)
{
#if RDMA_CORE >= 63
	struct efadv_sq_depth_attr sq = { .max_send_sge = 1 };
	struct efadv_rq_depth_attr rq = { .max_recv_sge = 1 };

	printf("depth.max_sq_depth %d\\n", efadv_get_max_sq_depth(context, &sq, sizeof(sq)));
	printf("depth.max_rq_depth %d\\n", efadv_get_max_rq_depth(context, &rq, sizeof(rq)));
#endif
	for (unsigned int inlen = 1; inlen <= 40; inlen++) {
		union { struct efadv_device_attr attr; unsigned char bytes[64]; } u;
		int result;

		memset(&u, 0, sizeof(u));
		result = efadv_query_device(context, &u.attr, inlen);
		printf("efa %u\\nefa.result %d\\n", inlen, result);
		if (result)
			continue;
		{
			struct efadv_device_attr e = u.attr;
${printMembers(efadvDeviceAttr.members, 'e', 'efa')}
		}
	}
}

int main(void)
{
	/* libibverbs passes the size on in 16 bits. */
	static struct ibv_gid_entry gids[2047];
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++) {
		struct ibv_context *context = ibv_open_device(list[i]);
		struct ibv_device_attr_ex a;
		ssize_t gid_count;
		int result;

		printf("device %s\\n", ibv_get_device_name(list[i]));
		if (!context)
			continue;
		printf("node_type %d\\n", list[i]->node_type);
		printf("transport %d\\n", list[i]->transport_type);
		printf("num_comp_vectors %d\\n", context->num_comp_vectors);
		memset(&a, 0, sizeof(a));
		result = ibv_query_device_ex(context, NULL, &a);
		printf("attr.result %d\\n", result);
		if (!result) {
${printMembers(ibvDeviceAttrEx.members, 'a', 'attr')}
		}
#if RDMA_CORE >= 65
		{
			struct ibv_comp_cntr_caps c;

			memset(&c, 0, sizeof(c));
			result = ibv_query_comp_cntr_caps(context, &c);
			printf("comp.result %d\\n", result);
			if (!result) {
${printMembers(ibvCompCntrCaps.members, 'c', 'comp')}
			}
		}
#endif
		gid_count = ibv_query_gid_table(context, gids, 2047, 0);
		for (unsigned int number = 1; number <= a.orig_attr.phys_port_cnt; number++)
			port(context, number, gids, gid_count);
		efa(context);
		ibv_close_device(context);
	}
	if (list)
		ibv_free_device_list(list);
	return 0;
}
`;

/** Lines of one device, port or call: path to text. */
export type Answers = ReadonlyMap<string, string>;

export interface PeerDevice {
  readonly device: Answers;
  readonly ports: readonly Answers[];
  /** By inlen. */
  readonly efa: ReadonlyMap<number, Answers>;
}

let program: string | undefined;

/** What the program says of each device of a lab. */
export async function askPeer(lab: EfaLab, env: NodeJS.ProcessEnv = {}): Promise<Map<string, PeerDevice>> {
  program ??= compile('peer', SOURCE, ['-libverbs', '-lefa']);
  const { status, stdout, stderr } = await run([program], { lab, env });
  if (status !== 0) throw new Error(`peer: ${stderr}`);
  const devices = new Map<string, PeerDevice>();
  let lines = new Map<string, string>();
  let own = lines;
  let ports: Answers[] = [];
  let efa = new Map<number, Answers>();
  for (const line of stdout.trimEnd().split('\n')) {
    const space = line.indexOf(' ');
    const [path, text] = [line.slice(0, space), line.slice(space + 1)];
    if (path === 'device') {
      lines = new Map();
      own = lines;
      ports = [];
      efa = new Map();
      devices.set(text, { device: lines, ports, efa });
    } else if (path === 'port' || path === 'efa') {
      lines = new Map();
      if (path === 'port') ports.push(lines);
      else efa.set(Number(text), lines);
    } else if (path.startsWith('depth.')) own.set(path, text);
    else lines.set(path, text);
  }
  return devices;
}
