/*
 * A program that uses verbs as any other does, to see the efa lab through. Each subcommand prints `key value` lines.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *name_of(int error)
{
	return error ? strerrorname_np(error) : "0";
}

static const char *outcome(int result)
{
	return name_of(result ? errno : 0);
}

static int open_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = -1; /* its own */

	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

/* Every way to ask for a file's status and permission. */
static void node(const char *path)
{
	struct statx extended;
	struct stat status;
	int fd;

	printf("access.exists %s\n", outcome(access(path, F_OK)));
	printf("access.use %s\n", outcome(access(path, R_OK | W_OK)));
	printf("faccessat.use %s\n", outcome(faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS)));
	printf("euidaccess.use %s\n", outcome(euidaccess(path, R_OK | W_OK)));
	printf("access.execute %s\n", outcome(access(path, X_OK)));
	if (stat(path, &status))
		printf("stat %s\n", name_of(errno));
	else
		printf("stat %06o %u:%u %u:%u\n", status.st_mode, major(status.st_rdev), minor(status.st_rdev),
		       status.st_uid, status.st_gid);
	if (lstat(path, &status))
		printf("lstat %s\n", name_of(errno));
	else
		printf("lstat %06o\n", status.st_mode);
	if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &extended))
		printf("statx %s\n", name_of(errno));
	else
		printf("statx %06o %u:%u %u:%u\n", extended.stx_mode, extended.stx_rdev_major, extended.stx_rdev_minor,
		       extended.stx_uid, extended.stx_gid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	printf("open %s\n", outcome(fd < 0));
	if (fd >= 0) {
		struct pollfd event = { .fd = fd, .events = POLLPRI };
		char *memory;

		fstat(fd, &status);
		printf("fstat %06o %u:%u\n", status.st_mode, major(status.st_rdev), minor(status.st_rdev));
		printf("other-ioctl %s\n", outcome(ioctl(fd, FIONREAD, &event)));
		memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x123456000);
		printf("mmap %s\n", memory == MAP_FAILED ? name_of(errno) : memory[0] || memory[8191] ? "dirty" : "zero");
		close(fd);
	}
	fd = openat(AT_FDCWD, path, O_RDONLY);
	printf("openat %s\n", outcome(fd < 0));
	if (fd >= 0)
		close(fd);
	/* A number that named a node names another file next. */
	fd = open("/dev/null", O_RDWR);
	fstat(fd, &status);
	printf("after %u:%u\n", major(status.st_rdev), minor(status.st_rdev));
	close(fd);
}

static struct ibv_context *open_named(const char *name)
{
	struct ibv_context *context = NULL;
	struct ibv_device **list = ibv_get_device_list(NULL);

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return context;
}

static void list(void)
{
	int count = -1;
	struct ibv_device **devices;

	errno = 0;
	devices = ibv_get_device_list(&count);
	printf("list %s\n", devices ? "0" : name_of(errno));
	printf("count %d\n", devices ? count : -1);
	for (int i = 0; devices && i < count; i++)
		printf("%s %d\n", ibv_get_device_name(devices[i]), ibv_get_device_index(devices[i]));
}

static void query(const char *name, int port)
{
	struct ibv_gid_entry entry, entries[64];
	struct ibv_device_attr_ex extended;
	struct ibv_context *context;
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;
	ssize_t count;

	errno = 0;
	context = open_named(name);
	printf("open %s\n", context ? "0" : name_of(errno));
	if (!context)
		return;
	printf("query_device %s\n", name_of(ibv_query_device(context, &attr)));
	printf("query_device_ex %s\n", name_of(ibv_query_device_ex(context, NULL, &extended)));
	printf("query_port.200 %s\n", name_of(ibv_query_port(context, 200, &port_attr)));
	printf("query_port %s\n", name_of(ibv_query_port(context, port, &port_attr)));
	printf("query_gid_ex %s\n", name_of(ibv_query_gid_ex(context, port, 0, &entry, 0)));
	count = ibv_query_gid_table(context, entries, 64, 0);
	printf("query_gid_table %s\n", count < 0 ? name_of((int)-count) : "0");
	for (ssize_t i = 0; i < count; i++)
		printf("gid %u %u %u %02x%02x %02x%02x\n", entries[i].port_num, entries[i].gid_index, entries[i].gid_type,
		       entries[i].gid.raw[0], entries[i].gid.raw[1], entries[i].gid.raw[14], entries[i].gid.raw[15]);
	count = ibv_query_gid_table(context, entries, 0, 0);
	printf("query_gid_table.0 %s\n", count < 0 ? name_of((int)-count) : "0");
	printf("query_gid_ex.5000 %s\n", name_of(ibv_query_gid_ex(context, port, 5000, &entry, 0)));
	printf("query_gid_ex.last %s\n", name_of(ibv_query_gid_ex(context, port, port_attr.gid_tbl_len - 1, &entry, 0)));
	ibv_close_device(context);
}

