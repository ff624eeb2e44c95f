/** The kernel's answers for a device, as its profile and its faults make them. */
import { constants } from 'node:os';
import {
  efaAllocPdResp,
  efaAllocUcontextResp,
  efaCreateAhResp,
  efaExQueryDeviceResp,
} from '../../abi/efa-kernel.ts';
import { guid } from '../../abi/ib-types.ts';
import {
  ibUverbsExQueryDeviceResp,
  ibUverbsGidEntry,
  ibUverbsQueryDeviceResp,
  ibUverbsQueryPortRespEx,
  ibUverbsRegMrResp,
  UverbsAsyncEventMethod,
  UverbsAttr,
  UverbsDeviceMethod,
  UverbsObject,
  UverbsWriteCommand,
} from '../../abi/uverbs.ts';
import { GidType } from '../../abi/verbs-codes.ts';
import type { Codec } from '../../layout/codec.ts';
import { u32, u64 } from '../../layout/scalar.ts';
import type { LabDevice } from './device.ts';
import type { DeviceFaults } from './faults.ts';
import type { GidProfile, GidTypeName, PortProfile, Profile } from './profile.ts';
import type { BytesOutput, Call, Reply, ReplyDevice } from './reply-file.ts';

const { EACCES, EINVAL, ENODATA, ENOENT, ENOSPC, EOPNOTSUPP, EPERM, EROFS } = constants.errno;

/** The node and the answers of a device. */
export function replyDevice(device: LabDevice): ReplyDevice {
  const { faults } = device;
  const open = faults.open ?? 0;
  // access(2) asks for permission only: it knows nothing of what a driver may refuse later.
  const isPermission = [EACCES, EPERM, EROFS].includes(open);
  return {
    node: device.node,
    major: device.major,
    minor: device.minor,
    mode: faults.mode ?? (open === EACCES ? 0o600 : 0o666),
    nodeErrno: faults.noNode ? ENOENT : 0,
    accessErrno: isPermission ? open : 0,
    openErrno: open,
    calls: calls(device),
  };
}

/** A method of the device object; a port or index that does not exist is EINVAL. */
const deviceCall = (method: number, keyAttributes: readonly number[], replies: readonly Reply[]): Call => ({
  object: UverbsObject.DEVICE,
  method,
  keyAttributes,
  otherwise: EINVAL,
  replies,
});

function calls(device: LabDevice): Call[] {
  return [
    {
      ...deviceCall(UverbsDeviceMethod.INVOKE_WRITE, [UverbsAttr.WRITE_CMD], writeCommands(device)),
      otherwise: EOPNOTSUPP,
    },
    deviceCall(
      UverbsDeviceMethod.QUERY_GID_ENTRY,
      [UverbsAttr.QUERY_GID_ENTRY_PORT, UverbsAttr.QUERY_GID_ENTRY_GID_INDEX],
      queryGidEntry(device),
    ),
    deviceCall(UverbsDeviceMethod.QUERY_GID_TABLE, [], [queryGidTable(device)]),
    ...sharedCalls(device.profile, device.faults),
  ];
}

const shared = new WeakMap<Profile, Map<string, readonly Call[]>>();

/** The calls whose answers do not tell one device from another of the same profile and faults. */
function sharedCalls(profile: Profile, faults: DeviceFaults): readonly Call[] {
  const ofProfile = shared.get(profile) ?? new Map<string, readonly Call[]>();
  shared.set(profile, ofProfile);
  const key = `${faults.context} ${faults.delayUs} ${faults.queryPort}`;
  const known = ofProfile.get(key) ?? makeSharedCalls(profile, faults);
  ofProfile.set(key, known);
  return known;
}

function makeSharedCalls(profile: Profile, faults: DeviceFaults): Call[] {
  const knowsSpeed = profile.ports.some((port) => port.speed !== null);
  const context = contextOutputs(
    profile,
    UverbsAttr.QUERY_CONTEXT_NUM_COMP_VECTORS,
    UverbsAttr.QUERY_CONTEXT_CORE_SUPPORT,
  );
  return [
    deviceCall(UverbsDeviceMethod.GET_CONTEXT, [], [getContext(profile, faults)]),
    deviceCall(UverbsDeviceMethod.QUERY_CONTEXT, [], [{ key: [], outputs: context }]),
    deviceCall(
      UverbsDeviceMethod.QUERY_PORT,
      [UverbsAttr.QUERY_PORT_PORT_NUM],
      queryPort(profile, faults.queryPort),
    ),
    // A kernel without the call does not have its number either.
    ...(knowsSpeed
      ? [
          deviceCall(
            UverbsDeviceMethod.QUERY_PORT_SPEED,
            [UverbsAttr.QUERY_PORT_SPEED_PORT_NUM],
            queryPortSpeed(profile),
          ),
        ]
      : []),
    deviceCall(UverbsDeviceMethod.QUERY_COMP_CNTR_CAPS, [], [queryCompCntrCaps(profile)]),
    {
      object: UverbsObject.ASYNC_EVENT,
      method: UverbsAsyncEventMethod.ALLOC,
      keyAttributes: [],
      otherwise: EINVAL,
      replies: [
        { key: [], outputs: [{ attribute: UverbsAttr.ASYNC_EVENT_ALLOC_FD_HANDLE, descriptor: true }] },
      ],
    },
  ];
}

