/** The kernel's answers in the RDMA netlink family: which devices there are, their ports and their nodes. */
import { constants } from 'node:os';
import { NldevAttr, NldevCommand, nldevType, RdmaDriverId } from '../../abi/rdma-netlink.ts';
import { LinkLayer } from '../../abi/verbs-codes.ts';
import type { Codec } from '../../layout/codec.ts';
import { u8, u16, u32, u64 } from '../../layout/scalar.ts';
import { struct } from '../../layout/struct.ts';
import type { LabDevice } from './device.ts';
import type { BytesOutput, Call, Reply } from './reply-file.ts';

const { EINVAL, ENODEV, EOPNOTSUPP } = constants.errno;

const attributeHeader = struct('nlattr', { nla_len: u16, nla_type: u16 }, { size: 4 });

function attribute(type: number, content: Uint8Array): Uint8Array {
  const length = attributeHeader.size + content.length;
  const header = attributeHeader.encode({ nla_len: length, nla_type: type });
  return Buffer.concat([header, content, new Uint8Array(-length & 3)]);
}

function integer<T>(type: number, codec: Codec<T>, value: T): Uint8Array {
  const content = new Uint8Array(codec.size);
  codec.write(new DataView(content.buffer), 0, value, codec.type);
  return attribute(type, content);
}

const text = (type: number, value: string): Uint8Array => attribute(type, Buffer.from(`${value}\0`));

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
  integer(NldevAttr.DEV_INDEX, u32, device.node),
  text(NldevAttr.DEV_NAME, device.name),
];

function deviceMessage(device: LabDevice): BytesOutput {
  const { profile } = device;
  const isRoce = profile.ports[0]?.query_port.link_layer === LinkLayer.valueOf('ETHERNET');
  return message(
    ...deviceIdentity(device),
    integer(NldevAttr.PORT_INDEX, u32, profile.ports.length),
    integer(NldevAttr.CAP_FLAGS, u64, BigInt(profile.query_device.device_cap_flags)),
    ...(profile.sysfs.fw_ver === '' ? [] : [text(NldevAttr.FW_VERSION, profile.sysfs.fw_ver)]),
    integer(NldevAttr.NODE_GUID, u64, device.nodeGuid),
    integer(NldevAttr.SYS_IMAGE_GUID, u64, device.sysImageGuid),
    integer(NldevAttr.DEV_NODE_TYPE, u8, Number.parseInt(profile.sysfs.node_type, 10)),
    ...(isRoce ? [text(NldevAttr.DEV_PROTOCOL, 'roce')] : []),
  );
}

function portMessages(device: LabDevice): BytesOutput[] {
  return device.profile.ports.map((port, index) => {
    const [netdev] = port.gids.filter((entry) => entry.netdev !== null);
    return message(
      ...deviceIdentity(device),
      integer(NldevAttr.PORT_INDEX, u32, index + 1),
      integer(NldevAttr.PORT_STATE, u8, port.query_port.state),
      integer(NldevAttr.PORT_PHYS_STATE, u8, port.query_port.phys_state),
      ...(netdev?.netdev
        ? [
            integer(NldevAttr.NDEV_INDEX, u32, netdev.netdev_ifindex),
            text(NldevAttr.NDEV_NAME, netdev.netdev),
          ]
        : []),
    );
  });
}

const nodeMessage = (device: LabDevice): BytesOutput =>
  message(
    integer(NldevAttr.CHARDEV, u64, deviceNumber(device.major, device.minor)),
    integer(NldevAttr.CHARDEV_ABI, u64, BigInt(device.profile.sysfs.abi_version)),
    text(NldevAttr.CHARDEV_NAME, `uverbs${device.node}`),
    integer(
      NldevAttr.UVERBS_DRIVER_ID,
      u32,
      device.profile.provider === 'efa' ? RdmaDriverId.EFA : RdmaDriverId.RXE,
    ),
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
  const ports = devices.map((device) => ({ device, messages: portMessages(device) }));
  const system = message(
    // Shared between network namespaces; memory is copied on fork.
    integer(NldevAttr.SYS_NETNS_MODE, u8, 1),
    integer(NldevAttr.SYS_COPY_ON_FORK, u8, 1),
  );
  return [
    call(NldevCommand.GET, true, [], EINVAL, [{ key: [], outputs: devices.map(deviceMessage) }]),
    call(
      NldevCommand.GET,
      false,
      [NldevAttr.DEV_INDEX],
      EINVAL,
      devices.map((device) => ({ key: [device.node], outputs: [deviceMessage(device)] })),
    ),
    call(
      NldevCommand.PORT_GET,
      true,
      [NldevAttr.DEV_INDEX],
      EINVAL,
      ports.map(({ device, messages }) => ({ key: [device.node], outputs: messages })),
    ),
    call(
      NldevCommand.PORT_GET,
      false,
      [NldevAttr.DEV_INDEX, NldevAttr.PORT_INDEX],
      EINVAL,
      ports.flatMap(({ device, messages }) =>
        messages.map((one, index) => ({ key: [device.node, index + 1], outputs: [one] })),
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
