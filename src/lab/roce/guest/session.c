/*
 * Commands that the host side asks for. Each has a process group, a mount namespace and a cgroup of its own: what it
 * started ends with it, and the directories that it sees of the host are gone with it.
 *
 * A request is a sequence of records, each a letter and strings that end in NUL:
 *   a ARGUMENT          of the command; the first is its name
 *   e NAME=VALUE        of its environment, which is otherwise empty
 *   d DIRECTORY         to start in
 *   w DIRECTORY AT      a directory of the host, and where to show it, read-write
 *   r DIRECTORY AT      the same, read-only
 *   c DIRECTORY AT      the same, read-only, and from the guest's cache
 *   v NAME VERSION      of something in that cache; another version than the last makes it stale
 *   l LINK TARGET       a symbolic link that is to exist
 *   t COLUMNSxROWS      the command's streams are a terminal
 *   s                   with a terminal: stderr is not
 *   k SECONDS           the host's clock
 */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* From the hang-up to the end by force. */
#define HANG_UP_MS 1000
/* How long output is waited for that something outside the command's cgroup holds open. */
#define STRAGGLER_MS 2000
#define RETRY_MS 20
#define READ_SIZE 65536
/* With the end of a terminal's input, which needs no credit. */
#define INPUT_ROOM (STREAM_WINDOW + 1)
#define END_OF_TRANSMISSION '\004'

struct request {
	char **arguments;
	char **environment;
	const char *directory;
	const char *terminal;	/* COLUMNSxROWS, or NULL */
	bool error_apart;
	const char *clock;
	const char *bytes;
	size_t length;
};

struct session {
	struct session *next;
	uint32_t id;
	pid_t pid;
	char cgroup[64];
	int streams[STREAMS];	/* our ends, or -1 */
	bool terminal;
	int refusal;		/* has errno and a text where the command could not be started */

	char *pending;		/* input that the command has not taken yet */
	size_t pending_start, pending_end;
	bool input_ended;

	uint32_t credit[STREAMS];	/* how much more output the host takes */
	bool hung_up;
	bool killed;
	int64_t kill_at;

	bool ended;
	int status;
	int64_t last_output;
	bool reported;
};

static struct session *sessions;

/* ------------------------------------------------------------------------------------------------- request */

static const char *next_string(const char **at, const char *end)
{
	const char *string = *at;
	const char *zero = memchr(string, '\0', end - string);

	if (!zero)
		give_up("a request of the host is cut off");
	*at = zero + 1;
	return string;
}

static void write_file(const char *directory, const char *name, const char *text)
{
	char path[PATH_MAX];
	int file;

	snprintf(path, sizeof path, "%s/%s", directory, name);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return;
	if (write(file, text, strlen(text)) < 0)
		/* The process that was to be moved or killed has ended. */
		errno = 0;
	close(file);
}

/* Files of the host that have changed are read anew. */
static void note_version(const char *name, const char *version)
{
	static struct known {
		struct known *next;
		char *name, *version;
	} *all;
	struct known *one = all;

	while (one && strcmp(one->name, name))
		one = one->next;
	if (!one) {
		one = checked(calloc(1, sizeof *one));
		*one = (struct known){ all, checked(strdup(name)), checked(strdup(version)) };
		all = one;
	} else if (strcmp(one->version, version)) {
		free(one->version);
		one->version = checked(strdup(version));
		write_file("/proc/sys/vm", "drop_caches", "3");
	}
}

static void append(char ***list, size_t *count, const char *string)
{
	*list = checked(realloc(*list, (*count + 2) * sizeof **list));
	(*list)[(*count)++] = (char *)string;
	(*list)[*count] = NULL;
}

static void read_request(struct request *request, const char *bytes, size_t length)
{
	const char *end = bytes + length;
	size_t arguments = 0, variables = 0;

	*request = (struct request){ .directory = "/", .bytes = bytes, .length = length };
	request->environment = checked(calloc(1, sizeof *request->environment));
	for (const char *at = bytes; at < end;) {
		char kind = *at++;
		const char *value = next_string(&at, end);

		switch (kind) {
		case 'a':
			append(&request->arguments, &arguments, value);
			break;
		case 'e':
			append(&request->environment, &variables, value);
			break;
		case 'd':
			request->directory = value;
			break;
		case 't':
			request->terminal = value;
			break;
		case 's':
			request->error_apart = true;
			break;
		case 'k':
			request->clock = value;
			break;
		case 'v':
			note_version(value, next_string(&at, end));
			break;
		case 'w':
		case 'r':
		case 'c':
		case 'l':
			next_string(&at, end);
			break;
		}
	}
	if (arguments == 0)
		give_up("a request of the host has no command");
}

