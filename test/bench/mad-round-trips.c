/*
 * Round trips of vendor datagrams through libibumad, one at a time or in a window, to a GID:
 * `mad-round-trips DEVICE GID GID_INDEX COUNT WINDOW` prints round trips per second. The peer answers
 * class 0x32 with OUI 0x001405.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/umad.h>

static unsigned char oui[3] = { 0x00, 0x14, 0x05 };
static int port, agent, next;
static union { char room[2048]; long align; } request, answer;

static void send_one(unsigned char *gid, int index)
{
	struct ib_mad_addr *address = umad_get_mad_addr(request.room);
	unsigned char *mad = umad_get_mad(request.room);
	unsigned int tid = htonl(++next);

	memset(request.room, 0, sizeof(request.room));
	umad_set_addr(request.room, 0, 1, 0, 0x80010000);
	address->grh_present = 1;
	address->gid_index = index;
	address->hop_limit = 64;
	memcpy(address->gid, gid, 16);
	mad[0] = 1;
	mad[1] = 0x32;
	mad[2] = 1;
	mad[3] = 1;
	memcpy(mad + 12, &tid, 4);
	memcpy(mad + 37, oui, 3);
	if (umad_send(port, agent, request.room, 256, 1000, 3) < 0)
		exit(2);
}

int main(int argc, char **argv)
{
	unsigned char gid[16];
	struct timespec begin, end;
	int index, count, window, sent = 0, done = 0, length;

	if (argc != 6 || inet_pton(AF_INET6, argv[2], gid) != 1)
		return 2;
	index = atoi(argv[3]);
	count = atoi(argv[4]);
	window = atoi(argv[5]);
	umad_init();
	port = umad_open_port(argv[1], 1);
	agent = umad_register_oui(port, 0x32, 0, oui, NULL);
	if (port < 0 || agent < 0)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (done < count) {
		while (sent < count && sent - done < window) {
			send_one(gid, index);
			sent++;
		}
		length = 256;
		if (umad_recv(port, answer.room, &length, 5000) != agent || umad_status(answer.room))
			return 1;
		done++;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f\n", count / ((end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) / 1e9));
	return 0;
}