/** One integer as an output. */
function value<T>(attribute: number, codec: Codec<T>, content: T): BytesOutput {
  const bytes = new Uint8Array(codec.size);
  codec.write(new DataView(bytes.buffer), 0, content, codec.type);
  return { attribute, bytes };
}

/** Ports are counted from 1. */
const byPort = (profile: Profile, reply: (port: PortProfile) => Omit<Reply, 'key'>): Reply[] =>
  profile.ports.map((port, index) => ({ key: [index + 1], ...reply(port) }));

// ---------------------------------------------------------------------------------------------- the context

function contextOutputs(
  { context }: Profile,
  vectorsAttribute: number,
  supportAttribute: number,
): BytesOutput[] {
  return [
    value(vectorsAttribute, u32, context.num_comp_vectors),
    value(supportAttribute, u64, context.core_support),
  ];
}

function getContext(profile: Profile, faults: DeviceFaults): Reply {
  const delay = { key: [], delayUs: faults.delayUs ?? 0 };
  if (faults.context !== undefined) return { ...delay, errno: faults.context };
  const outputs = contextOutputs(
    profile,
    UverbsAttr.GET_CONTEXT_NUM_COMP_VECTORS,
    UverbsAttr.GET_CONTEXT_CORE_SUPPORT,
  );
  if (profile.provider === 'efa') {
    outputs.push({
      attribute: UverbsAttr.UHW_OUT,
      bytes: efaAllocUcontextResp.encode(profile.efa.alloc_ucontext),
    });
  }
  return { ...delay, outputs };
}

// ----------------------------------------------------------------------------- commands of the older kind

/** Commands that INVOKE_WRITE carries. */
const writeCommands = (device: LabDevice): Reply[] => [
  ...queryDevice(device),
  ...(device.profile.provider === 'efa' ? EFA_OBJECTS : SOFT_OBJECTS),
];

/** A core response that the kernel does not shorten. libibverbs probes for INVOKE_WRITE by leaving it out. */
const whole = (bytes: Uint8Array): BytesOutput => ({
  attribute: UverbsAttr.CORE_OUT,
  bytes,
  atLeast: { bytes: bytes.length, errno: ENOSPC },
});

/** Making and unmaking objects. What is made is a number and nothing behind it. */
function objectCommands(driverNumbers: boolean): Reply[] {
  const made = (command: number, driver: Uint8Array): Reply => ({
    key: [command],
    outputs: [
      { ...whole(new Uint8Array(u32.size)), serialWords: [0] },
      // The driver's own number of the object stands in word 1.
      ...(driverNumbers ? [{ attribute: UverbsAttr.UHW_OUT, bytes: driver, serialWords: [1] }] : []),
    ],
  });
  return [
    made(UverbsWriteCommand.ALLOC_PD, efaAllocPdResp.encode({})),
    { key: [UverbsWriteCommand.DEALLOC_PD] },
    made(UverbsWriteCommand.CREATE_AH, efaCreateAhResp.encode({})),
    { key: [UverbsWriteCommand.DESTROY_AH] },
    {
      key: [UverbsWriteCommand.REG_MR],
      // Handle, lkey and rkey.
      outputs: [{ ...whole(ibUverbsRegMrResp.encode({})), serialWords: [0, 1, 2] }],
    },
    { key: [UverbsWriteCommand.DEREG_MR] },
  ];
}

const EFA_OBJECTS = objectCommands(true);
const SOFT_OBJECTS = objectCommands(false);

/** The responses of both query commands for a profile, but for the GUIDs. */
function queryDeviceBytes(profile: Profile): Uint8Array {
  const known = encodedQueries.get(profile);
  if (known) return known;
  const base = { ...profile.query_device, phys_port_cnt: profile.phys_port_cnt };
  const bytes = ibUverbsExQueryDeviceResp.encode({ ...profile.query_device_ex, base });
  encodedQueries.set(profile, bytes);
  return bytes;
}

const encodedQueries = new WeakMap<Profile, Uint8Array>();

const RESPONSE_LENGTH = ibUverbsExQueryDeviceResp.offsetOf('response_length');
const NODE_GUID = ibUverbsQueryDeviceResp.offsetOf('node_guid');
const SYS_IMAGE_GUID = ibUverbsQueryDeviceResp.offsetOf('sys_image_guid');

