/*
 * In front of librdmacm and libc in a test (LD_PRELOAD): makes one step of a command slow, or fail.
 *   SLOW_STEP=connect    the step makes the file SLOW_MARK, and waits until it is gone, or for a minute
 *   FAIL_STEP=create_qp  the step fails with the errno FAIL_ERRNO, as a driver's would
 * Steps are the commands of <rdma/rdma_user_cm.h>, and create_qp and getaddrinfo.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const char *step_of(uint32_t command)
{
	switch (command) {
	case 0: return "create_id";
	case 1: return "destroy_id";
	case 2: case 20: return "bind_addr";
	case 3: case 21: return "resolve_addr";
	case 4: return "resolve_route";
	case 6: return "connect";
	case 7: return "listen";
	case 8: return "accept";
	case 9: return "reject";
	case 10: return "disconnect";
	case 11: return "init_qp_attr";
	case 14: return "set_option";
	default: return "";
	}
}

/* Returns the errno that the step is to fail with, or 0. */
static int begin(const char *step)
{
	const char *slow = getenv("SLOW_STEP"), *fail = getenv("FAIL_STEP");
	if (slow && !strcmp(step, slow)) {
		const char *mark = getenv("SLOW_MARK");
		close(open(mark, O_CREAT | O_WRONLY, 0600));
		for (int i = 0; i < 6000 && !access(mark, F_OK); i++) usleep(10000);
	}
	return fail && !strcmp(step, fail) ? atoi(getenv("FAIL_ERRNO")) : 0;
}

static int is_rdma_cm(int fd)
{
	char path[64] = "/proc/self/fd/", target[64];
	char digits[12];
	int at = sizeof digits;
	digits[--at] = 0;
	do digits[--at] = '0' + fd % 10; while ((fd /= 10) > 0);
	strcat(path, digits + at);
	ssize_t length = readlink(path, target, sizeof target - 1);
	if (length < 0) return 0;
	target[length] = 0;
	return !strcmp(target, "/dev/infiniband/rdma_cm");
}

ssize_t write(int fd, const void *data, size_t size)
{
	static ssize_t (*next)(int, const void *, size_t);
	if (!next) next = dlsym(RTLD_NEXT, "write");
	if (size >= 8 && is_rdma_cm(fd)) {
		int error = begin(step_of(*(const uint32_t *)data));
		if (error) {
			errno = error;
			return -1;
		}
	}
	return next(fd, data, size);
}

void *ibv_create_qp(void *pd, void *attr)
{
	int error = begin("create_qp");
	if (error) {
		errno = error;
		return NULL;
	}
	/* librdmacm has loaded it; it is no dependency of this program. */
	void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *(*next)(void *, void *) = dlvsym(library, "ibv_create_qp", "IBVERBS_1.1");
	return next(pd, attr);
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	static int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	if (!next) next = dlsym(RTLD_NEXT, "getaddrinfo");
	if (begin("getaddrinfo")) return EAI_AGAIN;
	return next(node, service, hints, found);
}