static void objects(const char *name)
{
	int before, flags = IBV_ACCESS_LOCAL_WRITE;
	struct ibv_context *context = open_named(name);
	struct ibv_ah_attr ah_attr = { .is_global = 1, .port_num = 1 };
	struct ibv_pd *pds[2];
	struct ibv_mr *mrs[2];
	struct ibv_ah *ahs[2];
	struct pollfd event;
	static char memory[8192];

	before = open_descriptors();
	event.fd = context->async_fd;
	event.events = POLLIN;
	printf("event %d\n", poll(&event, 1, 20));
	for (int i = 0; i < 2; i++) {
		pds[i] = ibv_alloc_pd(context);
		mrs[i] = pds[i] ? ibv_reg_mr(pds[i], memory, sizeof(memory), flags) : NULL;
		ahs[i] = pds[i] ? ibv_create_ah(pds[i], &ah_attr) : NULL;
		printf("pd %s\nmr %s\nah %s\n", outcome(!pds[i]), outcome(!mrs[i]), outcome(!ahs[i]));
	}
	printf("pds-differ %d\n", pds[0]->handle != pds[1]->handle);
	printf("lkeys-differ %d\n", mrs[0]->lkey != mrs[1]->lkey && mrs[0]->rkey != mrs[1]->rkey);
	printf("ahs-differ %d\n", ahs[0]->handle != ahs[1]->handle);
	for (int i = 0; i < 2; i++) {
		printf("destroy %s\n", name_of(ibv_destroy_ah(ahs[i])));
		printf("dereg %s\n", name_of(ibv_dereg_mr(mrs[i])));
		printf("dealloc %s\n", name_of(ibv_dealloc_pd(pds[i])));
	}
	printf("leaked-objects %d\n", open_descriptors() - before);
	printf("close %s\n", name_of(ibv_close_device(context)));
	/* The node and the events. */
	printf("closed %d\n", before - open_descriptors());
}

struct work {
	struct ibv_device **devices;
	int count, rounds, failures;
};

static void *open_all(void *argument)
{
	struct work *work = argument;

	for (int round = 0; round < work->rounds; round++)
		for (int i = 0; i < work->count; i++) {
			struct ibv_context *context = ibv_open_device(work->devices[i]);
			struct ibv_device_attr attr;
			union ibv_gid gid;

			/* The GID ends in the index that the device's GUID ends in. */
			if (!context || ibv_query_device(context, &attr) || ibv_query_gid(context, 1, 0, &gid) ||
			    memcmp((char *)&attr.node_guid + 6, gid.raw + 14, 2))
				work->failures++;
			if (context)
				ibv_close_device(context);
		}
	return NULL;
}

static void threads(int thread_count, int rounds)
{
	int count, before;
	struct ibv_device **devices = ibv_get_device_list(&count);
	pthread_t thread[thread_count];
	struct work work[thread_count];
	int failures = 0;

	before = open_descriptors();
	for (int i = 0; i < thread_count; i++) {
		work[i] = (struct work){ devices, count, rounds, 0 };
		pthread_create(&thread[i], NULL, open_all, &work[i]);
	}
	for (int i = 0; i < thread_count; i++) {
		pthread_join(thread[i], NULL);
		failures += work[i].failures;
	}
	printf("failures %d\nleaked %d\n", failures, open_descriptors() - before);
}

static void loader(const char *library, const char *symbol)
{
	void *handle = dlopen(library, RTLD_NOW);
	char *message;

	printf("dlopen %s\n", handle ? "found" : dlerror());
	if (handle) {
		dlerror();
		printf("dlsym %s\n", dlsym(handle, symbol) ? "found" : dlerror());
	}
	message = dlerror();
	printf("dlerror %s\n", message ? message : "none");
	printf("default %s\n", dlsym(RTLD_DEFAULT, "malloc") ? "found" : "missing");
}

static void directory(const char *path)
{
	DIR *opened = opendir(path);
	struct dirent *entry, **names;
	int count;

	printf("opendir %s\n", outcome(!opened));
	while (opened && (entry = readdir(opened)))
		if (entry->d_name[0] != '.')
			printf("entry %s\n", entry->d_name);
	if (opened)
		closedir(opened);
	count = scandir(path, &names, NULL, NULL);
	printf("scandir %d\n", count < 0 ? count : count - 2);
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	if (!strcmp(command, "node"))
		node(argv[2]);
	else if (!strcmp(command, "list"))
		list();
	else if (!strcmp(command, "query"))
		query(argv[2], argc > 3 ? atoi(argv[3]) : 1);
	else if (!strcmp(command, "objects"))
		objects(argv[2]);
	else if (!strcmp(command, "threads"))
		threads(atoi(argv[2]), atoi(argv[3]));
	else if (!strcmp(command, "loader"))
		loader(argv[2], argc > 3 ? argv[3] : "");
	else if (!strcmp(command, "directory"))
		directory(argv[2]);
	else
		return 2;
	return 0;
}
