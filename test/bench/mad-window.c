/*
 * The peer of `mad send --count N --window W`: Get PortCounters of a LID through libibumad, W requests in flight, N in
 * all. Prints how long it took from the first request to the last answer, in ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/umad.h>

enum { MAD_BYTES = 256, TIMEOUT_MS = 1000, PERF_CLASS = 4, GET = 1, PORT_COUNTERS = 0x12 };

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	int lid = argc > 1 ? atoi(argv[1]) : 0;
	int count = argc > 2 ? atoi(argv[2]) : 0;
	int window = argc > 3 ? atoi(argv[3]) : 0;
	union { char room[64 + 1024]; long align; } out, in;
	unsigned char *mad;
	int port, agent, sent = 0, answered = 0;
	double start;

	if (lid < 1 || count < 1 || window < 1 || umad_init() < 0)
		return 2;
	port = umad_open_port(NULL, 0);
	agent = umad_register(port, PERF_CLASS, 1, 0, NULL);
	if (port < 0 || agent < 0)
		return 1;
	memset(&out, 0, sizeof out);
	mad = umad_get_mad(out.room);
	mad[0] = 1;
	mad[1] = PERF_CLASS;
	mad[2] = 1;
	mad[3] = GET;
	mad[17] = PORT_COUNTERS;
	mad[64 + 1] = 1;
	umad_set_addr(out.room, lid, 1, 0, 0x80010000);

	start = now_ms();
	while (answered < count) {
		int length = MAD_BYTES;

		while (sent < count && sent - answered < window) {
			sent++;
			mad[12] = sent >> 24;
			mad[13] = sent >> 16;
			mad[14] = sent >> 8;
			mad[15] = sent;
			if (umad_send(port, agent, out.room, MAD_BYTES, TIMEOUT_MS, 0) < 0)
				return 1;
		}
		if (umad_recv(port, in.room, &length, 2 * TIMEOUT_MS) != agent || umad_status(in.room) != 0)
			return 1;
		answered++;
	}
	printf("%.3f\n", now_ms() - start);
	umad_unregister(port, agent);
	umad_close_port(port);
	return 0;
}