/*
 * The guest's clock stands while its host sleeps. A request may have taken a while to come here, so that a clock which
 * is a little ahead of it is right.
 */
static void set_clock(const char *text)
{
	struct timespec now, wanted = { 0 };
	double seconds = text ? strtod(text, NULL) : 0, behind;

	clock_gettime(CLOCK_REALTIME, &now);
	wanted.tv_sec = (time_t)seconds;
	wanted.tv_nsec = (long)((seconds - (double)wanted.tv_sec) * 1e9);
	behind = seconds - (double)now.tv_sec - (double)now.tv_nsec / 1e9;
	if (seconds > 0 && (behind > 1 || behind < -60))
		clock_settime(CLOCK_REALTIME, &wanted);
}

/* ------------------------------------------------------------------------------------------ in the new process */

static int refusal_pipe;

static _Noreturn void refuse(int error, const char *what)
{
	char message[PATH_MAX + sizeof error];
	size_t length = strnlen(what, PATH_MAX);

	memcpy(message, &error, sizeof error);
	memcpy(message + sizeof error, what, length);
	if (write(refusal_pipe, message, sizeof error + length) < 0)
		_exit(126);
	_exit(127);
}

static void show_directory(const char *root, const char *path, const char *at, unsigned long flags)
{
	char source[PATH_MAX];

	snprintf(source, sizeof source, "%s%s", root, path);
	if (!make_directories(at) || mount(source, at, NULL, MS_BIND, NULL))
		refuse(errno, path);
	if (flags && mount(NULL, at, NULL, MS_REMOUNT | MS_BIND | flags, NULL))
		refuse(errno, path);
}

static void make_link(const char *link, const char *target)
{
	char directory[PATH_MAX];
	char *slash;

	snprintf(directory, sizeof directory, "%s", link);
	slash = strrchr(directory, '/');
	if (slash)
		*slash = '\0';
	if (!make_directories(directory) || (symlink(target, link) && errno != EEXIST))
		refuse(errno, link);
}

/* What the command sees of the host, in the order of the request. */
static void make_view(const struct request *request)
{
	const char *end = request->bytes + request->length;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		refuse(errno, "a mount namespace");
	for (const char *at = request->bytes; at < end;) {
		char kind = *at++;
		const char *value = next_string(&at, end);

		if (kind == 'w')
			show_directory(HOST_LIVE, value, next_string(&at, end), 0);
		else if (kind == 'r')
			show_directory(HOST_LIVE, value, next_string(&at, end), MS_RDONLY);
		else if (kind == 'c')
			show_directory(HOST_CACHED, value, next_string(&at, end), MS_RDONLY);
		else if (kind == 'l')
			make_link(value, next_string(&at, end));
		else if (kind == 'v')
			next_string(&at, end);
	}
	/* Nothing else of the host. */
	if (umount2(HOST_LIVE, MNT_DETACH) || umount2(HOST_CACHED, MNT_DETACH))
		refuse(errno, LAB_MOUNTS);
}

static _Noreturn void become_command(const struct request *request, const char *cgroup, const int streams[STREAMS])
{
	sigset_t none;

	/* First of all, so that nothing that is started here can be missed. */
	write_file(cgroup, "cgroup.procs", "0");
	setsid();
	make_view(request);
	if (request->terminal && ioctl(streams[STREAM_IN], TIOCSCTTY, 0))
		refuse(errno, "a terminal");
	for (int i = 0; i < STREAMS; i++)
		if (dup2(streams[i], i) < 0)
			refuse(errno, "a stream");
	if (chdir(request->directory))
		refuse(errno, request->directory);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	environ = request->environment;
	execvp(request->arguments[0], request->arguments);
	refuse(errno, request->arguments[0]);
}

/* ------------------------------------------------------------------------------------------------- starting */

static void set_size(int terminal, unsigned columns, unsigned rows)
{
	struct winsize size = { .ws_col = columns, .ws_row = rows };

	ioctl(terminal, TIOCSWINSZ, &size);
}

