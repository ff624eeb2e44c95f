/** The kernel's answers in the RDMA netlink family: which devices there are, their ports and their nodes. */
import { constants } from 'node:os';
import { NldevAttr, NldevCommand, nldevType, RdmaDriverId } from '../../abi/rdma-netlink.ts';
import { LinkLayer } from '../../abi/verbs-codes.ts';
import type { LabDevice } from './device.ts';
import type { BytesOutput, Call, Reply } from './reply-file.ts';

const { EINVAL, ENODEV, EOPNOTSUPP } = constants.errno;

const HEADER_SIZE = 4;

/** A `struct nlattr` with its content, padded to 4 bytes. */
function attribute(type: number, size: number, fill: (content: Buffer) => void): Uint8Array {
  const whole = Buffer.alloc((HEADER_SIZE + size + 3) & ~3);
  whole.writeUInt16LE(HEADER_SIZE + size, 0);
  whole.writeUInt16LE(type, 2);
  fill(whole.subarray(HEADER_SIZE));
  return whole;
}

const u8 = (type: number, value: number): Uint8Array =>
  attribute(type, 1, (content) => content.writeUInt8(value));
const u32 = (type: number, value: number): Uint8Array =>
  attribute(type, 4, (content) => content.writeUInt32LE(value));
const u64 = (type: number, value: bigint): Uint8Array =>
  attribute(type, 8, (content) => content.writeBigUInt64LE(value));
/** With its final NUL. */
const text = (type: number, value: string): Uint8Array =>
  attribute(type, Buffer.byteLength(value) + 1, (content) => content.write(value));

/** A text as the key of a reply: its bytes with the final NUL, which must be 8 or fewer, as a number. */
const textKey = (value: string): bigint => Buffer.from(value.padEnd(8, '\0')).readBigUInt64LE();

const message = (...attributes: readonly Uint8Array[]): BytesOutput => ({
  attribute: 0,
  bytes: Buffer.concat(attributes),
});

/** The kernel's huge_encode_dev. */
const deviceNumber = (major: number, minor: number): bigint =>
  BigInt(minor & 0xff) | (BigInt(major) << 8n) | (BigInt(minor & ~0xff) << 12n);

/** Devices have the index of their node. */
const deviceIdentity = (device: LabDevice): Uint8Array[] => [
  u32(NldevAttr.DEV_INDEX, device.node),
  text(NldevAttr.DEV_NAME, device.name),
];

function deviceMessage(device: LabDevice): BytesOutput {
  const { profile } = device;
  const isRoce = profile.ports[0]?.query_port.link_layer === LinkLayer.valueOf('ETHERNET');
  return message(
    ...deviceIdentity(device),
    u32(NldevAttr.PORT_INDEX, profile.ports.length),
    u64(NldevAttr.CAP_FLAGS, BigInt(profile.query_device.device_cap_flags)),
    ...(profile.sysfs.fw_ver === '' ? [] : [text(NldevAttr.FW_VERSION, profile.sysfs.fw_ver)]),
    u64(NldevAttr.NODE_GUID, device.nodeGuid),
    u64(NldevAttr.SYS_IMAGE_GUID, device.sysImageGuid),
    u8(NldevAttr.DEV_NODE_TYPE, Number.parseInt(profile.sysfs.node_type, 10)),
    ...(isRoce ? [text(NldevAttr.DEV_PROTOCOL, 'roce')] : []),
  );
}

function portMessages(device: LabDevice): BytesOutput[] {
  return device.profile.ports.map((port, index) => {
    const [netdev] = port.gids.filter((entry) => entry.netdev !== null);
    return message(
      ...deviceIdentity(device),
      u32(NldevAttr.PORT_INDEX, index + 1),
      u8(NldevAttr.PORT_STATE, port.query_port.state),
      u8(NldevAttr.PORT_PHYS_STATE, port.query_port.phys_state),
      ...(netdev?.netdev
        ? [u32(NldevAttr.NDEV_INDEX, netdev.netdev_ifindex), text(NldevAttr.NDEV_NAME, netdev.netdev)]
        : []),
    );
  });
}

const nodeMessage = (device: LabDevice): BytesOutput =>
  message(
    u64(NldevAttr.CHARDEV, deviceNumber(device.major, device.minor)),
    u64(NldevAttr.CHARDEV_ABI, BigInt(device.profile.sysfs.abi_version)),
    text(NldevAttr.CHARDEV_NAME, `uverbs${device.node}`),
    u32(NldevAttr.UVERBS_DRIVER_ID, device.profile.provider === 'efa' ? RdmaDriverId.EFA : RdmaDriverId.RXE),
  );

/** The answers for all devices of a lab. */
export function netlinkCalls(devices: readonly LabDevice[]): Call[] {
  const call = (
    command: number,
    isDump: boolean,
    keyAttributes: readonly number[],
    otherwise: number,
    replies: readonly Reply[],
  ): Call => ({ object: nldevType(command), method: isDump ? 1 : 0, keyAttributes, otherwise, replies });
  const known = devices.map((device) => ({
    device,
    whole: deviceMessage(device),
    ports: portMessages(device),
  }));
  const system = message(
    // Shared between network namespaces; memory is copied on fork.
    u8(NldevAttr.SYS_NETNS_MODE, 1),
    u8(NldevAttr.SYS_COPY_ON_FORK, 1),
  );
  return [
    call(NldevCommand.GET, true, [], EINVAL, [{ key: [], outputs: known.map(({ whole }) => whole) }]),
    call(
      NldevCommand.GET,
      false,
      [NldevAttr.DEV_INDEX],
      EINVAL,
      known.map(({ device, whole }) => ({ key: [device.node], outputs: [whole] })),
    ),
    call(
      NldevCommand.PORT_GET,
      true,
      [NldevAttr.DEV_INDEX],
      EINVAL,
      known.map(({ device, ports }) => ({ key: [device.node], outputs: ports })),
    ),
    call(
      NldevCommand.PORT_GET,
      false,
      [NldevAttr.DEV_INDEX, NldevAttr.PORT_INDEX],
      EINVAL,
      known.flatMap(({ device, ports }) =>
        ports.map((one, index) => ({ key: [device.node, index + 1], outputs: [one] })),
      ),
    ),
    call(NldevCommand.SYS_GET, false, [], EOPNOTSUPP, [{ key: [], outputs: [system] }]),
    call(
      NldevCommand.GET_CHARDEV,
      false,
      [NldevAttr.CHARDEV_TYPE, NldevAttr.DEV_INDEX],
      ENODEV,
      devices.map((device) => ({ key: [textKey('uverbs'), device.node], outputs: [nodeMessage(device)] })),
    ),
  ];
}