function queryDevice(device: LabDevice): Reply[] {
  const { profile, faults } = device;
  // The older response is the beginning of the extended one.
  const bytes = queryDeviceBytes(profile).slice();
  const view = new DataView(bytes.buffer);
  guid.write(view, NODE_GUID, device.nodeGuid, 'node_guid');
  guid.write(view, SYS_IMAGE_GUID, device.sysImageGuid, 'sys_image_guid');
  const extended: BytesOutput = {
    attribute: UverbsAttr.CORE_OUT,
    bytes,
    atLeast: { bytes: RESPONSE_LENGTH + u32.size, errno: ENOSPC },
    lengthAt: RESPONSE_LENGTH,
  };
  const isEfa = profile.provider === 'efa';
  const good: Reply = {
    key: [UverbsWriteCommand.EX_QUERY_DEVICE],
    outputs: isEfa ? [extended, efaQueryDevice(profile, faults.caps)] : [extended],
  };
  const older: Reply = {
    key: [UverbsWriteCommand.QUERY_DEVICE],
    outputs: [whole(bytes.subarray(0, ibUverbsQueryDeviceResp.size))],
  };
  if (faults.queryDevice === undefined) return [good, older];
  const bad = { errno: faults.queryDevice };
  return [
    // libefa asks once while it opens the device; that is to succeed.
    ...(isEfa ? [{ ...good, uses: 1 }] : []),
    { ...good, ...bad },
    { ...older, ...bad },
  ];
}

function efaQueryDevice({ efa }: Profile, caps: number | undefined): BytesOutput {
  const device_caps = caps ?? efa.query_device.device_caps;
  return {
    attribute: UverbsAttr.UHW_OUT,
    bytes: efaExQueryDeviceResp.encode({ ...efa.query_device, device_caps }),
  };
}

// -------------------------------------------------------------------------------------------- ports and GIDs

function queryPort(profile: Profile, errno: number | undefined): Reply[] {
  return byPort(profile, ({ query_port: { port_cap_flags2, active_speed_ex, ...legacy_resp } }) => {
    if (errno !== undefined) return { errno };
    const bytes = ibUverbsQueryPortRespEx.encode({ legacy_resp, port_cap_flags2, active_speed_ex });
    return { outputs: [{ attribute: UverbsAttr.QUERY_PORT_RESP, bytes }] };
  });
}

function queryPortSpeed(profile: Profile): Reply[] {
  return byPort(profile, ({ speed }) =>
    speed === null
      ? { errno: EOPNOTSUPP }
      : { outputs: [value(UverbsAttr.QUERY_PORT_SPEED_RESP, u64, speed)] },
  );
}

const GID_TYPE_CODES: { readonly [name in GidTypeName]: number } = {
  IB: GidType.valueOf('IB'),
  'RoCE v1': GidType.valueOf('ROCE_V1'),
  'RoCE v2': GidType.valueOf('ROCE_V2'),
};

const gidEntry = (device: LabDevice, port: number, entry: GidProfile): Uint8Array =>
  ibUverbsGidEntry.encode({
    gid: device.gid(port, entry),
    gid_index: entry.index,
    port_num: port,
    gid_type: GID_TYPE_CODES[entry.type],
    netdev_ifindex: entry.netdev_ifindex,
  });

function queryGidEntry(device: LabDevice): Reply[] {
  const { gidEntry: errno } = device.faults;
  return device.profile.ports.flatMap((port, portIndex) => {
    const number = portIndex + 1;
    const valid = new Map(port.gids.map((entry) => [entry.index, entry]));
    return Array.from({ length: port.query_port.gid_tbl_len }, (_, index): Reply => {
      const key = [number, index];
      const entry = valid.get(index);
      if (errno !== undefined) return { key, errno };
      if (entry === undefined) return { key, errno: ENODATA };
      const bytes = gidEntry(device, number, entry);
      return { key, outputs: [{ attribute: UverbsAttr.QUERY_GID_ENTRY_RESP_ENTRY, bytes }] };
    });
  });
}

/** The valid entries of all ports. */
function queryGidTable(device: LabDevice): Reply {
  const { gidTable: errno } = device.faults;
  if (errno !== undefined) return { key: [], errno };
  const entries = device.profile.ports.flatMap((port, index) =>
    [...port.gids].sort((a, b) => a.index - b.index).map((entry) => gidEntry(device, index + 1, entry)),
  );
  const bytes = Buffer.concat(entries);
  return {
    key: [],
    outputs: [
      {
        attribute: UverbsAttr.QUERY_GID_TABLE_RESP_ENTRIES,
        bytes,
        atLeast: { bytes: bytes.length, errno: EINVAL },
      },
      value(UverbsAttr.QUERY_GID_TABLE_RESP_NUM_ENTRIES, u64, BigInt(entries.length)),
    ],
  };
}

function queryCompCntrCaps({ comp_cntr_caps: caps }: Profile): Reply {
  if (caps === null) return { key: [], errno: EOPNOTSUPP };
  return {
    key: [],
    outputs: [
      value(UverbsAttr.QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, u32, caps.max_counters),
      value(UverbsAttr.QUERY_COMP_CNTR_CAPS_MAX_VALUE, u64, caps.max_value),
      value(UverbsAttr.QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, u32, caps.supported_qp_attach_ops),
    ],
  };
}
