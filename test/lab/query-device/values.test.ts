/** Values that no table knows yet: the number is always there, and nothing is lost. */
import { describe, expect, it } from 'vitest';
import { RELEASE } from '../support/generation.ts';
import { deviceOf, lab } from '../support/labs.ts';
import { queryDevice, rdmatool } from '../support/rdmatool.ts';

const ALL = 0xffffffff;

const port = {
  query_port: {
    state: 9,
    phys_state: 14,
    link_layer: 7,
    max_mtu: 9,
    active_mtu: 6,
    max_vl_num: 200,
    active_width: 32,
    active_speed: 200,
    active_speed_ex: 512,
    port_cap_flags: ALL,
    port_cap_flags2: 0xffff,
    flags: 0xff,
    gid_tbl_len: 1,
    pkey_tbl_len: 1,
    sm_sl: 15,
    subnet_timeout: 31,
  },
  gids: [{}],
  pkeys: [0x7fff],
};
const unknown = {
  extends: 'efa2',
  query_device: {
    device_cap_flags: ALL,
    atomic_cap: 77,
    fw_ver: '0xffffffffffffffff',
    page_size_cap: 0,
    local_ca_ack_delay: 255,
  },
  query_device_ex: {
    device_cap_flags_ex: '0xffffffffffffffff',
    raw_packet_caps: ALL,
    odp_caps: {
      general_caps: '0xffffffffffffffff',
      per_transport_caps: { rc_odp_caps: ALL, uc_odp_caps: 0x80000000, ud_odp_caps: 0x1 },
    },
    xrc_odp_caps: ALL,
    tm_caps: { flags: ALL, max_num_tags: 1 },
    rss_caps: { supported_qpts: ALL },
  },
  ports: [port],
};

/** From rdma-core 49 on libibverbs has the wide code. */
const SPEED = RELEASE >= 49 ? 512 : 200;

/** What libefa says of a card whose every capability bit is set: the bits that it has heard of. */
const EFA_CAPS = [
  [65, 0x7f],
  [59, 0x3f],
  [52, 0x1f],
  [46, 0x0f],
  [43, 0x07],
] as const;

const place = () => lab({ devices: [deviceOf('rdmap0s6', unknown)] });

describe.concurrent('unknown codes of a port', () => {
  it('are numbers without a name in the document', async () => {
    const { status, document } = await queryDevice([], { lab: await place() });
    expect(status).toBe(0);
    expect(document.devices[0]?.ports[0]).toMatchObject({
      state: { value: 9, name: null },
      phys_state: { value: 14, name: null },
      link_layer: { value: 7, name: null },
      max_mtu: { value: 9, name: null },
      active_mtu: { value: 6, name: null },
      max_vl_num: { value: 200, name: null },
      active_width: { value: 32, name: null },
      active_speed: { value: 200, name: null },
      speed: { value: SPEED, name: null },
      rate_gbps: null,
      unavailable: { rate_gbps: `width code 32 and speed code ${SPEED} are not known` },
    });
  });

  it('stand with their numbers in both tables', async () => {
    const { stdout: short } = await rdmatool(['query-device'], { lab: await place() });
    expect(short).toContain('unknown (9)');
    expect(short).toContain('unknown (14)');
    expect(short).toContain('width code 32');
    expect(short).toContain(`speed code ${SPEED}`);
    expect(short).toContain('link layer unknown (7)');
    const { stdout: long } = await rdmatool(['query-device', '-v'], { lab: await place() });
    for (const line of [
      /^ {4}state +unknown \(9\)$/m,
      /^ {4}phys_state +unknown \(14\)$/m,
      /^ {4}active_width +unknown \(32\)$/m,
      /^ {4}active_speed +unknown \(200\)$/m,
      /^ {4}link_layer +unknown \(7\)$/m,
      /^ {4}active_mtu +unknown \(6\)$/m,
    ]) {
      expect(long).toMatch(line);
    }
  });

  it('do not trouble list', async () => {
    const outcome = await rdmatool(['list'], { lab: await place() });
    expect(outcome.status).toBe(0);
    // From rdma-core 62 on the driver tells the speed itself.
    const rate = RELEASE >= 62 ? '100 Gb/s' : `width code 32 speed code ${SPEED}`;
    expect(outcome.stdout).toMatch(new RegExp(`^rdmap0s6 .* \\? +\\? +${rate} +- +uverbs0$`, 'm'));
  });
});

describe.concurrent('unknown bits', () => {
  it('stay, in hexadecimal, beside the names of those that are known', async () => {
    const { document } = await queryDevice([], { lab: await place() });
    const [device] = document.devices;
    expect(device?.attributes?.device_cap_flags).toMatchObject({
      value: '0xffffffff',
      unknown: '0xd8498000',
    });
    expect(device?.attributes?.device_cap_flags.flags).toContain('MANAGED_FLOW_STEERING');
    expect(device?.attributes_ex?.device_cap_flags_ex.value).toBe('0xffffffffffffffff');
    for (const mask of [
      device?.attributes?.device_cap_flags,
      device?.attributes_ex?.device_cap_flags_ex,
      device?.attributes_ex?.odp_caps.general_caps,
      device?.attributes_ex?.raw_packet_caps,
      device?.attributes_ex?.tm_caps.flags,
      device?.attributes_ex?.rss_caps.supported_qpts,
      device?.ports[0]?.port_cap_flags2,
      device?.ports[0]?.flags,
    ]) {
      if (!mask) throw new Error('no mask');
      expect(BigInt(mask.unknown)).toBeGreaterThan(0n);
      expect(mask.flags.length).toBeGreaterThan(0);
      expect(BigInt(mask.unknown) & ~BigInt(mask.value)).toBe(0n);
    }
  });

  it("of an EFA card, in the kernel's numbering, do no harm", async () => {
    const { status, document } = await queryDevice([], {
      lab: await lab({ faults: ['rdmap0s6:caps=0xffffffff'] }),
    });
    expect(status).toBe(0);
    const [, known = 0] = EFA_CAPS.find(([since]) => RELEASE >= since) ?? [];
    // A release to come may have heard of more.
    expect(Number(document.devices[0]?.efa?.device_caps?.value) & 0x7f).toBe(known);
    expect(document.devices[0]?.efa).toMatchObject({
      device_caps: {
        value: expect.any(String),
        flags: expect.arrayContaining(['RDMA_READ', 'CQ_WITH_SGID']),
      },
    });
  });
});

describe.concurrent('extreme values', () => {
  it('are shown without a slip', async () => {
    const { stdout } = await rdmatool(['query-device', '-v'], { lab: await place() });
    expect(stdout).toMatch(/^ {4}page_size_cap +0x0$/m);
    expect(stdout).toMatch(/^ {4}atomic_cap +unknown \(77\)$/m);
    // Beyond what five bits hold there is no time to tell.
    expect(stdout).toMatch(/^ {4}local_ca_ack_delay +255$/m);
    expect(stdout).toMatch(/^ {4}subnet_timeout +31 \(8796 s\)$/m);
    expect(stdout).not.toMatch(/NaN|undefined|Infinity|\[object|e\+/);
  });
});
