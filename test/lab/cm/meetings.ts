import { expect } from 'vitest';
import type { Place } from '../roce/tools.ts';
import type { Cell } from './cells.ts';

/** Two programs of the lab that talk to each other. */
export interface Meeting {
  /** Starts first; in shell words. */
  readonly server: string;
  readonly client: string;
}

/** What each of them printed, and how it ended: 124 where it had to be ended. */
export interface Met {
  readonly server: string;
  readonly serverStatus: number;
  readonly client: string;
  readonly clientStatus: number;
}

/** A server of rdmatool says when it is ready; the others are given a second. */
const READY = 'listening|joined|"listening"';
const SERVER_SECONDS = 60;
const CLIENT_SECONDS = 45;

/**
 * Lets them meet in the lab. A client that reads nothing else than its peer ends by itself; a server is given four
 * seconds more, then it is ended.
 */
export async function meet(place: Place, { server, client }: Meeting): Promise<Met> {
  const isOurs = server.startsWith('rdmatool');
  const script = `
    cd $(mktemp -d)
    (timeout -k 5 ${SERVER_SECONDS} ${server} >server.txt 2>server-messages.txt; echo $? >server.status) &
    for i in $(seq 1 100); do
      ${isOurs ? `cat server.txt server-messages.txt | grep -qE '${READY}' && break; sleep 0.3` : 'sleep 1; break'}
    done
    timeout -k 5 ${CLIENT_SECONDS} ${client} >client.txt 2>client-messages.txt; echo $? >client.status
    for i in $(seq 1 40); do [ -s server.status ] && break; sleep 0.25; done
    [ -s server.status ] || { for p in $(pgrep -P $(pgrep -P $! timeout)); do kill -INT $p; done; sleep 2; }
    kill %1 2>/dev/null
    wait
    for f in server.txt server-messages.txt server.status client.txt client-messages.txt client.status; do
      echo "=== $f"; cat $f
    done`;
  const { stdout } = await place.inLab(['bash', '-c', script]);
  const sections = new Map(
    stdout.split(/^=== /m).map((section): [string, string] => {
      const end = section.indexOf('\n');
      return [section.slice(0, end), section.slice(end + 1)];
    }),
  );
  const text = (name: string): string => sections.get(name) ?? '';
  return {
    server: text('server.txt') + text('server-messages.txt'),
    serverStatus: Number(text('server.status') || 'NaN'),
    client: text('client.txt') + text('client-messages.txt'),
    clientStatus: Number(text('client.status') || 'NaN'),
  };
}

/** Lets a cell of the table meet, and holds what they say and how they end against it. */
export async function expectMeeting(place: Place, cell: Cell): Promise<void> {
  const met = await meet(place, cell);
  for (const text of cell.clientSays) expect(met.client).toMatch(text);
  for (const text of cell.serverSays) expect(met.server).toMatch(text);
  expect(met.clientStatus, met.client).toBe(cell.clientStatus);
  if (cell.serverStatus !== null) expect(met.serverStatus, met.server).toBe(cell.serverStatus);
}
