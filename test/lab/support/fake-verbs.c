/*
 * A libibverbs that is not there: old and new releases, drivers without an op, calls that hang or fail, and a value
 * of its own in every field, also in those that only some drivers fill. Built with -D for what it is to be:
 *   RELEASE=n        exports what rdma-core n exports
 *   OLD_CONTEXT      contexts are not inside a verbs_context, as before 2013
 *   SMALL_CONTEXT    the verbs_context ends below the ops
 *   NO_EX            no query_device_ex op; EX_ERRNO=n: it answers with that
 *   OPEN_ERRNO=n     ibv_open_device fails, and leaves that
 *   HANG_<CALL>      the call does not come back: HANG_OPEN, HANG_PORT, HANG_CLOSE
 * FAKE_VERBS_DEVICES names the devices, with commas. FAKE_VERBS_REPORT names a file that gets, when the process ends,
 * the calls that open and close things, in their order: L and l for a list, C and c for a context.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_query_port

#ifndef RELEASE
#define RELEASE 44
#endif

#define PORTS 2
#define GIDS 5

static char calls[4096];
static _Atomic unsigned int call_count;

static void note(char call)
{
	unsigned int at = atomic_fetch_add(&call_count, 1);

	if (at < sizeof(calls) - 1)
		calls[at] = call;
}

static __attribute__((destructor)) void report(void)
{
	const char *path = getenv("FAKE_VERBS_REPORT");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (file) {
		fputs(calls, file);
		fclose(file);
	}
}

static void hang(void)
{
	for (;;)
		pause();
}

/* Bytes that differ from their neighbours, so that no two fields have the same value. */
static void fill(void *memory, size_t size, unsigned int seed)
{
	unsigned char *bytes = memory;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(1 + (i * 73 + i / 251 + seed) % 255);
}

struct ibv_device **ibv_get_device_list(int *count)
{
	const char *names = getenv("FAKE_VERBS_DEVICES");
	struct ibv_device **list = calloc(64, sizeof(*list));
	char *copy = strdup(names ? names : "rdmap0s6"), *rest = NULL;
	int n = 0;

	note('L');

	for (char *name = strtok_r(copy, ",", &rest); name && n < 63; name = strtok_r(NULL, ",", &rest)) {
		list[n] = calloc(1, sizeof(**list));
		strncpy(list[n]->name, name, sizeof(list[n]->name) - 1);
		list[n]->node_type = IBV_NODE_CA;
		list[n]->transport_type = IBV_TRANSPORT_IB;
		n++;
	}
	free(copy);
	if (count)
		*count = n;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	note('l');
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	fill(attr, sizeof(*attr), 7);
	strcpy(attr->fw_ver, "16.35.4030");
	attr->phys_port_cnt = PORTS;
	return 0;
}

static __attribute__((unused)) int query_device_ex(struct ibv_context *context,
						    const struct ibv_query_device_ex_input *input,
						    struct ibv_device_attr_ex *attr, size_t size)
{
#ifdef EX_ERRNO
	return EX_ERRNO;
#endif
	fill(attr, size, 91);
	attr->phys_port_cnt_ex = PORTS;
	return ibv_query_device(context, &attr->orig_attr);
}

static int fill_port(struct ibv_port_attr *attr, uint8_t port, size_t size)
{
#ifdef HANG_PORT
	hang();
#endif
	if (port < 1 || port > PORTS)
		return EINVAL;
	fill(attr, size, port);
	attr->gid_tbl_len = GIDS;
	attr->pkey_tbl_len = 3;
	attr->link_layer = port;
	attr->active_width = 2;
	attr->active_speed = 128;
	return 0;
}

static __attribute__((unused)) int query_port(struct ibv_context *context, uint8_t port,
					      struct ibv_port_attr *attr, size_t size)
{
	int result;

#if RELEASE >= 49
	result = fill_port(attr, port, size);
	/* XDR, which the 8 bits of active_speed cannot say. */
	if (!result && size >= 56)
		memcpy((char *)attr + 52, (uint32_t[]){ 256 }, 4);
#else
	result = fill_port(attr, port, size < 52 ? size : 52);
#endif
	return result;
}

/* The compatibility version: 48 bytes and no more. */
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return fill_port((struct ibv_port_attr *)attr, port, 48);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct verbs_context *verbs = calloc(1, sizeof(*verbs));

#ifdef HANG_OPEN
	hang();
#endif
#ifdef OPEN_ERRNO
	errno = OPEN_ERRNO;
	return NULL;
#endif
	note('C');
	verbs->sz = sizeof(*verbs);
	verbs->context.device = device;
	verbs->context.num_comp_vectors = 63;
	verbs->context.cmd_fd = verbs->context.async_fd = -1;
	verbs->query_port = query_port;
#ifndef NO_EX
	verbs->query_device_ex = query_device_ex;
#endif
#ifdef SMALL_CONTEXT
	verbs->sz = sizeof(verbs->context) + 16;
#endif
#ifndef OLD_CONTEXT
	verbs->context.abi_compat = (void *)UINTPTR_MAX;
#endif
	return &verbs->context;
}

int ibv_close_device(struct ibv_context *context)
{
#ifdef HANG_CLOSE
	hang();
#endif
	note('c');
	return 0;
}

static void fill_gid(union ibv_gid *gid, unsigned int port, unsigned int index)
{
	memset(gid, 0, sizeof(*gid));
	/* Slot 3 is empty. */
	if (index == 3)
		return;
	fill(gid, sizeof(*gid), port * 16 + index);
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	if (port < 1 || port > PORTS || index < 0 || index >= GIDS) {
		errno = EINVAL;
		return -1;
	}
	fill_gid(gid, port, index);
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	*pkey = htobe16(index == 1 ? 0 : index == 0 ? 0xffff : 0x1230 + port);
	return 0;
}

#if RELEASE >= 32
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
		      uint32_t flags, size_t size)
{
	if (index == 3)
		return ENODATA;
	memset(entry, 0, size);
	fill_gid(&entry->gid, port, index);
	entry->gid_index = index;
	entry->port_num = port;
	entry->gid_type = port == 1 ? IBV_GID_TYPE_IB : 1 + index % 2;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t room, uint32_t flags,
			     size_t size)
{
	size_t n = 0;

	for (unsigned int port = 1; port <= PORTS; port++)
		for (unsigned int index = 0; index < GIDS; index++)
			if (n < room && !_ibv_query_gid_ex(context, port, index, &entries[n], flags, size))
				n++;
	return (ssize_t)n;
}
#endif

#if RELEASE >= 62
int ibv_query_port_speed(struct ibv_context *context, uint32_t port, uint64_t *speed)
{
	if (port == 2)
		return EOPNOTSUPP;
	*speed = 7995;
	return 0;
}
#endif

#if RELEASE >= 65
/* struct ibv_comp_cntr_caps of rdma-core 65 */
int _ibv_query_comp_cntr_caps(struct ibv_context *context, struct ibv_comp_cntr_caps *caps, size_t size)
{
	uint32_t words[4] = { 0xfedcba98u, 0x76543210u, 1234, 0x8000003f };

	memcpy(caps, words, size < sizeof(words) ? size : sizeof(words));
	return 0;
}
#endif
