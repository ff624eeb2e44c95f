/*
 * lab efa with the rdma-core of another root: starts programs on that root's C library.
 *
 * A library of a newer distribution asks for the C library of that distribution, and only that one's own dynamic
 * loader can load it. So a program that the system's loader has started with this library preloaded is started once
 * more, before its main(), through the loader that RDMATOOL_LAB_LOADER names, with libraries from the directories in
 * RDMATOOL_LAB_LIBRARIES. What a program then starts comes here again, whatever call it uses for that.
 *
 * /proc/self/exe leads to the loader then. Programs that ask for their own path are told the program's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static const char self[] = "/proc/self/exe";

/* The path of the running program; empty where it was not started through a loader. */
static char program[PATH_MAX];

static void complain(const char *what, const char *path)
{
	dprintf(STDERR_FILENO, "rdmatool: lab efa: %s: %s\n", what, path);
}

/* Not through readlink(), which is ours. Without /proc `loader` is taken for it where a loader was started. */
static bool own_path(char path[PATH_MAX], const char *loader)
{
	ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, self, path, PATH_MAX - 1);
	unsigned char magic[4] = { 0 };
	const char *started;
	int fd;

	if (length > 0) {
		path[length] = '\0';
		return true;
	}
	/* A program that was started through a loader has no other that the kernel would have mapped for it. */
	if (getauxval(AT_BASE) == 0) {
		snprintf(path, PATH_MAX, "%s", loader);
		return true;
	}
	/* What was started, unless that was a script. */
	started = (const char *)getauxval(AT_EXECFN);
	if (!started || strlen(started) >= PATH_MAX)
		return false;
	strcpy(path, started);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, magic, sizeof(magic)) != sizeof(magic))
		magic[0] = 0;
	close(fd);
	return !memcmp(magic, "\177ELF", sizeof(magic));
}

static bool same_file(const char *path, const char *other)
{
	struct stat a, b;

	return !fstatat(AT_FDCWD, path, &a, 0) && !fstatat(AT_FDCWD, other, &b, 0) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *address)
{
	(void)size;
	*(const void **)address = info->dlpi_phdr;
	return 1;
}

/* The file that the main program is mapped from: the one in which its program headers lie. */
static void find_program(void)
{
	const void *address = NULL;
	char *line = NULL;
	size_t size = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	dl_iterate_phdr(first_object, &address);
	while (maps && getline(&line, &size, maps) > 0) {
		unsigned long start, end;
		char *path = strchr(line, '/');

		if (!path || sscanf(line, "%lx-%lx", &start, &end) != 2 || (unsigned long)address < start ||
		    (unsigned long)address >= end)
			continue;
		path[strcspn(path, "\n")] = '\0';
		snprintf(program, sizeof(program), "%s", path);
		break;
	}
	free(line);
	if (maps)
		fclose(maps);
}

static void start_again(const char *loader, const char *libraries, const char *path, int argc, char **argv)
{
	const char *preferred = getenv("LD_LIBRARY_PATH");
	char *search = NULL;
	const char **args = calloc(argc + 6, sizeof(*args));
	int count = 0;

	if (!args || asprintf(&search, "%s%s%s", preferred ? preferred : "", preferred && *preferred ? ":" : "",
			      libraries) < 0)
		return;
	args[count++] = loader;
	/* Loaders before glibc 2.33 do not know it. */
	if (getenv("RDMATOOL_LAB_ARGV0")) {
		args[count++] = "--argv0";
		args[count++] = argc > 0 ? argv[0] : path;
	}
	args[count++] = "--library-path";
	args[count++] = search;
	args[count++] = path;
	for (int i = 1; i < argc; i++)
		args[count++] = argv[i];
	execve(loader, (char **)args, environ);
	complain(loader, strerror(errno));
	_exit(126);
}

__attribute__((constructor)) static void restart(int argc, char **argv)
{
	const char *loader = getenv("RDMATOOL_LAB_LOADER");
	const char *libraries = getenv("RDMATOOL_LAB_LIBRARIES");
	char path[PATH_MAX];
	const char *name;

	if (!loader || !libraries)
		return;
	if (!own_path(path, loader)) {
		complain("runs on the system's own rdma-core, for /proc does not tell what it is", argc > 0 ? argv[0] : "?");
		return;
	}
	if (!same_file(path, loader)) {
		start_again(loader, libraries, path, argc, argv);
		return;
	}
	find_program();
	name = strrchr(program, '/');
	if (name)
		prctl(PR_SET_NAME, name + 1);
}

EXPORT ssize_t readlink(const char *path, char *buffer, size_t size)
{
	static ssize_t (*next)(const char *, char *, size_t);

	if (*program && path && !strcmp(path, self)) {
		size_t length = strlen(program);

		if (length > size)
			length = size;
		memcpy(buffer, program, length);
		return length;
	}
	if (!next)
		next = dlsym(RTLD_NEXT, "readlink");
	return next(path, buffer, size);
}
