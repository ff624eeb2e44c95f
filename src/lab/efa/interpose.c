/*
 * lab efa: answers in place of the kernel, so that programs find RDMA devices on a machine that has none.
 *
 * Preloaded into a program, this library stands between libibverbs and the kernel at three places:
 *   device nodes   open, stat, access and the like of /dev/infiniband/uverbsN
 *   uverbs         ioctl(RDMA_VERBS_IOCTL) on such a node
 *   netlink        requests to the RDMA family, which tell what devices there are
 *
 * sysfs is a tree of files. SYSFS_PATH leads libibverbs there; other programs that ask for /sys/class/infiniband or
 * the like are led there by the paths of the calls below.
 *
 * It only carries bytes. What the devices are, and every answer, is in the reply file that RDMATOOL_LAB_EFA names;
 * reply-file.ts writes it and declares the structures below a second time. Everything else a program does goes on
 * to the next definition of the same function.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/netlink.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* ------------------------------------------------------------------------------------------ the reply file */

#define REPLY_FILE_VERSION 1

struct reply_file {
	char magic[8];
	uint32_t version;
	uint32_t size;
	uint32_t device_count;
	uint32_t devices;
	uint32_t redirect_count;
	uint32_t redirects;
	uint32_t hidden_count;
	uint32_t hidden;
	uint32_t netlink_call_count;	/* 0: the kernel has no such family */
	uint32_t netlink_calls;
};

struct device {
	uint32_t node;		/* N of /dev/infiniband/uverbsN */
	uint32_t major;
	uint32_t minor;
	uint32_t mode;		/* permission bits of the node; its owner is root */
	uint32_t node_error;	/* what every call on the node's path fails with, or 0 */
	uint32_t access_error;	/* what access(2) for reading or writing fails with, or 0 */
	uint32_t open_error;	/* what open(2) fails with, or 0 */
	uint32_t call_count;
	uint32_t calls;
};

#define NO_ATTRIBUTE 0xffff

/*
 * One method of the uverbs interface, with the input attributes that choose among its replies; or a netlink request,
 * its type as the object, whether it is a dump as the method.
 */
struct call {
	uint16_t object;
	uint16_t method;
	uint16_t key_attribute[2];
	uint32_t otherwise;	/* errno where no reply has the key */
	uint32_t reply_count;	/* sorted by key */
	uint32_t replies;
};

struct reply {
	uint64_t key[2];
	uint32_t uses;		/* answers that many calls on a descriptor, then the next reply of the key does; 0: all */
	uint32_t delay_us;
	uint32_t error;
	uint32_t output_count;
	uint32_t outputs;
	uint32_t reserved;
};

#define OUTPUT_BYTES 0
#define OUTPUT_EVENT_DESCRIPTOR 1
#define NOWHERE 0xffffffff

struct output {
	uint16_t attribute;
	uint16_t kind;
	uint32_t length;
	uint32_t bytes;
	uint32_t at_least;	/* a shorter buffer, or none, is refused ... */
	uint32_t too_short;	/* ... with this errno */
	uint32_t length_at;	/* where the number of bytes copied is noted in the output */
	uint32_t serial_words;	/* bit n: a number that no other reply has is added to the 32-bit word n */
	uint32_t reserved;
};

struct redirect {
	uint32_t from;
	uint32_t from_length;
	uint32_t to;
};

#define HIDDEN_SYMBOL 0
#define HIDDEN_LIBRARY 1
#define HIDDEN_LIBRARY_PREFIX 2

struct hidden {
	uint32_t kind;
	uint32_t name;
};

_Static_assert(sizeof(struct reply_file) == 48, "as in reply-file.ts");
_Static_assert(sizeof(struct device) == 36, "as in reply-file.ts");
_Static_assert(sizeof(struct call) == 20, "as in reply-file.ts");
_Static_assert(sizeof(struct reply) == 40, "as in reply-file.ts");
_Static_assert(sizeof(struct output) == 32, "as in reply-file.ts");
_Static_assert(sizeof(struct redirect) == 12, "as in reply-file.ts");
_Static_assert(sizeof(struct hidden) == 8, "as in reply-file.ts");

static const struct reply_file no_devices;
static _Atomic(const struct reply_file *) loaded;

/* Maps the reply file with plain system calls: malloc may not be usable yet, and open is our own. */
static const struct reply_file *map_reply_file(void)
{
	const char *path = getenv("RDMATOOL_LAB_EFA");
	const struct reply_file *file;
	void *map = MAP_FAILED;
	long size;
	int fd;

	if (!path)
		return &no_devices;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return &no_devices;
	size = syscall(SYS_lseek, fd, 0, SEEK_END);
	if (size >= (long)sizeof(*file))
		map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	syscall(SYS_close, fd);
	if (map == MAP_FAILED)
		return &no_devices;
	file = map;
	if (memcmp(file->magic, "RDMALAB", 8) || file->version != REPLY_FILE_VERSION || file->size != size) {
		munmap(map, (size_t)size);
		return &no_devices;
	}
	return file;
}

static const struct reply_file *lab(void)
{
	const struct reply_file *file = atomic_load_explicit(&loaded, memory_order_acquire);
	const struct reply_file *expected = NULL;
	int saved = errno;

	if (file)
		return file;
	file = map_reply_file();
	errno = saved;
	if (atomic_compare_exchange_strong(&loaded, &expected, file))
		return file;
	/* Another thread was faster. */
	if (file != &no_devices)
		munmap((void *)(uintptr_t)file, file->size);
	return expected;
}

