/*
 * Answers vendor pings as ibping(8) does, on a simulated fabric. It registers subnet management too: the simulator's
 * library ends a program that gets a datagram of a class which it did not register. The order of the registrations matters
 * to it, too.
 */
#include <stdio.h>
#include <string.h>
#include <infiniband/umad.h>

int main(void)
{
	static unsigned char oui[3] = { 0x00, 0x14, 0x05 };
	long mask[16 / sizeof(long)] = { 1 << 1 };
	union { char room[2048]; long align; } buffer;
	int port, agent, length;

	umad_init();
	port = umad_open_port(NULL, 0);
	agent = umad_register_oui(port, 0x32, 0, oui, mask);
	umad_register(port, 0x01, 1, 0, NULL);
	umad_register(port, 0x81, 1, 0, NULL);
	if (agent < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		unsigned char *mad = umad_get_mad(buffer.room);

		length = 256;
		if (umad_recv(port, buffer.room, &length, 20000) != agent || mad[1] != 0x32)
			continue;
		mad[3] = 0x81;
		strcpy((char *)mad + 40, "responder.test");
		umad_send(port, agent, buffer.room, 256, 0, 0);
	}
}
