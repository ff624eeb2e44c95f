/** Profiles as JSON files. */
import { fullGidText, guidText, parseGid } from '../../abi/ib-types.ts';
import { u64 } from '../../layout/scalar.ts';
import {
  allocUcontextLayout,
  compCntrCapsLayout,
  contextLayout,
  efaQueryDeviceLayout,
  GID_TYPES,
  type GidProfile,
  type GuidValue,
  NETDEV_STATES,
  type PciProfile,
  type PortProfile,
  type Profile,
  queryDeviceExLayout,
  queryDeviceLayout,
  queryPortExLayout,
  queryPortLayout,
  type Source,
  type SysfsProfile,
} from './profile.ts';
import {
  badProfile,
  codecFormat,
  countersFormat,
  element,
  type Format,
  inside,
  integerFormat,
  isObject,
  layoutFormat,
  leaf,
  listFormat,
  nullable,
  objectFormat,
  type Place,
  textFormat,
  wordFormat,
} from './profile-format.ts';

const NO_CONTROL_CHARACTERS = /^[^\x00-\x1f\x7f]{0,63}$/;
const FILE_NAME = /^[A-Za-z0-9_][\w.@-]{0,62}$/;

const parseGuid = (text: string): bigint => BigInt(`0x${text.replaceAll(':', '')}`);

/** `auto`, the text that sysfs prints, or 0. */
const guidFormat: Format<GuidValue> = leaf(
  (json, place) => {
    if (json === 'auto') return json;
    if (json === 0) return 0n;
    if (typeof json === 'string' && /^([0-9a-f]{4}:){3}[0-9a-f]{4}$/i.test(json)) return parseGuid(json);
    throw badProfile(
      place,
      `${JSON.stringify(json)} is not a GUID, such as "0242:acff:fe11:0002", nor "auto"`,
    );
  },
  (value) => (value === 'auto' ? value : guidText(value)),
);

const gidFormat: Format<GidProfile['gid']> = leaf(
  (json, place) => {
    if (json === 'auto' || json === 'auto-ipv4') return json;
    const gid = typeof json === 'string' ? parseGid(json) : null;
    if (gid === null) {
      throw badProfile(
        place,
        `${JSON.stringify(json)} is not a GID, such as "fe80::1", nor "auto" or "auto-ipv4"`,
      );
    }
    return gid;
  },
  (value) => (typeof value === 'string' ? value : fullGidText(value)),
);

const NO_GID: GidProfile = {
  index: 0,
  gid: 'auto',
  type: 'IB',
  netdev: null,
  netdev_ifindex: 0,
  netdev_state: 'up',
};

const gidEntryFormat = objectFormat<GidProfile>({
  index: integerFormat(0, 65535),
  gid: gidFormat,
  type: wordFormat(GID_TYPES),
  netdev: nullable(textFormat(FILE_NAME, 'ens5'), ''),
  netdev_ifindex: integerFormat(0, 2 ** 31 - 1),
  netdev_state: nullable(wordFormat(NETDEV_STATES), 'up'),
});

/** GIDs, in order of their index; one without an index follows the one before it. */
const gidsFormat: Format<readonly GidProfile[]> = {
  read(json, _base, place) {
    if (!Array.isArray(json)) throw badProfile(place, 'a list of GIDs is needed here');
    let next = 0;
    const seen = new Set<number>();
    return json.map((entry: unknown, position) => {
      const at = element(place, position);
      const gid = gidEntryFormat.read(entry, { ...NO_GID, index: next }, at);
      if (seen.has(gid.index)) throw badProfile(inside(at, 'index'), `the index ${gid.index} is taken`);
      seen.add(gid.index);
      next = gid.index + 1;
      return gid;
    });
  },
  print: (gids, place) => gids.map((gid, position) => gidEntryFormat.print(gid, element(place, position))),
};

const portAttributes = layoutFormat(queryPortLayout);
const portAttributesEx = layoutFormat(queryPortExLayout);

/** Both structures of ib_uverbs_query_port_resp_ex as one object. */
const queryPortFormat: Format<PortProfile['query_port']> = {
  read(json, base, place) {
    const newer = new Set<string>(queryPortExLayout.members.map(({ name }) => name));
    const split = (wanted: boolean): unknown =>
      isObject(json)
        ? Object.fromEntries(Object.entries(json).filter(([key]) => newer.has(key) === wanted))
        : json;
    const older = portAttributes.read(split(false), base, place);
    // The kernel has the speed once, and hands as much of it as fits to those who know only the narrow field.
    const isSet = isObject(json) && 'active_speed' in json;
    const withOlder = { ...base, ...older, ...(isSet ? { active_speed_ex: older.active_speed } : {}) };
    return { ...withOlder, ...portAttributesEx.read(split(true), withOlder, place) };
  },
  print: (value, place) => {
    const [older, newer] = [portAttributes.print(value, place), portAttributesEx.print(value, place)];
    return isObject(older) && isObject(newer) ? { ...older, ...newer } : older;
  },
};

const NO_PORT: PortProfile = {
  query_port: { ...queryPortLayout.zero(), ...queryPortExLayout.zero() },
  speed: null,
  gids: [],
  pkeys: [],
  hw_counters: new Map(),
};

const portFormat = objectFormat<PortProfile>({
  query_port: queryPortFormat,
  speed: nullable(codecFormat(u64, 'speed'), 0n),
  gids: gidsFormat,
  pkeys: listFormat(integerFormat(0, 0xffff, 'pkey'), 0, 65535),
  hw_counters: countersFormat,
});

