/** User MADs through libibumad. It turns the new header on, for the whole process. */
import { ibUserMadHdr } from '../abi/umad.ts';
import type { Libibumad, LibibumadPort } from '../native/libibumad.ts';
import type { Umad, UmadChannel } from './backend.ts';
import { readGids } from './port-sysfs.ts';

export const libibumadBackend = (library: Libibumad): Umad => ({
  transport: 'libibumad',
  deviceNames: () => library.deviceNames(),
  device: (name) => library.device(name),
  port: (device, port) => library.port(device, port),
  gids: async (device, port) => readGids(device, port),
  openPort: async (device, port) => channelOf(await library.openPort(device, port)),
});

const channelOf = (port: LibibumadPort): UmadChannel => ({
  // A simulator may have the old one only.
  header: port.headerBytes === ibUserMadHdr.size ? 'new' : 'old',
  register: (registration) => port.register(registration),
  send: (message) => port.send(message),
  sendAsync: (message) => port.sendAsync(message),
  receive: (buffer, waitMs) => port.receive(buffer, waitMs),
  poll: (milliseconds) => port.poll(milliseconds),
  close: () => port.close(),
});
