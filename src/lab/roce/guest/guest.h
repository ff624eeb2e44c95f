/*
 * lab roce, inside the guest: the first program of the virtual machine. It makes the machine ready (boot.c), and
 * then starts commands for the other side of a virtio-serial port (agent.c, session.c) until that side closes it.
 */
#ifndef GUEST_H
#define GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------- frames */

/* frames.ts declares the same. Every frame begins with this header; all numbers are little-endian. */
struct frame_header {
	uint32_t session;	/* 0: of the guest as a whole */
	uint32_t length;	/* of what follows the header */
	uint8_t type;
	uint8_t stream;
	uint16_t reserved;
};

enum frame_type {
	FRAME_HELLO = 1,	/* to the host: the guest is ready; strings: protocol, kernel release */
	FRAME_START = 2,	/* to the guest: a request (see session.c) */
	FRAME_DATA = 3,		/* both ways: bytes of a stream; without bytes, its end (of output: nobody reads it) */
	FRAME_CREDIT = 4,	/* both ways: u32 more bytes of a stream may come */
	FRAME_SIGNAL = 5,	/* to the guest: u32 number, for the command's process group */
	FRAME_RESIZE = 6,	/* to the guest: u16 columns, u16 rows of the terminal */
	FRAME_HANG_UP = 7,	/* to the guest: nobody waits for this command any more */
	FRAME_EXITED = 8,	/* to the host: u32 exit status, u32 signal or 0; the session's last frame */
	FRAME_REFUSED = 9,	/* to the host: u32 errno, text: what could not be done; the session's last frame */
};

enum stream { STREAM_IN = 0, STREAM_OUT = 1, STREAM_ERROR = 2, STREAMS = 3 };

/* Bytes of a stream that may be on their way before the receiver has given credit. */
#define STREAM_WINDOW (256 * 1024)
/* The longest frame that the guest takes. */
#define FRAME_MAXIMUM (4 * 1024 * 1024)

#define PROTOCOL "rdmatool-roce-1"
#define PORT_NAME "rdmatool.agent"

/* -------------------------------------------------------------------------------------------------- boot.c */

/* Where the host's files are mounted until a session takes what it is to see. */
#define HOST_CACHED "/.lab/cached"	/* for what does not change while the guest runs */
#define HOST_LIVE "/.lab/live"		/* read-write, and coherent with the host */
#define LAB_MOUNTS "/.lab"
#define CGROUP_ROOT "/sys/fs/cgroup"

/* Mounts, modules, the host's userland, the network and its RDMA devices. Returns the open port. */
int boot(void);
/* Says on the console what failed, and switches the machine off. */
_Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void power_off(void);
/* mkdir -p. Returns false with errno. */
bool make_directories(const char *path);
void *checked(void *memory);

/* ------------------------------------------------------------------------------------------------- agent.c */

/* Serves the port; never returns. */
_Noreturn void serve(int port);
/* Appends a frame to what goes to the host. */
void send_frame(uint32_t session, enum frame_type type, enum stream stream, const void *bytes, size_t length);
/* Whether so much waits for the host that no more should be read from commands. */
bool output_is_congested(void);
int64_t milliseconds(void);

/* ----------------------------------------------------------------------------------------------- session.c */

struct pollfd;

void start_session(uint32_t id, char *request, size_t length);
/* A frame of a session that may have ended already, which is no error. */
void session_frame(const struct frame_header *header, char *bytes);
/* A child has ended: of a session, or an orphan. */
void process_ended(int pid, int status);
/* How many entries the next call fills. */
size_t session_descriptors(void);
size_t fill_descriptors(struct pollfd *entries);
void handle_descriptors(const struct pollfd *entries, size_t count);
/* Ends what is due. Returns how long poll may wait, or -1. */
int session_deadlines(void);

#endif