static const void *at(const struct reply_file *file, uint32_t offset)
{
	return (const char *)file + offset;
}

static const struct device *devices(const struct reply_file *file)
{
	return at(file, file->devices);
}

/* ------------------------------------------------------------------------------ the functions behind our own */

typedef void *dlsym_function(void *handle, const char *name);

/* The versions that dlsym and the older stat functions have had, on the architectures with RDMA hardware. */
static const char *const glibc_versions[] = { "GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5" };

static void *next_versioned(const char *name)
{
	void *found = NULL;

	for (size_t i = 0; !found && i < sizeof(glibc_versions) / sizeof(*glibc_versions); i++)
		found = dlvsym(RTLD_NEXT, name, glibc_versions[i]);
	return found;
}

/* dlsym itself is interposed, so that the real one can only be had through dlvsym. */
static dlsym_function *real_dlsym(void)
{
	static _Atomic(void *) cached;
	void *found = atomic_load_explicit(&cached, memory_order_relaxed);

	if (!found) {
		found = next_versioned("dlsym");
		atomic_store_explicit(&cached, found, memory_order_relaxed);
	}
	return (dlsym_function *)found;
}

static void *next_symbol(_Atomic(void *) *cached, const char *name)
{
	void *found = atomic_load_explicit(cached, memory_order_relaxed);
	int saved = errno;

	if (found)
		return found;
	found = real_dlsym()(RTLD_NEXT, name);
	if (!found)
		found = next_versioned(name);
	atomic_store_explicit(cached, found, memory_order_relaxed);
	errno = saved;
	return found;
}

