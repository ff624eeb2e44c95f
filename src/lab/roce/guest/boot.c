/* From the start of the kernel to a machine with two RDMA devices. */
#define _GNU_SOURCE
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

_Noreturn void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* Without ACPI; QEMU ends at a reset as well. */
	reboot(RB_AUTOBOOT);
	_exit(1);
}

static void say(const char *format, va_list arguments)
{
	char line[512];
	int length = vsnprintf(line, sizeof line - 1, format, arguments);

	if (length < 0)
		return;
	if (length > (int)sizeof line - 2)
		length = sizeof line - 2;
	line[length++] = '\n';
	if (write(STDERR_FILENO, line, length) < 0)
		return;
}

/* The console is what a user gets to see of a boot that hangs: it says what is being done. */
static void step(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void step(const char *format, ...)
{
	char text[256];
	va_list arguments;
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	snprintf(text, sizeof text, "lab: [%ld.%03ld] %s", (long)now.tv_sec, now.tv_nsec / 1000000, format);
	va_start(arguments, format);
	say(text, arguments);
	va_end(arguments);
}

_Noreturn void give_up(const char *format, ...)
{
	char text[256];
	va_list arguments;

	snprintf(text, sizeof text, "lab: failed: %s", format);
	va_start(arguments, format);
	say(text, arguments);
	va_end(arguments);
	power_off();
}

void *checked(void *memory)
{
	if (memory == NULL)
		give_up("out of memory");
	return memory;
}

bool make_directories(const char *path)
{
	char partial[PATH_MAX];
	size_t length = strlen(path);

	if (length >= sizeof partial) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(partial, path, length + 1);
	for (char *slash = partial + 1; *slash; slash++) {
		if (*slash != '/')
			continue;
		*slash = '\0';
		if (mkdir(partial, 0755) && errno != EEXIST && errno != EROFS)
			return false;
		*slash = '/';
	}
	return !mkdir(partial, 0755) || errno == EEXIST;
}

/* ---------------------------------------------------------------------------------------- kernel interfaces */

static void mount_one(const char *source, const char *target, const char *type, unsigned long flags, const char *data)
{
	if (!make_directories(target))
		give_up("mkdir %s: %s", target, strerror(errno));
	/* Some kernels mount /dev by themselves. */
	if (mount(source, target, type, flags, data) && errno != EBUSY)
		give_up("mount %s on %s: %s", source, target, strerror(errno));
}

static void mount_kernel_interfaces(void)
{
	static const struct {
		const char *type, *target, *data;
	} mounts[] = {
		{ "devtmpfs", "/dev", "mode=0755" },
		{ "proc", "/proc", NULL },
		{ "sysfs", "/sys", NULL },
		{ "debugfs", "/sys/kernel/debug", NULL },
		{ "cgroup2", CGROUP_ROOT, NULL },
		{ "devpts", "/dev/pts", "mode=620,ptmxmode=666" },
		{ "tmpfs", "/dev/shm", "mode=1777" },
		{ "tmpfs", "/run", "mode=0755" },
		{ "tmpfs", "/tmp", "mode=1777" },
	};
	static const char *const links[][2] = {
		{ "/run", "/var/run" },
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};

	/* The kernel lets everybody write to its first file system. */
	if (chmod("/", 0755))
		give_up("chmod /: %s", strerror(errno));
	for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++)
		mount_one(mounts[i].type, mounts[i].target, mounts[i].type, 0, mounts[i].data);
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			give_up("symlink %s: %s", links[i][1], strerror(errno));
}

/* ------------------------------------------------------------------------------------------------- modules */

/* One line of /modules/order: a file there, and parameters. */
static void load_module(char *line)
{
	char path[PATH_MAX];
	char *parameters = strchr(line, ' ');
	int file;

	if (parameters)
		*parameters++ = '\0';
	snprintf(path, sizeof path, "/modules/%s", line);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		give_up("%s: %s", path, strerror(errno));
	if (syscall(SYS_finit_module, file, parameters ? parameters : "", 0) && errno != EEXIST)
		give_up("module %s: %s", line, strerror(errno));
	close(file);
}

static void load_modules(void)
{
	char line[512];
	FILE *order = fopen("/modules/order", "re");

	if (!order)
		give_up("/modules/order: %s", strerror(errno));
	while (fgets(line, sizeof line, order)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			load_module(line);
	}
	fclose(order);
}

/* -------------------------------------------------------------------------------------------- host's files */

#define NINE_P "trans=virtio,version=9p2000.L,msize=512000,"