/* A terminal; returns false with errno. */
static bool open_terminal(const char *size, int *master, int *slave)
{
	unsigned columns = 80, rows = 24;
	char name[64];

	*master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*master < 0)
		return false;
	sscanf(size, "%ux%u", &columns, &rows);
	set_size(*master, columns, rows);
	if (unlockpt(*master) || ptsname_r(*master, name, sizeof name))
		return false;
	*slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	return *slave >= 0;
}

/* One pipe for a stream: our end and the command's. */
static bool open_pipe(enum stream stream, int *ours, int *theirs)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	*ours = ends[stream == STREAM_IN ? 1 : 0];
	*theirs = ends[stream == STREAM_IN ? 0 : 1];
	return true;
}

static bool open_streams(const struct request *request, int ours[STREAMS], int theirs[STREAMS])
{
	int master, slave;

	if (request->terminal) {
		if (!open_terminal(request->terminal, &master, &slave))
			return false;
		ours[STREAM_IN] = fcntl(master, F_DUPFD_CLOEXEC, 3);
		ours[STREAM_OUT] = master;
		theirs[STREAM_IN] = slave;
		theirs[STREAM_OUT] = fcntl(slave, F_DUPFD_CLOEXEC, 3);
		theirs[STREAM_ERROR] = fcntl(slave, F_DUPFD_CLOEXEC, 3);
		if (!request->error_apart)
			return true;
		close(theirs[STREAM_ERROR]);
		return open_pipe(STREAM_ERROR, &ours[STREAM_ERROR], &theirs[STREAM_ERROR]);
	}
	for (int i = 0; i < STREAMS; i++)
		if (!open_pipe(i, &ours[i], &theirs[i]))
			return false;
	return true;
}

static void report_refusal(uint32_t id, int error, const char *what, size_t length)
{
	char message[sizeof error + PATH_MAX];

	if (length > PATH_MAX)
		length = PATH_MAX;
	memcpy(message, &error, sizeof error);
	memcpy(message + sizeof error, what, length);
	send_frame(id, FRAME_REFUSED, 0, message, sizeof error + length);
}

static void close_all(int descriptors[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (descriptors[i] >= 0)
			close(descriptors[i]);
		descriptors[i] = -1;
	}
}

void start_session(uint32_t id, char *bytes, size_t length)
{
	struct session *session = checked(calloc(1, sizeof *session));
	int theirs[STREAMS] = { -1, -1, -1 }, refusal[2] = { -1, -1 };
	struct request request;

	read_request(&request, bytes, length);
	set_clock(request.clock);
	session->id = id;
	session->terminal = request.terminal != NULL;
	session->credit[STREAM_OUT] = session->credit[STREAM_ERROR] = STREAM_WINDOW;
	for (int i = 0; i < STREAMS; i++)
		session->streams[i] = -1;
	snprintf(session->cgroup, sizeof session->cgroup, CGROUP_ROOT "/lab.%u", id);
	if (!open_streams(&request, session->streams, theirs) || pipe2(refusal, O_CLOEXEC) ||
	    mkdir(session->cgroup, 0755) || (session->pid = fork()) < 0) {
		const char *what = "the streams of a command";

		report_refusal(id, errno, what, strlen(what));
		close_all(session->streams, STREAMS);
		close_all(theirs, STREAMS);
		close_all(refusal, 2);
		rmdir(session->cgroup);
		free(session);
	} else if (session->pid == 0) {
		refusal_pipe = refusal[1];
		become_command(&request, session->cgroup, theirs);
	} else {
		close_all(theirs, STREAMS);
		close(refusal[1]);
		session->refusal = refusal[0];
		for (int i = 0; i < STREAMS; i++)
			if (session->streams[i] >= 0)
				fcntl(session->streams[i], F_SETFL, O_NONBLOCK);
		session->pending = checked(malloc(INPUT_ROOM));
		session->next = sessions;
		sessions = session;
	}
	free(request.arguments);
	free(request.environment);
}

/* -------------------------------------------------------------------------------------------------- ending */

static void kill_all(struct session *session)
{
	write_file(session->cgroup, "cgroup.kill", "1");
	session->killed = true;
}

static void close_stream(struct session *session, enum stream stream)
{
	if (session->streams[stream] >= 0)
		close(session->streams[stream]);
	session->streams[stream] = -1;
}