const NO_PCI: PciProfile = {
  address: 'auto',
  vendor: 0,
  device: 0,
  subsystem_vendor: 0,
  subsystem_device: 0,
  class: 0,
};

const pciFormat = objectFormat<PciProfile>({
  address: textFormat(/^(auto|[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7])$/, '0000:10:1b.0'),
  vendor: integerFormat(0, 0xffff, 'vendor'),
  device: integerFormat(0, 0xffff, 'device'),
  subsystem_vendor: integerFormat(0, 0xffff, 'vendor'),
  subsystem_device: integerFormat(0, 0xffff, 'device'),
  class: integerFormat(0, 0xffffff, 'class'),
});

const lineFormat = textFormat(NO_CONTROL_CHARACTERS, 'a line of at most 63 characters');

const sysfsFormat = objectFormat<SysfsProfile>({
  node_type: textFormat(/^[1-7]: [\w ]+$/, '7: unspecified'),
  node_desc: lineFormat,
  fw_ver: lineFormat,
  hca_type: nullable(lineFormat, ''),
  board_id: nullable(lineFormat, ''),
  numa_node: integerFormat(-1, 1023),
  netdevs: listFormat(textFormat(FILE_NAME, 'ens5'), '', 64),
  driver: textFormat(FILE_NAME, 'efa'),
  abi_version: integerFormat(0, 2 ** 31 - 1),
  pci: nullable(pciFormat, NO_PCI),
});

const profileFormat = objectFormat<Omit<Profile, 'sources'>>({
  title: lineFormat,
  provider: wordFormat(['efa', 'rxe']),
  node_guid: guidFormat,
  sys_image_guid: guidFormat,
  phys_port_cnt: integerFormat(0, 255),
  query_device: layoutFormat(queryDeviceLayout),
  query_device_ex: layoutFormat(queryDeviceExLayout),
  context: layoutFormat(contextLayout),
  comp_cntr_caps: nullable(layoutFormat(compCntrCapsLayout), compCntrCapsLayout.zero()),
  efa: objectFormat({
    alloc_ucontext: layoutFormat(allocUcontextLayout),
    query_device: layoutFormat(efaQueryDeviceLayout),
  }),
  ports: listFormat(portFormat, NO_PORT, 255),
  hw_counters: countersFormat,
  sysfs: sysfsFormat,
});

/** A profile of zeros. */
export const EMPTY_PROFILE: Profile = {
  title: '',
  provider: 'efa',
  node_guid: 'auto',
  sys_image_guid: 0n,
  phys_port_cnt: 0,
  query_device: queryDeviceLayout.zero(),
  query_device_ex: queryDeviceExLayout.zero(),
  context: contextLayout.zero(),
  comp_cntr_caps: null,
  efa: { alloc_ucontext: allocUcontextLayout.zero(), query_device: efaQueryDeviceLayout.zero() },
  ports: [],
  hw_counters: new Map(),
  sysfs: {
    node_type: '7: unspecified',
    node_desc: '',
    fw_ver: '',
    hca_type: null,
    board_id: null,
    numa_node: -1,
    netdevs: [],
    driver: 'efa',
    abi_version: 1,
    pci: null,
  },
  sources: new Map(),
};

/**
 * A profile from parsed JSON. Keys that it lacks keep the values of `base`.
 * @param file what messages call it
 * @throws LabError that names the key
 */
export function readProfile(json: unknown, base: Profile, file: string): Profile {
  const sources = new Map<string, Source>(base.sources);
  const place: Place = { file, path: '', sources };
  const { sources: _, ...values } = base;
  const profile = { ...profileFormat.read(json, values, place), sources };
  const settled =
    isObject(json) && json['ports'] !== undefined && json['phys_port_cnt'] === undefined
      ? { ...profile, phys_port_cnt: profile.ports.length }
      : profile;
  check(settled, place);
  // Gives each value a source.
  profileFormat.print(settled, place);
  return settled;
}

function check(profile: Profile, place: Place): void {
  if (profile.ports.length === 0) throw badProfile(inside(place, 'ports'), 'a device has at least one port');
  profile.ports.forEach((port, index) => {
    const at = element(inside(place, 'ports'), index);
    const { gid_tbl_len: gids, pkey_tbl_len: pkeys } = port.query_port;
    // The table's entries are files of the lab's sysfs.
    if (gids > 4096)
      throw badProfile(inside(at, 'query_port.gid_tbl_len'), `${gids} is more than the lab has: 4096`);
    if (pkeys > 4096)
      throw badProfile(inside(at, 'query_port.pkey_tbl_len'), `${pkeys} is more than the lab has: 4096`);
    for (const gid of port.gids) {
      if (gid.index >= gids)
        throw badProfile(inside(at, 'gids'), `index ${gid.index} is beyond gid_tbl_len, ${gids}`);
    }
    if (port.pkeys.length > pkeys) {
      throw badProfile(inside(at, 'pkeys'), `${port.pkeys.length} entries; pkey_tbl_len is ${pkeys}`);
    }
  });
}

/** The text of a profile file: readProfile reads it back to an equal profile. */
export function printProfile(profile: Profile): string {
  const { sources, ...values } = profile;
  const json = profileFormat.print(values, { file: '', path: '', sources: new Map(sources) });
  // A value and its source on one line.
  const text = JSON.stringify(json, null, 2).replace(
    /\{\s+"value": ("(?:[^"\\]|\\.)*"|[^,\s]+),\s+"source": "(\w+)"\s+\}/g,
    '{ "value": $1, "source": "$2" }',
  );
  return `${text}\n`;
}