/* A top-level entry of the host: the same symbolic link, or the same directory, read-only. */
static void take_over(const char *name)
{
	char from[64], to[64], target[PATH_MAX];
	struct stat status;
	ssize_t length;

	snprintf(from, sizeof from, HOST_CACHED "/%s", name);
	snprintf(to, sizeof to, "/%s", name);
	if (lstat(from, &status))
		return;
	if (S_ISLNK(status.st_mode)) {
		length = readlink(from, target, sizeof target - 1);
		if (length < 0)
			give_up("readlink %s: %s", from, strerror(errno));
		target[length] = '\0';
		if (symlink(target, to) && errno != EEXIST)
			give_up("symlink %s: %s", to, strerror(errno));
		return;
	}
	mount_one(from, to, NULL, MS_BIND, NULL);
}

/*
 * The host's /etc, entry by entry, so that the guest can have some files of its own. The real directory is at the
 * same depth as /etc, because relative links in it lead out of it.
 */
static void take_over_etc(void)
{
	DIR *directory = opendir("/etc.host");
	struct dirent *entry;
	char from[PATH_MAX], to[PATH_MAX];

	if (!directory)
		give_up("/etc.host: %s", strerror(errno));
	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		snprintf(from, sizeof from, "/etc.host/%s", entry->d_name);
		snprintf(to, sizeof to, "/etc/%s", entry->d_name);
		/* What exists is the guest's own. */
		if (symlink(from, to) && errno != EEXIST)
			give_up("symlink %s: %s", to, strerror(errno));
	}
	closedir(directory);
}

/*
 * Reads and writes go to the host at once, and what is mapped is read ahead. Linux has called that `readahead` since
 * 6.4, where `mmap` means more; before, `mmap` meant that.
 */
static void mount_live(void)
{
	if (!make_directories(HOST_LIVE))
		give_up("mkdir " HOST_LIVE ": %s", strerror(errno));
	if (mount("live", HOST_LIVE, "9p", 0, NINE_P "cache=readahead") && errno == EINVAL)
		mount_one("live", HOST_LIVE, "9p", 0, NINE_P "cache=mmap");
}

static void mount_host(void)
{
	static const char *const system[] = { "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32" };

	mount_one("cached", HOST_CACHED, "9p", MS_RDONLY, NINE_P "cache=loose");
	mount_live();
	for (size_t i = 0; i < sizeof system / sizeof *system; i++)
		take_over(system[i]);
	mount_one(HOST_CACHED "/etc", "/etc.host", NULL, MS_BIND, NULL);
	take_over_etc();
}

/* --------------------------------------------------------------------------------------------------- setup */

/* The network and its RDMA devices, by the host's own ip and rdma. */
static void run_setup(void)
{
	char *const arguments[] = { "sh", "-eu", "/setup.sh", NULL };
	int status;
	pid_t child = fork();

	if (child < 0)
		give_up("fork: %s", strerror(errno));
	if (child == 0) {
		execv("/bin/sh", arguments);
		give_up("/bin/sh: %s", strerror(errno));
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			give_up("waitpid: %s", strerror(errno));
	if (status != 0)
		give_up("the set-up of the network ended with status %#x", status);
}

/* ---------------------------------------------------------------------------------------------------- port */

/* The device node of the port that has our name, which the host side tells a moment after the driver is there. */
static bool find_port(char *path, size_t size)
{
	static const char class[] = "/sys/class/virtio-ports";
	DIR *directory = opendir(class);
	struct dirent *entry;
	bool found = false;

	if (!directory)
		return false;
	while (!found && (entry = readdir(directory))) {
		char file[PATH_MAX], name[64] = "";
		FILE *stream;

		snprintf(file, sizeof file, "%s/%s/name", class, entry->d_name);
		stream = fopen(file, "re");
		if (!stream)
			continue;
		if (fgets(name, sizeof name, stream)) {
			name[strcspn(name, "\n")] = '\0';
			found = !strcmp(name, PORT_NAME);
		}
		fclose(stream);
		if (found)
			snprintf(path, size, "/dev/%s", entry->d_name);
	}
	closedir(directory);
	return found;
}

static int open_port(void)
{
	char path[PATH_MAX];
	int port;

	for (int i = 0; i < 1000; i++) {
		if (find_port(path, sizeof path)) {
			port = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
			if (port < 0)
				give_up("%s: %s", path, strerror(errno));
			return port;
		}
		poll(NULL, 0, 10);
	}
	give_up("the port to the host did not appear");
}

int boot(void)
{
	struct rlimit files = { 1024, 1048576 };

	mount_kernel_interfaces();
	step("modules");
	load_modules();
	step("files of the host");
	mount_host();
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	step("network and RDMA devices");
	run_setup();
	setrlimit(RLIMIT_NOFILE, &files);
	step("ready");
	return open_port();
}