/* The last frame, once all output has been sent. */
static void report_end(struct session *session)
{
	char refusal[sizeof(int) + PATH_MAX];
	uint32_t end[2] = { 0, 0 };
	ssize_t length = read(session->refusal, refusal, sizeof refusal);
	int error;

	close(session->refusal);
	close_stream(session, STREAM_IN);
	if (length >= (ssize_t)sizeof error) {
		memcpy(&error, refusal, sizeof error);
		report_refusal(session->id, error, refusal + sizeof error, length - sizeof error);
	} else {
		end[0] = WIFEXITED(session->status) ? WEXITSTATUS(session->status) : 0;
		end[1] = WIFSIGNALED(session->status) ? WTERMSIG(session->status) : 0;
		send_frame(session->id, FRAME_EXITED, 0, end, sizeof end);
	}
	session->reported = true;
}

void process_ended(int pid, int status)
{
	for (struct session *session = sessions; session; session = session->next) {
		if (session->pid != pid || session->ended)
			continue;
		session->ended = true;
		session->status = status;
		session->last_output = milliseconds();
		/* Also closes the streams, so that there is an end to what can be read. */
		kill_all(session);
	}
}

int session_deadlines(void)
{
	int64_t now = milliseconds();
	int wait = -1;

	for (struct session **link = &sessions; *link;) {
		struct session *session = *link;
		int64_t due = -1;

		if (session->hung_up && !session->killed) {
			due = session->kill_at;
			if (now >= due)
				kill_all(session);
		}
		if (session->ended && !session->reported) {
			due = session->last_output + STRAGGLER_MS;
			for (int i = STREAM_OUT; i < STREAMS; i++)
				if (now >= due && session->credit[i] > 0)
					close_stream(session, i);
			if (session->streams[STREAM_OUT] < 0 && session->streams[STREAM_ERROR] < 0)
				report_end(session);
			else if (now >= due)
				/* The host takes nothing at present. */
				due = -1;
		}
		if (session->reported) {
			if (rmdir(session->cgroup) == 0 || errno == ENOENT) {
				*link = session->next;
				free(session->pending);
				free(session);
				continue;
			}
			kill_all(session);
			due = now + RETRY_MS;
		}
		if (due >= 0) {
			int left = due > now ? (int)(due - now) : 0;

			wait = wait < 0 || left < wait ? left : wait;
		}
		link = &session->next;
	}
	return wait;
}

/* ------------------------------------------------------------------------------------------------- streams */

static void give_credit(struct session *session, uint32_t bytes)
{
	send_frame(session->id, FRAME_CREDIT, STREAM_IN, &bytes, sizeof bytes);
}

/* What the command does not want is dropped, and counts as taken. */
static void drop_input(struct session *session)
{
	uint32_t dropped = session->pending_end - session->pending_start;

	close_stream(session, STREAM_IN);
	session->pending_start = session->pending_end = 0;
	if (dropped > 0)
		give_credit(session, dropped);
}

static void write_input(struct session *session)
{
	int stream = session->streams[STREAM_IN];

	while (stream >= 0 && session->pending_start < session->pending_end) {
		ssize_t written = write(stream, session->pending + session->pending_start,
					session->pending_end - session->pending_start);

		if (written > 0) {
			session->pending_start += written;
			give_credit(session, written);
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != EINTR) {
			drop_input(session);
			return;
		}
	}
	session->pending_start = session->pending_end = 0;
	if (session->input_ended)
		close_stream(session, STREAM_IN);
}

static void take_input(struct session *session, const char *bytes, size_t length)
{
	char end = END_OF_TRANSMISSION;

	if (length == 0) {
		if (session->input_ended)
			return;
		/* A terminal is not closed by one side; this is what a user would type. */
		if (session->terminal && session->streams[STREAM_IN] >= 0)
			take_input(session, &end, 1);
		session->input_ended = true;
	} else if (session->pending_end + length > INPUT_ROOM && session->pending_start > 0) {
		memmove(session->pending, session->pending + session->pending_start,
			session->pending_end - session->pending_start);
		session->pending_end -= session->pending_start;
		session->pending_start = 0;
	}
	if (session->pending_end + length > INPUT_ROOM)
		give_up("more input came from the host than it had credit for");
	memcpy(session->pending + session->pending_end, bytes, length);
	session->pending_end += length;
	if (session->streams[STREAM_IN] < 0)
		drop_input(session);
	else
		write_input(session);
}

