/** EFA: what the cards can do, who drives them, and what cannot be seen from here. */
import { type Check, type Finding, ok, skipped } from './check.ts';
import type { View } from './view.ts';

export const efaDeviceCheck: Check = {
  id: 'efa-device',
  what: 'there is an EFA device',
  purposes: ['efa'],
  needs: ['device'],
  run(view) {
    const { efaNames, names } = view;
    if (efaNames.length > 0) return [ok(null, `EFA devices: ${efaNames.length}`)];
    const fact = `no EFA device: the driver of ${names.join(', ')} is not efa`;
    if (view.purpose !== 'efa') return [skipped(null, fact)];
    return [
      {
        subject: null,
        status: 'failure',
        fact,
        repair:
          'EFA is for EC2 instances: give the instance a network interface of type efa; rdmatool doctor without --for looks at these devices',
      },
    ];
  },
};

export const efaCapabilitiesCheck: Check = {
  id: 'efa-capabilities',
  what: 'what the capability bits of EFA devices say of RDMA read and write',
  purposes: ['efa'],
  needs: ['efa-device', 'libefa', 'open'],
  async run(view) {
    const devices = (await view.devices()).filter(({ name }) => view.efaNames.includes(name));
    return devices.map(({ name, efa, unavailable, error }): Finding => {
      if (error !== null) return skipped(name, `${name}: not asked, for it does not open`);
      if (efa === null) {
        return {
          subject: name,
          status: view.lack('efa'),
          fact: `${name}: its EFA capabilities are not known: ${unavailable['efa'] ?? 'libefa does not tell'}`,
          repair: `rdmatool query-device ${name}`,
        };
      }
      const isOld = efa.caps.RDMA_READ === null || efa.caps.RDMA_WRITE === null;
      return ok(
        name,
        `${name}: ${efa.verdict}`,
        isOld
          ? 'a newer rdma-core would tell'
          : efa.caps.RDMA_READ === false
            ? 'programs have to do with send and receive: NCCL and libfabric use copies'
            : undefined,
      );
    });
  },
};

export const efaDriverCheck: Check = {
  id: 'efa-driver',
  what: 'version of the EFA driver',
  purposes: ['efa'],
  needs: ['efa-device'],
  async run(view) {
    if (view.efaNames.length === 0) return [skipped('efa', 'no EFA device')];
    const version = view.machine.sysfs.read('module/efa/version')?.trim() || null;
    const zero = view.efaNames.find((name) =>
      /^[0:]+$/.test(view.machine.sysfs.read(`class/infiniband/${name}/node_guid`)?.trim() ?? 'none'),
    );
    if (zero !== undefined) {
      return [
        {
          subject: 'efa',
          status: 'warning',
          fact: `the EFA driver ${version === null ? '' : `${version} `}is older than 2.12: the node GUID of ${zero} is 0`,
          meaning: 'programs that tell devices apart by their GUID take all for one',
          repair: `install the driver of AWS's EFA installer, or a newer kernel${view.asRoot}`,
        },
      ];
    }
    return [
      ok(
        'efa',
        version === null
          ? "the EFA driver tells no version: it is the kernel's own"
          : `the EFA driver is ${version}`,
      ),
    ];
  },
};

export const efaNetworkCheck: Check = {
  id: 'efa-network',
  what: 'a reminder: whether EFA devices reach each other is not to be seen from one machine',
  purposes: ['efa'],
  needs: ['efa-device'],
  run: (view: View) =>
    view.efaNames.length === 0
      ? [skipped(null, 'no EFA device')]
      : [
          skipped(
            null,
            'not to be seen from here: whether EFA devices reach each other. The security group must allow all traffic from itself and to itself, and the subnet must be the same',
            "aws ec2 describe-security-groups: in IpPermissions and in IpPermissionsEgress protocol -1 with the group's own id; to try: fi_pingpong -p efa",
          ),
        ],
};