/* The next definition of the function `name`, or NULL where this C library has none. */
#define NEXT(name)                                                            \
	({                                                                    \
		static _Atomic(void *) cached_##name;                         \
		(__typeof__(&name))next_symbol(&cached_##name, #name);        \
	})

/* Calls it. */
#define CHAIN(failure, name, ...)                                             \
	({                                                                    \
		__typeof__(&name) next_##name = NEXT(name);                   \
		next_##name ? next_##name(__VA_ARGS__)                        \
			    : (errno = ENOSYS, (__typeof__(name(__VA_ARGS__)))(failure)); \
	})

static int fail(int error)
{
	errno = error;
	return -1;
}

/* --------------------------------------------------------------------------------------------------- paths */

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Decimal digits without a sign or a leading zero, up to `end`. */
static bool parse_number(const char **text, char end, uint32_t *number)
{
	const char *digit = *text;
	uint64_t value = 0;

	if (*digit == '0' && digit[1] != end)
		return false;
	for (; *digit >= '0' && *digit <= '9'; digit++) {
		value = value * 10 + (uint64_t)(*digit - '0');
		if (value > UINT32_MAX)
			return false;
	}
	if (digit == *text || *digit != end)
		return false;
	*text = digit;
	*number = (uint32_t)value;
	return true;
}

#define NODE_PATH "/dev/infiniband/uverbs"
#define CHAR_PATH "/dev/char/"

/* The device whose node the path names, either way that libibverbs may name it; or NULL. */
static const struct device *device_of_path(const char *path)
{
	const struct reply_file *file = lab();
	const struct device *device = devices(file);
	uint32_t major_number, minor_number, node;

	if (!path || !starts_with(path, "/dev/"))
		return NULL;
	if (starts_with(path, NODE_PATH)) {
		path += strlen(NODE_PATH);
		if (!parse_number(&path, '\0', &node))
			return NULL;
		for (uint32_t i = 0; i < file->device_count; i++)
			if (device[i].node == node)
				return &device[i];
	} else if (starts_with(path, CHAR_PATH)) {
		path += strlen(CHAR_PATH);
		if (!parse_number(&path, ':', &major_number))
			return NULL;
		path++;
		if (!parse_number(&path, '\0', &minor_number))
			return NULL;
		for (uint32_t i = 0; i < file->device_count; i++)
			if (device[i].major == major_number && device[i].minor == minor_number)
				return &device[i];
	}
	return NULL;
}

/* The path that a call is to use in place of `path`: the same, or one inside the lab's own tree. */
static const char *redirected(const char *path, char buffer[PATH_MAX])
{
	const struct reply_file *file = lab();
	const struct redirect *redirect = at(file, file->redirects);

	if (!path || path[0] != '/')
		return path;
	for (uint32_t i = 0; i < file->redirect_count; i++, redirect++) {
		const char *rest = path + redirect->from_length;

		if (strncmp(path, at(file, redirect->from), redirect->from_length) || (*rest && *rest != '/'))
			continue;
		if (snprintf(buffer, PATH_MAX, "%s%s", (const char *)at(file, redirect->to), rest) < PATH_MAX)
			return buffer;
	}
	return path;
}

/* --------------------------------------------------------------------------------------- open device nodes */

#define DESCRIPTORS 65536

struct descriptor {
	_Atomic uint32_t device;	/* its index + 1, or 0 */
	_Atomic uint32_t counted_calls;
	_Atomic uint64_t inode;		/* of the file behind the node */
};
static struct descriptor descriptors[DESCRIPTORS];

static const struct device *device_of_descriptor(int fd)
{
	uint32_t device;

	if (fd < 0 || fd >= DESCRIPTORS)
		return NULL;
	device = atomic_load_explicit(&descriptors[fd].device, memory_order_acquire);
	return device && device <= lab()->device_count ? &devices(lab())[device - 1] : NULL;
}

/* A descriptor can be closed in ways that are not interposed; its number then names another file. */
static bool is_behind_node(int fd, uint64_t inode)
{
	return atomic_load_explicit(&descriptors[fd].inode, memory_order_relaxed) == inode;
}

static void set_descriptor(int fd, uint32_t device, uint64_t inode)
{
	if (fd < 0 || fd >= DESCRIPTORS)
		return;
	/* Pages of the table that nothing was written to take no memory. */
	if (device || atomic_load_explicit(&descriptors[fd].device, memory_order_relaxed)) {
		atomic_store_explicit(&descriptors[fd].counted_calls, 0, memory_order_relaxed);
		atomic_store_explicit(&descriptors[fd].inode, inode, memory_order_relaxed);
		atomic_store_explicit(&descriptors[fd].device, device, memory_order_release);
	}
}

/* A system call of its own: the functions are interposed, and their names differ between versions of glibc. */
static int real_status(int directory, const char *path, struct stat *status, int flags)
{
	return (int)syscall(SYS_newfstatat, directory, path, status, flags);
}

/*
 * What stands behind an open node: a file without a name in memory, so long that any place can be mapped, and zero
 * everywhere until it is written.
 */
static int open_backing(bool close_on_exec, uint64_t *inode)
{
	int fd = (int)syscall(SYS_memfd_create, "uverbs", close_on_exec ? MFD_CLOEXEC : 0);
	struct rlimit limit;
	struct stat status;
	off_t length = (off_t)1 << 62;

	if (fd < 0)
		return fd;
	/* Growing a file beyond the limit would be a signal. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)length)
		length = (off_t)limit.rlim_cur;
	if (ftruncate(fd, length) || real_status(fd, "", &status, AT_EMPTY_PATH)) {
		CHAIN(-1, close, fd);
		return -1;
	}
	*inode = status.st_ino;
	return fd;
}

/* The node belongs to user and group 0. Root may do everything but execute. */
static bool permitted(const struct device *device, uid_t user, gid_t group, uint32_t wanted)
{
	uint32_t bits = group == 0 ? device->mode >> 3 : device->mode;

	return user == 0 || (bits & wanted) == wanted;
}

static int open_node(const struct device *device, int flags)
{
	uint32_t wanted = (flags & O_ACCMODE) == O_RDONLY ? R_OK : (flags & O_ACCMODE) == O_WRONLY ? W_OK : R_OK | W_OK;
	uint64_t inode;
	int fd;

	if (device->node_error)
		return fail((int)device->node_error);
	if (!permitted(device, geteuid(), getegid(), wanted))
		return fail(EACCES);
	if (device->open_error)
		return fail((int)device->open_error);
	fd = open_backing(flags & O_CLOEXEC, &inode);
	if (fd >= DESCRIPTORS) {
		CHAIN(-1, close, fd);
		return fail(EMFILE);
	}
	if (fd >= 0)
		set_descriptor(fd, (uint32_t)(device - devices(lab())) + 1, inode);
	return fd;
}

static int access_node(const struct device *device, int mode, uid_t user, gid_t group)
{
	if (device->node_error)
		return fail((int)device->node_error);
	if (mode & X_OK)
		return fail(EACCES);
	if ((mode & (R_OK | W_OK)) == 0)
		return 0;
	if (!permitted(device, user, group, (uint32_t)mode & (R_OK | W_OK)))
		return fail(EACCES);
	return device->access_error ? fail((int)device->access_error) : 0;
}

/* Nodes have inodes of their own. */
static ino_t node_inode(const struct device *device)
{
	return ((ino_t)device->major << 20 | device->minor) + 1;
}

static void describe_node(const struct device *device, struct stat *status)
{
	status->st_mode = S_IFCHR | device->mode;
	status->st_rdev = makedev(device->major, device->minor);
	status->st_nlink = 1;
	status->st_uid = 0;
	status->st_gid = 0;
	status->st_size = 0;
	status->st_blocks = 0;
	status->st_ino = node_inode(device);
}

/* Another node gives what all nodes of /dev have in common. */
#define OTHER_NODE "/dev/null"

static int stat_node(const struct device *device, struct stat *status)
{
	if (device->node_error)
		return fail((int)device->node_error);
	if (real_status(AT_FDCWD, OTHER_NODE, status, 0))
		return -1;
	describe_node(device, status);
	return 0;
}

static void describe_descriptor(int fd, struct stat *status)
{
	const struct device *device = device_of_descriptor(fd);

	if (device && is_behind_node(fd, status->st_ino))
		describe_node(device, status);
}

/* ---------------------------------------------------------------------------------------- uverbs messages */

static struct ib_uverbs_attr *attribute(struct ib_uverbs_ioctl_hdr *message, uint16_t id)
{
	for (uint16_t i = 0; i < message->num_attrs; i++)
		if (message->attrs[i].attr_id == id)
			return &message->attrs[i];
	return NULL;
}

/* An input of up to 8 bytes stands in the attribute itself. */
static uint64_t input_value(struct ib_uverbs_ioctl_hdr *message, uint16_t id)
{
	struct ib_uverbs_attr *input = id == NO_ATTRIBUTE ? NULL : attribute(message, id);
	uint64_t value = 0;

	if (input && input->len <= sizeof(value))
		memcpy(&value, &input->data, input->len);
	return value;
}

static const struct call *find_call(uint32_t calls, uint32_t count, uint16_t object, uint16_t method)
{
	const struct call *call = at(lab(), calls);

	for (uint32_t i = 0; i < count; i++, call++)
		if (call->object == object && call->method == method)
			return call;
	return NULL;
}

static int compare_key(const struct reply *reply, const uint64_t key[2])
{
	for (int i = 0; i < 2; i++)
		if (reply->key[i] != key[i])
			return reply->key[i] < key[i] ? -1 : 1;
	return 0;
}

/* The first reply with the key. */
static const struct reply *find_reply(const struct call *call, const uint64_t key[2])
{
	const struct reply *replies = at(lab(), call->replies);
	uint32_t low = 0, high = call->reply_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare_key(&replies[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < call->reply_count && compare_key(&replies[low], key) == 0 ? &replies[low] : NULL;
}

static uint32_t serial_number(void)
{
	static _Atomic uint32_t last;

	/* 16 bits: some objects have no wider number. */
	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) % 0xffff + 1;
}

static void write_output(const struct output *output, struct ib_uverbs_attr *target, uint32_t serial)
{
	char *memory = (char *)(uintptr_t)target->data;
	uint32_t copied = output->length < target->len ? output->length : target->len;

	memcpy(memory, at(lab(), output->bytes), copied);
	memset(memory + copied, 0, target->len - copied);
	for (uint32_t word = 0; word < 32 && (word + 1) * sizeof(uint32_t) <= copied; word++) {
		uint32_t value;

		if (!(output->serial_words & 1u << word))
			continue;
		memcpy(&value, memory + word * sizeof(value), sizeof(value));
		value += serial;
		memcpy(memory + word * sizeof(value), &value, sizeof(value));
	}
	if (output->length_at != NOWHERE && output->length_at + sizeof(copied) <= copied)
		memcpy(memory + output->length_at, &copied, sizeof(copied));
	target->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
}

/* The errno if the caller left too little room, as the kernel finds before it does anything. */
static uint32_t too_short(const struct reply *reply, struct ib_uverbs_ioctl_hdr *message)
{
	const struct output *output = at(lab(), reply->outputs);

	for (uint32_t i = 0; i < reply->output_count; i++) {
		struct ib_uverbs_attr *target = attribute(message, output[i].attribute);

		if (output[i].at_least > (target ? target->len : 0u))
			return output[i].too_short;
	}
	return 0;
}

static int write_outputs(const struct reply *reply, struct ib_uverbs_ioctl_hdr *message)
{
	const struct output *output = at(lab(), reply->outputs);
	uint32_t serial = serial_number();

	for (uint32_t i = 0; i < reply->output_count; i++) {
		struct ib_uverbs_attr *target = attribute(message, output[i].attribute);

		if (!target)
			continue;
		if (output[i].kind == OUTPUT_EVENT_DESCRIPTOR) {
			/* Never readable, as long as there is no event; and nothing but itself to close. */
			int fd = eventfd(0, EFD_CLOEXEC);

			if (fd < 0)
				return -1;
			target->data_s64 = fd;
			target->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
		} else {
			write_output(&output[i], target, serial);
		}
	}
	return 0;
}

static void pause_for(uint32_t microseconds)
{
	struct timespec left = {
		.tv_sec = microseconds / 1000000,
		.tv_nsec = (long)(microseconds % 1000000) * 1000,
	};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static int answer(int fd, const struct device *device, struct ib_uverbs_ioctl_hdr *message)
{
	const struct reply *reply;
	const struct call *call;
	uint64_t key[2];
	uint32_t error;
	int saved = errno;

	if (message->length != sizeof(*message) + message->num_attrs * sizeof(message->attrs[0]))
		return fail(EINVAL);
	call = find_call(device->calls, device->call_count, message->object_id, message->method_id);
	/* libibverbs then tries the write command of the same purpose. */
	if (!call)
		return fail(EPROTONOSUPPORT);
	for (int i = 0; i < 2; i++)
		key[i] = input_value(message, call->key_attribute[i]);
	reply = find_reply(call, key);
	if (!reply)
		return fail((int)call->otherwise);
	if (reply->uses && atomic_fetch_add(&descriptors[fd].counted_calls, 1) >= reply->uses)
		reply++;
	error = too_short(reply, message);
	if (!error && reply->delay_us)
		pause_for(reply->delay_us);
	if (!error)
		error = reply->error;
	if (error)
		return fail((int)error);
	if (write_outputs(reply, message))
		return -1;
	errno = saved;
	return 0;
}

/* --------------------------------------------------------------------------------------- netlink requests */

/*
 * Behind a socket of the RDMA family is one of the family for messages between programs. Its answers are sent to the
 * socket itself, so that every way to wait and to receive works without being interposed.
 */
#define NETLINK_SOCKET UINT32_MAX
#define DATAGRAM 4096

/* Again, the number may name another socket by now. */
static bool is_netlink(int fd)
{
	socklen_t size = sizeof(int);
	int domain = 0, saved = errno;

	if (fd < 0 || fd >= DESCRIPTORS ||
	    atomic_load_explicit(&descriptors[fd].device, memory_order_acquire) != NETLINK_SOCKET)
		return false;
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
	errno = saved;
	return domain == AF_NETLINK;
}

static int open_netlink(int type)
{
	int fd;

	if (lab()->netlink_call_count == 0)
		return fail(EPROTONOSUPPORT);
	fd = CHAIN(-1, socket, AF_NETLINK, type, NETLINK_USERSOCK);
	if (fd < 0 || fd >= DESCRIPTORS) {
		if (fd >= 0)
			CHAIN(-1, close, fd);
		return fail(EPROTONOSUPPORT);
	}
	set_descriptor(fd, NETLINK_SOCKET, 0);
	return fd;
}

/* The content of an attribute of up to 8 bytes, as a number. */
static uint64_t netlink_value(const struct nlmsghdr *request, uint16_t id)
{
	const char *next = (const char *)NLMSG_DATA(request);
	size_t left = request->nlmsg_len - NLMSG_LENGTH(0);
	uint64_t value = 0;

	while (id != NO_ATTRIBUTE && left >= NLA_HDRLEN) {
		const struct nlattr *attribute = (const void *)next;
		size_t length = attribute->nla_len, step = NLA_ALIGN(length);

		if (length < NLA_HDRLEN || length > left)
			break;
		if ((attribute->nla_type & NLA_TYPE_MASK) == id && length - NLA_HDRLEN <= sizeof(value)) {
			memcpy(&value, next + NLA_HDRLEN, length - NLA_HDRLEN);
			break;
		}
		if (step >= left)
			break;
		next += step;
		left -= step;
	}
	return value;
}

struct answers {
	int fd;
	struct sockaddr_nl self;
	const struct nlmsghdr *request;
	uint32_t used;
	_Alignas(struct nlmsghdr) char buffer[DATAGRAM];
};

static void send_answers(struct answers *answers)
{
	if (answers->used)
		CHAIN(-1, sendto, answers->fd, answers->buffer, answers->used, MSG_DONTWAIT,
		      (const struct sockaddr *)&answers->self, sizeof(answers->self));
	answers->used = 0;
}

static void add_answer(struct answers *answers, uint16_t type, uint16_t flags, const void *content, uint32_t length)
{
	struct nlmsghdr *message;
	uint32_t size = NLMSG_SPACE(length);

	if (size > DATAGRAM)
		return;
	if (answers->used + size > DATAGRAM)
		send_answers(answers);
	message = (struct nlmsghdr *)(answers->buffer + answers->used);
	memset(message, 0, size);
	message->nlmsg_len = NLMSG_LENGTH(length);
	message->nlmsg_type = type;
	message->nlmsg_flags = flags;
	message->nlmsg_seq = answers->request->nlmsg_seq;
	message->nlmsg_pid = answers->self.nl_pid;
	memcpy(NLMSG_DATA(message), content, length);
	answers->used += size;
}

static void answer_request(struct answers *answers)
{
	const struct nlmsghdr *request = answers->request;
	bool dump = (request->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	const struct call *call = find_call(lab()->netlink_calls, lab()->netlink_call_count, request->nlmsg_type, dump);
	const struct reply *reply = NULL;
	struct nlmsgerr status = { .error = -EOPNOTSUPP, .msg = *request };
	const struct output *output;
	uint64_t key[2];
	int zero = 0;

	if (call) {
		for (int i = 0; i < 2; i++)
			key[i] = netlink_value(request, call->key_attribute[i]);
		reply = find_reply(call, key);
		status.error = -(int)(reply ? reply->error : call->otherwise);
	}
	if (reply && !reply->error) {
		output = at(lab(), reply->outputs);
		for (uint32_t i = 0; i < reply->output_count; i++)
			add_answer(answers, request->nlmsg_type, dump ? NLM_F_MULTI : 0, at(lab(), output[i].bytes),
				   output[i].length);
		if (dump)
			add_answer(answers, NLMSG_DONE, NLM_F_MULTI, &zero, sizeof(zero));
	}
	if (status.error || (!dump && request->nlmsg_flags & NLM_F_ACK))
		add_answer(answers, NLMSG_ERROR, 0, &status, sizeof(status));
	send_answers(answers);
}

/* Takes what a program sends to the kernel through a socket of the family. */
static ssize_t take_requests(int fd, const char *data, size_t length)
{
	struct answers answers = { .fd = fd };
	socklen_t size = sizeof(answers.self);
	size_t left = length;
	int saved = errno, room = 1 << 20;

	/* All answers wait in the socket; libnl makes less room. */
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	if (getsockname(fd, (struct sockaddr *)&answers.self, &size))
		return -1;
	if (answers.self.nl_pid == 0) {
		/* The kernel gives a socket its number at the first sending. */
		answers.self.nl_family = AF_NETLINK;
		size = sizeof(answers.self);
		if (bind(fd, (struct sockaddr *)&answers.self, size) ||
		    getsockname(fd, (struct sockaddr *)&answers.self, &size))
			return -1;
	}
	while (left >= NLMSG_HDRLEN) {
		const struct nlmsghdr *request = (const void *)data;
		size_t step;

		if (request->nlmsg_len < NLMSG_HDRLEN || request->nlmsg_len > left)
			break;
		answers.request = request;
		answer_request(&answers);
		step = NLMSG_ALIGN(request->nlmsg_len);
		if (step >= left)
			break;
		data += step;
		left -= step;
	}
	errno = saved;
	return (ssize_t)length;
}

/* ---------------------------------------------------------------------- interposed: opening and closing */

#define MODE_ARGUMENT(flags)                                                  \
	({                                                                    \
		mode_t argument = 0;                                          \
		if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) { \
			va_list rest;                                         \
			va_start(rest, flags);                                \
			argument = va_arg(rest, mode_t);                      \
			va_end(rest);                                         \
		}                                                             \
		argument;                                                     \
	})

/* A descriptor of another file may have the number of a node that was closed unseen. */
static int opened_elsewhere(int fd)
{
	set_descriptor(fd, 0, 0);
	return fd;
}

#define OPEN(name, path, flags, ...)                                          \
	({                                                                    \
		const struct device *device_ = device_of_path(path);          \
		char buffer_[PATH_MAX];                                       \
		const char *path_ = device_ ? path : redirected(path, buffer_); \
		device_ ? open_node(device_, flags)                           \
			: opened_elsewhere(CHAIN(-1, name, __VA_ARGS__));     \
	})

EXPORT int open(const char *path, int flags, ...)
{
	mode_t mode = MODE_ARGUMENT(flags);

	return OPEN(open, path, flags, path_, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
	mode_t mode = MODE_ARGUMENT(flags);

	return OPEN(open64, path, flags, path_, flags, mode);
}

EXPORT int openat(int directory, const char *path, int flags, ...)
{
	mode_t mode = MODE_ARGUMENT(flags);

	return OPEN(openat, path, flags, directory, path_, flags, mode);
}

EXPORT int openat64(int directory, const char *path, int flags, ...)
{
	mode_t mode = MODE_ARGUMENT(flags);

	return OPEN(openat64, path, flags, directory, path_, flags, mode);
}

/* What programs built with _FORTIFY_SOURCE call where the flags are not constant. */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int directory, const char *path, int flags);
EXPORT int __openat64_2(int directory, const char *path, int flags);

EXPORT int __open_2(const char *path, int flags)
{
	return OPEN(__open_2, path, flags, path_, flags);
}

EXPORT int __open64_2(const char *path, int flags)
{
	return OPEN(__open64_2, path, flags, path_, flags);
}

EXPORT int __openat_2(int directory, const char *path, int flags)
{
	return OPEN(__openat_2, path, flags, directory, path_, flags);
}

EXPORT int __openat64_2(int directory, const char *path, int flags)
{
	return OPEN(__openat64_2, path, flags, directory, path_, flags);
}

EXPORT int close(int fd)
{
	/* Before the number is free for another thread. */
	set_descriptor(fd, 0, 0);
	return CHAIN(-1, close, fd);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	const struct device *device = device_of_descriptor(fd);
	struct stat status;
	va_list rest;
	void *argument;

	va_start(rest, request);
	argument = va_arg(rest, void *);
	va_end(rest);
	if (device && request == RDMA_VERBS_IOCTL)
		return answer(fd, device, argument);
	if (device && real_status(fd, "", &status, AT_EMPTY_PATH) == 0 && is_behind_node(fd, status.st_ino))
		return fail(ENOTTY);
	return CHAIN(-1, ioctl, fd, request, argument);
}

EXPORT int socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK && protocol == NETLINK_RDMA && lab() != &no_devices)
		return open_netlink(type);
	return opened_elsewhere(CHAIN(-1, socket, domain, type, protocol));
}

/* Requests come in one piece, whether through libnl or through libmnl. */
EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (is_netlink(fd) && message->msg_iovlen == 1)
		return take_requests(fd, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
	return CHAIN(-1, sendmsg, fd, message, flags);
}

EXPORT ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *to, socklen_t size)
{
	if (is_netlink(fd))
		return take_requests(fd, data, length);
	return CHAIN(-1, sendto, fd, data, length, flags, to, size);
}

EXPORT ssize_t send(int fd, const void *data, size_t length, int flags)
{
	if (is_netlink(fd))
		return take_requests(fd, data, length);
	return CHAIN(-1, send, fd, data, length, flags);
}

/* ---------------------------------------------------------------------------- interposed: status of files */

/* struct stat64 is struct stat wherever long has 64 bits. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "64-bit Linux");
#define SAME(status) ((struct stat *)(status))

#define STATUS(name, path, status, ...)                                       \
	({                                                                    \
		const struct device *device_ = device_of_path(path);          \
		char buffer_[PATH_MAX];                                       \
		const char *path_ = device_ ? path : redirected(path, buffer_); \
		device_ ? stat_node(device_, SAME(status)) : CHAIN(-1, name, __VA_ARGS__); \
	})

#define DESCRIPTOR_STATUS(name, fd, status, ...)                              \
	({                                                                    \
		int result_ = CHAIN(-1, name, __VA_ARGS__);                   \
		if (result_ == 0)                                             \
			describe_descriptor(fd, SAME(status));                \
		result_;                                                      \
	})

EXPORT int stat(const char *path, struct stat *status)
{
	return STATUS(stat, path, status, path_, status);
}

EXPORT int stat64(const char *path, struct stat64 *status)
{
	return STATUS(stat64, path, status, path_, status);
}

EXPORT int lstat(const char *path, struct stat *status)
{
	return STATUS(lstat, path, status, path_, status);
}

EXPORT int lstat64(const char *path, struct stat64 *status)
{
	return STATUS(lstat64, path, status, path_, status);
}

EXPORT int fstat(int fd, struct stat *status)
{
	return DESCRIPTOR_STATUS(fstat, fd, status, fd, status);
}

EXPORT int fstat64(int fd, struct stat64 *status)
{
	return DESCRIPTOR_STATUS(fstat64, fd, status, fd, status);
}

/* With AT_EMPTY_PATH the descriptor itself is meant. */
static bool means_descriptor(int flags, const char *path)
{
	return flags & AT_EMPTY_PATH && path && !*path;
}

EXPORT int fstatat(int directory, const char *path, struct stat *status, int flags)
{
	if (means_descriptor(flags, path))
		return DESCRIPTOR_STATUS(fstatat, directory, status, directory, path, status, flags);
	return STATUS(fstatat, path, status, directory, path_, status, flags);
}

EXPORT int fstatat64(int directory, const char *path, struct stat64 *status, int flags)
{
	if (means_descriptor(flags, path))
		return DESCRIPTOR_STATUS(fstatat64, directory, status, directory, path, status, flags);
	return STATUS(fstatat64, path, status, directory, path_, status, flags);
}

/* What programs built before glibc 2.33 call for the functions above. */
EXPORT int __xstat(int version, const char *path, struct stat *status);
EXPORT int __xstat64(int version, const char *path, struct stat64 *status);
EXPORT int __lxstat(int version, const char *path, struct stat *status);
EXPORT int __lxstat64(int version, const char *path, struct stat64 *status);
EXPORT int __fxstat(int version, int fd, struct stat *status);
EXPORT int __fxstat64(int version, int fd, struct stat64 *status);
EXPORT int __fxstatat(int version, int directory, const char *path, struct stat *status, int flags);
EXPORT int __fxstatat64(int version, int directory, const char *path, struct stat64 *status, int flags);

EXPORT int __xstat(int version, const char *path, struct stat *status)
{
	return STATUS(__xstat, path, status, version, path_, status);
}

EXPORT int __xstat64(int version, const char *path, struct stat64 *status)
{
	return STATUS(__xstat64, path, status, version, path_, status);
}

EXPORT int __lxstat(int version, const char *path, struct stat *status)
{
	return STATUS(__lxstat, path, status, version, path_, status);
}

EXPORT int __lxstat64(int version, const char *path, struct stat64 *status)
{
	return STATUS(__lxstat64, path, status, version, path_, status);
}

EXPORT int __fxstat(int version, int fd, struct stat *status)
{
	return DESCRIPTOR_STATUS(__fxstat, fd, status, version, fd, status);
}

EXPORT int __fxstat64(int version, int fd, struct stat64 *status)
{
	return DESCRIPTOR_STATUS(__fxstat64, fd, status, version, fd, status);
}

EXPORT int __fxstatat(int version, int directory, const char *path, struct stat *status, int flags)
{
	if (means_descriptor(flags, path))
		return DESCRIPTOR_STATUS(__fxstatat, directory, status, version, directory, path, status, flags);
	return STATUS(__fxstatat, path, status, version, directory, path_, status, flags);
}

EXPORT int __fxstatat64(int version, int directory, const char *path, struct stat64 *status, int flags)
{
	if (means_descriptor(flags, path))
		return DESCRIPTOR_STATUS(__fxstatat64, directory, status, version, directory, path, status, flags);
	return STATUS(__fxstatat64, path, status, version, directory, path_, status, flags);
}

static void describe_node_x(const struct device *device, struct statx *status)
{
	status->stx_mode = (uint16_t)(S_IFCHR | device->mode);
	status->stx_rdev_major = device->major;
	status->stx_rdev_minor = device->minor;
	status->stx_nlink = 1;
	status->stx_uid = 0;
	status->stx_gid = 0;
	status->stx_size = 0;
	status->stx_blocks = 0;
	status->stx_ino = node_inode(device);
}

EXPORT int statx(int directory, const char *path, int flags, unsigned int mask, struct statx *status)
{
	const struct device *device = device_of_path(path);
	char buffer[PATH_MAX];
	int result;

	if (device) {
		if (device->node_error)
			return fail((int)device->node_error);
		result = CHAIN(-1, statx, AT_FDCWD, OTHER_NODE, flags, mask, status);
	} else {
		result = CHAIN(-1, statx, directory, redirected(path, buffer), flags, mask, status);
		if (result == 0 && means_descriptor(flags, path))
			device = device_of_descriptor(directory);
		if (device && !is_behind_node(directory, status->stx_ino))
			device = NULL;
	}
	if (result == 0 && device)
		describe_node_x(device, status);
	return result;
}

/* ------------------------------------------------------------------------- interposed: permission, links */

#define ACCESS(name, path, mode, user, group, ...)                            \
	({                                                                    \
		const struct device *device_ = device_of_path(path);          \
		char buffer_[PATH_MAX];                                       \
		const char *path_ = device_ ? path : redirected(path, buffer_); \
		device_ ? access_node(device_, mode, user, group) : CHAIN(-1, name, __VA_ARGS__); \
	})

EXPORT int access(const char *path, int mode)
{
	return ACCESS(access, path, mode, getuid(), getgid(), path_, mode);
}

EXPORT int euidaccess(const char *path, int mode)
{
	return ACCESS(euidaccess, path, mode, geteuid(), getegid(), path_, mode);
}

EXPORT int eaccess(const char *path, int mode)
{
	return ACCESS(eaccess, path, mode, geteuid(), getegid(), path_, mode);
}

EXPORT int faccessat(int directory, const char *path, int mode, int flags)
{
	bool effective = flags & AT_EACCESS;

	return ACCESS(faccessat, path, mode, effective ? geteuid() : getuid(), effective ? getegid() : getgid(),
		      directory, path_, mode, flags);
}

EXPORT ssize_t readlink(const char *path, char *buffer, size_t size)
{
	const struct device *device = device_of_path(path);
	char changed[PATH_MAX];

	if (device)
		return fail(device->node_error ? (int)device->node_error : EINVAL);
	return CHAIN(-1, readlink, redirected(path, changed), buffer, size);
}

EXPORT char *realpath(const char *path, char *resolved)
{
	char changed[PATH_MAX];

	return CHAIN(NULL, realpath, redirected(path, changed), resolved);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	char changed[PATH_MAX];

	return CHAIN(NULL, fopen, redirected(path, changed), mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
	char changed[PATH_MAX];

	return CHAIN(NULL, fopen64, redirected(path, changed), mode);
}

/* ---------------------------------------------------------------------------- interposed: directories */

EXPORT DIR *opendir(const char *path)
{
	char changed[PATH_MAX];

	return CHAIN(NULL, opendir, redirected(path, changed));
}

EXPORT int scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		   int (*compare)(const struct dirent **, const struct dirent **))
{
	char changed[PATH_MAX];

	return CHAIN(-1, scandir, redirected(path, changed), names, filter, compare);
}

EXPORT int scandir64(const char *path, struct dirent64 ***names, int (*filter)(const struct dirent64 *),
		     int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	char changed[PATH_MAX];

	return CHAIN(-1, scandir64, redirected(path, changed), names, filter, compare);
}

/* ------------------------------------------------------------ interposed: loading libraries and symbols */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_hidden(const char *name, bool library)
{
	const struct reply_file *file = lab();
	const struct hidden *hidden = at(file, file->hidden);

	for (uint32_t i = 0; i < file->hidden_count; i++) {
		const char *hidden_name = at(file, hidden[i].name);

		if (library != (hidden[i].kind != HIDDEN_SYMBOL))
			continue;
		if (hidden[i].kind == HIDDEN_LIBRARY_PREFIX ? starts_with(base_name(name), hidden_name)
							    : !strcmp(library ? base_name(name) : name, hidden_name))
			return true;
	}
	return false;
}

/* The message of a refusal of ours, until dlerror hands it out or another call of the family follows. */
static _Thread_local char refusal[PATH_MAX + 64];
static _Thread_local bool refused;

/*
 * Who calls dlopen and dlsym matters: it decides where libraries are searched and what RTLD_NEXT is. So the real
 * ones must see our caller and not us: they are jumped to, not called. musttail makes sure where the compiler knows
 * it; without, -O2 does it, for the arguments are the caller's own and nothing of this frame is used any more.
 */
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail)) return
#endif
#endif
#ifndef JUMP
#define JUMP return
#endif

