/**
 * User MADs through /dev/infiniband/umadN itself, without a library: with the old header, which has no P_Key index,
 * or the new one. Kernel: include/uapi/rdma/ib_user_mad.h, drivers/infiniband/core/user_mad.c.
 */
import { constants } from 'node:os';
import { ibUserMadHdr, ibUserMadRegReq, ibUserMadRegReq2, maskBytes, UmadIoctl } from '../abi/umad.ts';
import { isSmp } from '../datagram/headers.ts';
import { Descriptor } from '../native/descriptor.ts';
import { NativeCallError, RefusedFlagsError } from '../native/errors.ts';
import type { HeaderKind, Registration, Umad, UmadChannel } from './backend.ts';
import { readDevice, readGids, readNodes, readPort } from './port-sysfs.ts';
import { headerBytes } from './user-header.ts';

const DIRECTORY = '/dev/infiniband';
const { EINVAL, EIO, ENOSPC, ENOTTY, EOPNOTSUPP } = constants.errno;
const MOST_OLD_OUI = 0xffffff;

export const deviceBackend = (header: HeaderKind): Umad => ({
  transport: 'device',
  deviceNames: async () => [...new Set((readNodes() ?? []).map(({ device }) => device))],
  device: async (name) => readDevice(name),
  port: async (device, port) => readPort(device, port),
  gids: async (device, port) => readGids(device, port),
  async openPort(device, port) {
    const nodes = readNodes();
    if (nodes === null) throw new NativeCallError('umad_open_port', EOPNOTSUPP);
    const node = nodes.find((each) => each.device === device && each.port === port);
    if (!node) throw new NativeCallError('umad_open_port', EINVAL);
    const descriptor = await Descriptor.open(`${DIRECTORY}/${node.name}`);
    try {
      // The old header is in force until this, and from the first use on for good.
      if (header === 'new') descriptor.ioctl(UmadIoctl.ENABLE_PKEY, null);
    } catch (error) {
      descriptor.close();
      throw error;
    }
    return new DeviceChannel(descriptor, header);
  },
});

/** What a channel does with its descriptor; tests put another in its place. */
export type Device = Pick<
  Descriptor,
  'read' | 'write' | 'writeAsync' | 'ioctl' | 'poll' | 'pollHere' | 'close'
>;

export class DeviceChannel implements UmadChannel {
  readonly #agents: number[] = [];
  readonly #headerBytes: number;

  constructor(
    private readonly device: Device,
    readonly header: HeaderKind,
  ) {
    this.#headerBytes = headerBytes(header);
  }

  register(registration: Registration): number {
    const agent = this.header === 'old' ? this.#registerOld(registration) : this.#registerNew(registration);
    this.#agents.push(agent);
    return agent;
  }

  #registerOld(registration: Registration): number {
    const { mgmtClass, version, oui, methods, rmpp, flags } = registration;
    if (flags !== 0) throw new RangeError('REGISTER_AGENT, of the old header, has no flags');
    if ((oui ?? 0) > MOST_OLD_OUI) {
      throw new RangeError(
        `REGISTER_AGENT, of the old header, has an OUI of 24 bits; 0x${oui?.toString(16)} has more`,
      );
    }
    const qpn = queuePair(registration);
    if (qpn > 0xff) throw new RangeError(`REGISTER_AGENT has 8 bits for the queue pair; ${qpn} has more`);
    const vendor = oui ?? 0;
    const request = ibUserMadRegReq.encode({
      qpn,
      mgmt_class: mgmtClass,
      mgmt_class_version: version,
      oui: Uint8Array.of(vendor >> 16, (vendor >> 8) & 0xff, vendor & 0xff),
      method_mask: maskBytes(methods),
      rmpp_version: rmpp,
    });
    this.device.ioctl(UmadIoctl.REGISTER_AGENT, request);
    return ibUserMadRegReq.decode(request).id;
  }

  #registerNew(registration: Registration): number {
    const { mgmtClass, version, oui, methods, rmpp, flags } = registration;
    const request = ibUserMadRegReq2.encode({
      qpn: queuePair(registration),
      mgmt_class: mgmtClass,
      mgmt_class_version: version,
      flags,
      oui: oui ?? 0,
      method_mask: maskBytes(methods),
      rmpp_version: rmpp,
    });
    try {
      this.device.ioctl(UmadIoctl.REGISTER_AGENT2, request);
    } catch (error) {
      if (!(error instanceof NativeCallError)) throw error;
      // Kernels before 3.18, and a simulator.
      if (error.errno === ENOTTY && flags === 0) return this.#registerOld(registration);
      const supported = ibUserMadRegReq2.decode(request).flags;
      if (error.errno === EINVAL && supported !== flags) {
        throw new RefusedFlagsError(error.call, error.errno, supported);
      }
      throw error;
    }
    return ibUserMadRegReq2.decode(request).id;
  }

  send(message: Uint8Array): void {
    this.device.write(message);
  }

  sendAsync(message: Uint8Array): Promise<void> {
    return this.device.writeAsync(message);
  }

  receive(buffer: Uint8Array, waitMs = 0): number | null | { readonly needed: number } {
    if (waitMs > 0 && !this.device.pollHere(waitMs)) return null;
    try {
      const length = this.device.read(buffer);
      if (length === null) return null;
      if (length < this.#headerBytes) throw new NativeCallError('read', EIO);
      return length - this.#headerBytes;
    } catch (error) {
      if (!(error instanceof NativeCallError)) throw error;
      if (error.errno === ENOSPC) {
        // The header and the first segment have come all the same.
        const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
        const needed = view.getUint32(ibUserMadHdr.offsetOf('length'), true);
        if (needed > buffer.length) return { needed: needed - this.#headerBytes };
      }
      throw error;
    }
  }

  poll(milliseconds: number): Promise<boolean> {
    return this.device.poll(milliseconds);
  }

  close(): void {
    for (const agent of this.#agents.splice(0)) {
      const id = new Uint8Array(4);
      new DataView(id.buffer).setUint32(0, agent, true);
      try {
        this.device.ioctl(UmadIoctl.UNREGISTER_AGENT, id);
      } catch (error) {
        // A device that has gone has taken its agents along.
        if (!(error instanceof NativeCallError)) throw error;
      }
    }
    this.device.close();
  }
}

const queuePair = ({ qpn, mgmtClass }: Registration): number => qpn ?? (isSmp(mgmtClass) ? 0 : 1);
