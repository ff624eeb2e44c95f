/** Attributes of subnet management: 64 bytes of data. IBTA volume 1, 14.2.5. */
import { LinkWidth, Mtu, PhysState, PortCap, PortCap2, PortState, VlNum } from '../../abi/verbs-codes.ts';
import { bitRecord } from '../../layout/bits.ts';
import {
  DownState,
  LinkSpeedActive,
  LinkSpeedExtActive,
  LinkSpeeds,
  LinkSpeedsExt,
  LinkWidths,
  NodeType,
  SmState,
} from '../codes.ts';
import {
  flags,
  guid,
  guids,
  hex,
  hexes,
  identifier,
  named,
  number,
  numbers,
  records,
  text,
  wideHex,
} from '../field.ts';

const DATA = 64;

export const nodeDescription = bitRecord('NodeDescription', DATA, {
  node_description: text(0, 64, 'what the administrator calls the node'),
});

/** Fields of a NodeInfo that begins at a bit, in the order of the component mask. */
export const nodeInfoFields = (base: number) =>
  ({
    base_version: number(base, 8, 'version of the datagram format'),
    class_version: number(base + 8, 8, 'version of the subnet management class'),
    node_type: named(base + 16, 8, NodeType, 'kind of node'),
    num_ports: number(base + 24, 8, 'physical ports'),
    system_image_guid: guid(base + 32, 'GUID of the system that the node is part of'),
    node_guid: guid(base + 96, 'GUID of the node'),
    port_guid: guid(base + 160, 'GUID of the port that answered'),
    partition_cap: number(base + 224, 16, 'entries of the P_Key table'),
    device_id: identifier(base + 240, 16, "the vendor's number of the device"),
    revision: identifier(base + 256, 32, "the vendor's number of the revision"),
    local_port_num: number(base + 288, 8, 'port that the request came in by'),
    vendor_id: identifier(base + 296, 24, 'the vendor, as an OUI'),
  }) as const;

export const nodeInfo = bitRecord('NodeInfo', DATA, nodeInfoFields(0));

/** Fields of a SwitchInfo that begins at a bit. */
export const switchInfoFields = (base: number) =>
  ({
    linear_fdb_cap: number(base, 16, 'entries that the linear forwarding table can hold'),
    random_fdb_cap: number(base + 16, 16, 'entries that the random forwarding table can hold'),
    multicast_fdb_cap: number(base + 32, 16, 'entries that the multicast forwarding table can hold'),
    linear_fdb_top: number(base + 48, 16, 'highest LID in the linear forwarding table'),
    default_port: number(base + 64, 8, 'where packets of unknown unicast LIDs go'),
    default_multicast_primary_port: number(base + 72, 8, 'where packets of unknown multicast LIDs go'),
    default_multicast_not_primary_port: number(
      base + 80,
      8,
      'where they go that came in by the primary port',
    ),
    lifetime_value: number(base + 88, 5, 'how long a packet may stay, 4.096 us x 2^n; above 19: for ever'),
    port_state_change: number(base + 93, 1, '1: the state of a port has changed'),
    optimized_sl_to_vl_mapping_programming: number(
      base + 94,
      2,
      'whether tables can be set for many ports at once',
    ),
    lids_per_port: number(base + 96, 16, 'LIDs that can be assigned to a port'),
    partition_enforcement_cap: number(base + 112, 16, 'entries of the partition table of each port'),
    inbound_enforcement_cap: number(base + 128, 1, '1: partitions are enforced on arrival'),
    outbound_enforcement_cap: number(base + 129, 1, '1: partitions are enforced on departure'),
    filter_raw_inbound_cap: number(base + 130, 1, '1: raw packets can be dropped on arrival'),
    filter_raw_outbound_cap: number(base + 131, 1, '1: raw packets can be dropped on departure'),
    enhanced_port0: number(base + 132, 1, '1: port 0 is a whole port'),
    multicast_fdb_top: hex(base + 144, 16, 'highest multicast LID in the table; 0xbfff: none'),
  }) as const;

export const switchInfo = bitRecord('SwitchInfo', DATA, switchInfoFields(0));

export const guidInfo = bitRecord('GUIDInfo', DATA, {
  guids: guids(0, 8, 'GUIDs of the port: eight of the block that the modifier names'),
});