typedef char *dlerror_function(void);

/* To be looked up before there is an error: each lookup makes the C library forget the one before. */
static dlerror_function *real_dlerror(void)
{
	return NEXT(dlerror);
}

static bool refuse_library(const char *name)
{
	refused = name && is_hidden(name, true);
	if (refused)
		snprintf(refusal, sizeof(refusal), "%s: cannot open shared object file: No such file or directory", name);
	return refused;
}

static bool refuse_symbol(void *handle, const char *name)
{
	struct link_map *object = NULL;

	refused = lab()->hidden_count && is_hidden(name, false);
	if (!refused)
		return false;
	if (handle != RTLD_DEFAULT && handle != RTLD_NEXT)
		dlinfo(handle, RTLD_DI_LINKMAP, &object);
	snprintf(refusal, sizeof(refusal), "%s: undefined symbol: %s",
		 object && *object->l_name ? object->l_name : program_invocation_name, name);
	return true;
}

EXPORT void *dlopen(const char *name, int flags)
{
	real_dlerror();
	if (refuse_library(name))
		return NULL;
	JUMP NEXT(dlopen)(name, flags);
}

EXPORT void *dlsym(void *restrict handle, const char *restrict name)
{
	real_dlerror();
	if (refuse_symbol(handle, name))
		return NULL;
	JUMP real_dlsym()(handle, name);
}

EXPORT char *dlerror(void)
{
	if (refused) {
		refused = false;
		return refusal;
	}
	JUMP real_dlerror()();
}

/* Before the program can change its environment. */
__attribute__((constructor)) static void load_at_start(void)
{
	lab();
}
