/** Who talks to whom, and what comes of it: every program of the lab, in both roles. */
import { LEFT, RIGHT } from './addresses.ts';

export const connect = (more: string): string => `rdmatool cm connect ${RIGHT}:7174 --bind ${LEFT} ${more}`;
export const listen = (more: string): string => `rdmatool cm listen ${RIGHT} ${more}`;
const MEGABYTE = 1 << 20;

/** A peer, what it does, and what each of the two must have said and ended with. */
export interface Cell {
  readonly peer: string;
  readonly mode: string;
  readonly server: string;
  readonly client: string;
  readonly serverSays: readonly RegExp[];
  readonly clientSays: readonly RegExp[];
  readonly clientStatus: number;
  /** null: it is ended. */
  readonly serverStatus: number | null;
}

const pinged = (count: number, size: number): readonly RegExp[] => [
  new RegExp(`pings +${count} of ${size} ${size === 1 ? 'byte' : 'bytes'},`),
  new RegExp(`received +${count}\\n`),
  new RegExp(`verified +${count}\\n`),
  /round trip +min [\d.]+ [um]?s, median [\d.]+ [um]?s, p99 [\d.]+ [um]?s, max [\d.]+ [um]?s/,
  /bandwidth +[\d.]+ [kMG]?B\/s/,
];

export const CELLS: readonly Cell[] = [
  {
    peer: 'rping -s',
    mode: '--ping',
    server: `rping -s -a ${RIGHT} -S 1000 -v -C 4`,
    client: connect('--ping 4 --size 1000'),
    // What the server prints is what it has read: our text, whole.
    serverSays: [/rdma-ping-0: /, /rdma-ping-3: [D-Z]/],
    clientSays: pinged(4, 1000),
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'rping -c',
    mode: '--echo',
    server: listen('--echo --count 1'),
    client: `rping -c -a ${RIGHT} -I ${LEFT} -C 3 -S 500 -V`,
    serverSays: [/ESTABLISHED/, /3 pings sent back, 1500 bytes/],
    clientSays: [],
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'rping -s, smaller than the ping',
    mode: '--ping',
    server: `rping -s -a ${RIGHT} -S 64`,
    client: connect('--ping 2 --size 4000'),
    serverSays: [/cq completion failed status 4/],
    clientSays: [/ended the connection|IBV_WC_/, /-S/],
    clientStatus: 1,
    serverStatus: 255,
  },
  {
    peer: 'rdmatool',
    mode: '--ping and --echo, 1 byte',
    server: listen('--echo --count 1'),
    client: connect('--ping 5 --size 1'),
    serverSays: [/5 pings sent back, 5 bytes/],
    clientSays: pinged(5, 1),
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'rdmatool',
    mode: '--ping and --echo, 1 MiB',
    server: listen('--echo --count 1'),
    client: connect(`--ping 1 --size ${MEGABYTE} --timeout 40000`),
    serverSays: [new RegExp(`1 ping sent back, ${MEGABYTE} bytes`)],
    clientSays: pinged(1, MEGABYTE),
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'ucmatose, server',
    mode: '--ping',
    server: `ucmatose -b ${RIGHT} -p 7174 -c 1 -C 4`,
    client: connect('--ping 2'),
    serverSays: [],
    clientSays: [/the peer sent 100 bytes, and a message of rping's protocol has 16/, /ucmatose/],
    clientStatus: 1,
    serverStatus: null,
  },
  {
    peer: 'ucmatose, client',
    mode: '--echo',
    server: listen('--echo --count 1'),
    // It waits for messages that a server of ucmatose would send first.
    client: `timeout 5 ucmatose -s ${RIGHT} -b ${LEFT} -p 7174 -c 1 -C 4`,
    serverSays: [/ESTABLISHED/, /DISCONNECTED .*0 pings sent back, 0 bytes/],
    clientSays: [],
    clientStatus: 124,
    serverStatus: 0,
  },
  {
    peer: 'udaddy, server',
    mode: '--ps udp --ping',
    server: `udaddy -b ${RIGHT} -C 6 -S 200`,
    client: connect('--ps udp --ping 6 --size 200'),
    serverSays: [/data transfers complete/, /return status 0/],
    clientSays: [/sent +6\n/, /received +6\n/, /verified +0 \(the answers carry other bytes/],
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'udaddy, client',
    mode: '--ps udp --echo',
    server: listen('--ps udp --echo --count 1 --hold 2'),
    client: `udaddy -s ${RIGHT} -b ${LEFT} -C 6 -S 200`,
    serverSays: [/6 datagrams sent back, 1200 bytes/],
    clientSays: [/data transfers complete/, /return status 0/],
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'rdmatool',
    mode: '--ps udp --ping and --echo',
    server: listen('--ps udp --echo --count 1 --hold 2'),
    client: connect('--ps udp --ping 8 --size 1024'),
    serverSays: [/8 datagrams sent back, 8192 bytes/],
    clientSays: pinged(8, 1024),
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'udaddy, server',
    mode: '--ping',
    server: `udaddy -b ${RIGHT} -C 2`,
    client: connect('--ping 2'),
    serverSays: [],
    clientSays: [/INVALID_SERVICE_ID/, /nobody listens on that port/],
    clientStatus: 1,
    serverStatus: null,
  },
  {
    peer: 'rping -s',
    mode: '--ps udp --ping',
    server: `rping -s -a ${RIGHT}`,
    client: connect('--ps udp --ping 2'),
    serverSays: [],
    clientSays: [/UNSUPPORTED/, /nobody listens on that port at the peer, in that port space/],
    clientStatus: 1,
    serverStatus: null,
  },
  {
    peer: 'mckey, receiver',
    mode: 'join --send',
    // It looks for datagrams without a pause.
    server: `nice -n 19 mckey -m 239.9.2.1 -b ${RIGHT} -C 5`,
    client: `rdmatool cm join 239.9.2.1 --bind ${LEFT} --send 5`,
    serverSays: [/joined dgid: ::ffff:239\.9\.2\.1/, /data transfers complete/, /return status 0/],
    clientSays: [/GID +::ffff:239\.9\.2\.1\n/, /sent +5\n/, /Q_Key +0x1234567\n/, /leave_multicast/],
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'mckey, receiver',
    mode: 'join --send-only --send',
    server: `nice -n 19 mckey -m 239.9.2.2 -b ${RIGHT} -C 5`,
    client: `rdmatool cm join 239.9.2.2 --bind ${LEFT} --send-only --send 5`,
    serverSays: [/data transfers complete/, /return status 0/],
    // A member that only sends gets nothing, not even its own.
    clientSays: [/to send only/, /sent +5\n/, /received +0\n/],
    clientStatus: 0,
    serverStatus: 0,
  },
  {
    peer: 'mckey, sender',
    mode: 'join --receive',
    server: `rdmatool cm join 239.9.2.3 --bind ${RIGHT} --receive 5 --timeout 40000`,
    client: `mckey -s -m 239.9.2.3 -b ${LEFT} -C 5 -S 300`,
    serverSays: [/received +5\n/, new RegExp(`::ffff:${LEFT} +0 +\\d+ +5 +1500\n`)],
    clientSays: [/return status 0/],
    clientStatus: 0,
    serverStatus: 0,
  },
];