/** Fields of a PortInfo that begins at a bit, in the order of the component mask. */
export const portInfoFields = (base: number) =>
  ({
    m_key: wideHex(base, 'management key of the port'),
    gid_prefix: wideHex(base + 64, 'upper half of the GIDs of the port'),
    lid: number(base + 128, 16, 'base LID of the port'),
    master_sm_lid: number(base + 144, 16, 'LID of the subnet manager'),
    capability_mask: flags(base + 160, 32, PortCap, 'what the port can do'),
    diag_code: hex(base + 192, 16, 'diagnosis, 0: well'),
    m_key_lease_period: number(
      base + 208,
      16,
      'seconds that the M_Key holds without its manager, 0: for ever',
    ),
    local_port_num: number(base + 224, 8, 'port that the request came in by'),
    link_width_enabled: flags(base + 232, 8, LinkWidths, 'widths that the link may take'),
    link_width_supported: flags(base + 240, 8, LinkWidths, 'widths that the port can'),
    link_width_active: named(base + 248, 8, LinkWidth, 'width of the link'),
    link_speed_supported: flags(base + 256, 4, LinkSpeeds, 'speeds of a lane that the port can, up to QDR'),
    port_state: named(base + 260, 4, PortState, 'logical state'),
    port_physical_state: named(base + 264, 4, PhysState, 'physical state'),
    link_down_default_state: named(base + 268, 4, DownState, 'where the port goes when the link is lost'),
    m_key_protect_bits: number(base + 272, 2, 'how far the M_Key protects'),
    lmc: number(base + 277, 3, 'low bits of the LID that may vary'),
    link_speed_active: named(base + 280, 4, LinkSpeedActive, 'speed of a lane, up to QDR'),
    link_speed_enabled: flags(
      base + 284,
      4,
      LinkSpeeds,
      'speeds of a lane that the link may take, up to QDR',
    ),
    neighbor_mtu: named(base + 288, 4, Mtu, 'largest payload that the link takes, bytes'),
    master_sm_sl: number(base + 292, 4, 'service level to the subnet manager'),
    vl_cap: named(base + 296, 4, VlNum, 'data virtual lanes of the port'),
    init_type: hex(base + 300, 4, 'what the node asks the manager to keep'),
    vl_high_limit: number(base + 304, 8, 'limit of high priority, units of 4096 bytes'),
    vl_arbitration_high_cap: number(base + 312, 8, 'entries of the high-priority arbitration table'),
    vl_arbitration_low_cap: number(base + 320, 8, 'entries of the low-priority arbitration table'),
    init_type_reply: hex(base + 328, 4, 'what the manager has kept'),
    mtu_cap: named(base + 332, 4, Mtu, 'largest payload that the port takes, bytes'),
    vl_stall_count: number(base + 336, 3, 'packets dropped in a row before a lane stalls'),
    hoq_life: number(base + 339, 5, 'how long a packet may head a queue, 4.096 us x 2^n; above 19: for ever'),
    operational_vls: named(base + 344, 4, VlNum, 'data virtual lanes in use'),
    partition_enforcement_inbound: number(base + 348, 1, '1: partitions are enforced on arrival'),
    partition_enforcement_outbound: number(base + 349, 1, '1: partitions are enforced on departure'),
    filter_raw_inbound: number(base + 350, 1, '1: raw packets are dropped on arrival'),
    filter_raw_outbound: number(base + 351, 1, '1: raw packets are dropped on departure'),
    m_key_violations: number(base + 352, 16, 'datagrams with a wrong M_Key'),
    p_key_violations: number(base + 368, 16, 'packets with a wrong P_Key'),
    q_key_violations: number(base + 384, 16, 'packets with a wrong Q_Key'),
    guid_cap: number(base + 400, 8, 'entries of the GUID table'),
    client_reregister: number(base + 408, 1, '1: clients are asked to subscribe again'),
    multicast_pkey_trap_suppression: number(base + 409, 2, 'whether traps of multicast P_Keys are held back'),
    subnet_timeout: number(base + 411, 5, 'time through the subnet, 4.096 us x 2^n'),
    resp_time_value: number(base + 419, 5, 'time to answer, 4.096 us x 2^n'),
    local_phy_errors: number(base + 424, 4, 'threshold of local physical errors'),
    overrun_errors: number(base + 428, 4, 'threshold of buffer overruns'),
    max_credit_hint: number(base + 432, 16, 'credits that the port may need'),
    link_round_trip_latency: number(base + 456, 24, 'round trip of the link, units of 4 ns'),
    capability_mask2: flags(base + 480, 16, PortCap2, 'what the port can do, continued'),
    link_speed_ext_active: named(base + 496, 4, LinkSpeedExtActive, 'speed of a lane, from FDR'),
    link_speed_ext_supported: flags(
      base + 500,
      4,
      LinkSpeedsExt,
      'speeds of a lane that the port can, from FDR',
    ),
    link_speed_ext_enabled: flags(
      base + 507,
      5,
      LinkSpeedsExt,
      'speeds of a lane that the link may take, from FDR',
    ),
  }) as const;

export const portInfo = bitRecord('PortInfo', DATA, portInfoFields(0));

/** Fields of a P_Key table block that begins at a bit. */
export const pKeyTableFields = (base: number) =>
  ({ p_keys: hexes(base, 32, 16, 'P_Keys; with the top bit full members; 0: empty') }) as const;

export const pKeyTable = bitRecord('P_KeyTable', DATA, pKeyTableFields(0));

export const slToVlMappingTable = bitRecord('SLtoVLMappingTable', DATA, {
  vls: numbers(0, 16, 4, 'virtual lane of each service level'),
});

export const vlArbitrationTable = bitRecord('VLArbitrationTable', DATA, {
  elements: records(
    0,
    32,
    2,
    {
      vl: number(4, 4, 'virtual lane'),
      weight: number(8, 8, 'its share, units of 64 bytes; 0: none'),
    },
    'lanes in turn, each with its weight',
  ),
});

export const linearForwardingTable = bitRecord('LinearForwardingTable', DATA, {
  ports: numbers(0, 64, 8, 'port of each LID of the block; 255: dropped'),
});

export const multicastForwardingTable = bitRecord('MulticastForwardingTable', DATA, {
  port_masks: hexes(0, 32, 16, 'for each multicast LID of the block, a mask of sixteen ports'),
});

/** Fields of an SMInfo that begins at a bit. */
export const smInfoFields = (base: number) =>
  ({
    guid: guid(base, 'port GUID of the subnet manager'),
    sm_key: wideHex(base + 64, 'key of the subnet manager, shown to those who know it'),
    act_count: number(base + 128, 32, 'counts while the manager is at work'),
    priority: number(base + 160, 4, 'the higher becomes master'),
    sm_state: named(base + 164, 4, SmState, 'what the manager is at'),
  }) as const;

export const smInfo = bitRecord('SMInfo', DATA, smInfoFields(0));
