/* Carries frames between the port and the sessions. */
#define _GNU_SOURCE
#include "guest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Above this much unsent output, commands wait. */
#define CONGESTED (256 * 1024)

struct buffer {
	char *bytes;
	size_t start, end, capacity;
};

static struct buffer input, output;

int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Room for so many bytes at the end. */
static char *reserve(struct buffer *buffer, size_t length)
{
	if (buffer->start == buffer->end)
		buffer->start = buffer->end = 0;
	if (buffer->end + length > buffer->capacity && buffer->start > 0) {
		memmove(buffer->bytes, buffer->bytes + buffer->start, buffer->end - buffer->start);
		buffer->end -= buffer->start;
		buffer->start = 0;
	}
	if (buffer->end + length > buffer->capacity) {
		buffer->capacity = (buffer->end + length) * 2;
		buffer->bytes = checked(realloc(buffer->bytes, buffer->capacity));
	}
	return buffer->bytes + buffer->end;
}

void send_frame(uint32_t session, enum frame_type type, enum stream stream, const void *bytes, size_t length)
{
	struct frame_header header = { .session = session, .length = length, .type = type, .stream = stream };
	char *room = reserve(&output, sizeof header + length);

	memcpy(room, &header, sizeof header);
	if (length > 0)
		memcpy(room + sizeof header, bytes, length);
	output.end += sizeof header + length;
}

bool output_is_congested(void)
{
	return output.end - output.start > CONGESTED;
}

static void write_port(int port)
{
	while (output.start < output.end) {
		ssize_t written = write(port, output.bytes + output.start, output.end - output.start);

		if (written > 0)
			output.start += written;
		else if (errno == EAGAIN)
			return;
		else if (errno != EINTR)
			give_up("writing to the host: %s", strerror(errno));
	}
}

static void take_frames(void)
{
	struct frame_header header;

	while (input.end - input.start >= sizeof header) {
		char *bytes = input.bytes + input.start + sizeof header;

		memcpy(&header, input.bytes + input.start, sizeof header);
		if (header.length > FRAME_MAXIMUM)
			give_up("a frame of %u bytes came from the host", header.length);
		if (input.end - input.start < sizeof header + header.length)
			return;
		if (header.type == FRAME_START)
			start_session(header.session, bytes, header.length);
		else
			session_frame(&header, bytes);
		input.start += sizeof header + header.length;
	}
}

static void read_port(int port)
{
	for (;;) {
		ssize_t length = read(port, reserve(&input, 65536), 65536);

		if (length > 0) {
			input.end += length;
			take_frames();
		} else if (length == 0) {
			/* The host's side is closed: there is nobody to work for. */
			power_off();
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != EINTR) {
			give_up("reading from the host: %s", strerror(errno));
		}
	}
}

static void reap(int signals)
{
	struct signalfd_siginfo information;
	int status;
	pid_t pid;

	while (read(signals, &information, sizeof information) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		process_ended(pid, status);
}

static void say_hello(void)
{
	char hello[sizeof PROTOCOL + sizeof(((struct utsname *)0)->release)] = PROTOCOL;
	struct utsname name;

	uname(&name);
	strcpy(hello + sizeof PROTOCOL, name.release);
	send_frame(0, FRAME_HELLO, 0, hello, sizeof PROTOCOL + strlen(name.release) + 1);
}

_Noreturn void serve(int port)
{
	struct pollfd *entries = NULL;
	sigset_t mask;
	int signals;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0)
		give_up("signalfd: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	say_hello();
	for (;;) {
		size_t count;
		int timeout;

		timeout = session_deadlines();
		write_port(port);
		entries = checked(realloc(entries, (2 + session_descriptors()) * sizeof *entries));
		entries[0] = (struct pollfd){ port, POLLIN | (output.start < output.end ? POLLOUT : 0), 0 };
		entries[1] = (struct pollfd){ signals, POLLIN, 0 };
		count = fill_descriptors(entries + 2);
		if (poll(entries, 2 + count, timeout) < 0 && errno != EINTR)
			give_up("poll: %s", strerror(errno));
		/* What a command wrote before it ended is read before its end is noticed. */
		handle_descriptors(entries + 2, count);
		if (entries[0].revents & (POLLIN | POLLHUP | POLLERR))
			read_port(port);
		if (entries[1].revents)
			reap(signals);
	}
}

int main(void)
{
	serve(boot());
}