static void read_output(struct session *session, enum stream stream)
{
	static char bytes[READ_SIZE];

	while (session->streams[stream] >= 0 && session->credit[stream] > 0 && !output_is_congested()) {
		size_t room = session->credit[stream] < sizeof bytes ? session->credit[stream] : sizeof bytes;
		ssize_t length = read(session->streams[stream], bytes, room);

		if (length > 0) {
			session->last_output = milliseconds();
			if (session->hung_up)
				continue;
			session->credit[stream] -= length;
			send_frame(session->id, FRAME_DATA, stream, bytes, length);
		} else if (length < 0 && errno == EAGAIN) {
			return;
		} else if (length == 0 || errno != EINTR) {
			/* A terminal that no process has open any more gives EIO. */
			close_stream(session, stream);
		}
	}
}

static void send_signal(const struct session *session, int signal)
{
	/* A command that was started just now does not lead its group yet. */
	if (!session->ended && kill(-session->pid, signal) && errno == ESRCH)
		kill(session->pid, signal);
}

static void hang_up(struct session *session)
{
	if (session->hung_up)
		return;
	session->hung_up = true;
	session->kill_at = milliseconds() + HANG_UP_MS;
	session->credit[STREAM_OUT] = session->credit[STREAM_ERROR] = STREAM_WINDOW;
	drop_input(session);
	send_signal(session, SIGHUP);
	send_signal(session, SIGCONT);
}

void session_frame(const struct frame_header *header, char *bytes)
{
	struct session *session = sessions;
	uint32_t number = 0;

	while (session && (session->id != header->session || session->reported))
		session = session->next;
	if (!session)
		return;
	if (header->length >= sizeof number)
		memcpy(&number, bytes, sizeof number);
	switch (header->type) {
	case FRAME_DATA:
		if (header->stream == STREAM_IN && !session->hung_up)
			take_input(session, bytes, header->length);
		else if (header->stream < STREAMS && header->length == 0 && !session->terminal)
			close_stream(session, header->stream);
		break;
	case FRAME_CREDIT:
		if (header->stream < STREAMS && !session->hung_up)
			session->credit[header->stream] += number;
		break;
	case FRAME_SIGNAL:
		send_signal(session, number);
		break;
	case FRAME_RESIZE:
		if (session->terminal && session->streams[STREAM_OUT] >= 0)
			set_size(session->streams[STREAM_OUT], number & 0xffff, number >> 16);
		break;
	case FRAME_HANG_UP:
		hang_up(session);
		break;
	}
}

/* -------------------------------------------------------------------------------------------------- polling */

/* Whose the entries are that were filled last. */
static struct {
	uint32_t session;
	enum stream stream;
} *owners;

size_t session_descriptors(void)
{
	size_t count = 0;

	for (const struct session *session = sessions; session; session = session->next)
		count += STREAMS;
	return count;
}

/* A descriptor that is not to be read now must not be polled either: its hang-up would end every wait at once. */
static bool is_wanted(const struct session *session, enum stream stream)
{
	if (session->streams[stream] < 0)
		return false;
	if (stream == STREAM_IN)
		return session->pending_start < session->pending_end;
	return session->credit[stream] > 0 && !output_is_congested();
}

size_t fill_descriptors(struct pollfd *entries)
{
	size_t count = 0;

	owners = checked(realloc(owners, (session_descriptors() + 1) * sizeof *owners));
	for (const struct session *session = sessions; session; session = session->next) {
		for (int i = 0; i < STREAMS; i++) {
			if (!is_wanted(session, i))
				continue;
			owners[count].session = session->id;
			owners[count].stream = i;
			entries[count++] = (struct pollfd){ session->streams[i], i == STREAM_IN ? POLLOUT : POLLIN, 0 };
		}
	}
	return count;
}

void handle_descriptors(const struct pollfd *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct session *session = sessions;

		while (session && session->id != owners[i].session)
			session = session->next;
		if (!session || entries[i].revents == 0)
			continue;
		if (owners[i].stream == STREAM_IN)
			write_input(session);
		else
			read_output(session, owners[i].stream);
	}
}
