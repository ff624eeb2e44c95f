/** Whether libibverbs has a provider for each device, and the device answers. */
import { type Check, type Finding, ok, skipped } from './check.ts';
import type { View } from './view.ts';

export const openCheck: Check = {
  id: 'open',
  what: 'libibverbs has a provider for each device, opens it, and the device answers',
  purposes: ['query', 'cm', 'efa'],
  needs: ['uverbs-node', 'libibverbs'],
  async run(view) {
    const devices = await view.devices();
    return devices.map((device): Finding => {
      const { name, error } = device;
      if (view.failed('uverbs-node', name)) return skipped(name, `${name}: not opened, for its node fails`);
      if (error !== null && device.attributes === null) {
        return {
          subject: name,
          status: 'failure',
          fact: error.message,
          ...(error.hint === '' ? {} : { repair: `${error.hint}${needsRoot(view, error.hint)}` }),
        };
      }
      const ports = device.ports.length === 1 ? '1 port' : `${device.ports.length} ports`;
      const shown = ok(
        name,
        `${name} opens and answers: ${ports}, transport ${device.transport?.name ?? 'unknown'}`,
      );
      if (error === null) return shown;
      return { subject: name, status: 'failure', fact: error.message, repair: error.hint };
    });
  },
};

const needsRoot = (view: View, hint: string): string =>
  view.who?.uid !== 0 && /^(apt|dnf|zypper|pacman|apk) /.test(hint) ? ' (as root)' : '';
