/** Whether the other end of a pipe or socket is still there. poll(2). */
import { pollFunction, pollfd } from './readiness.ts';

const POLLERR = 8;
const POLLHUP = 16;

/** Whether nobody can read any more what is written to the descriptor. Does not wait. */
export function isUnread(fd: number): boolean {
  const fds = pollfd.encode({ fd, events: 0 });
  pollFunction().call(fds, 1, 0);
  return (pollfd.decode(fds).revents & (POLLERR | POLLHUP)) !== 0;
}
