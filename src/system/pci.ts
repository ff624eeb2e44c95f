import type { Machine } from './machine.ts';

/** A PCI function as sysfs shows it. */
export interface PciFunction {
  /** `0000:00:06.0`. */
  readonly address: string;
  readonly vendor: string | null;
  readonly device: string | null;
  readonly pciClass: string | null;
  /** The driver that is bound to it, or null. */
  readonly driver: string | null;
}

/** Every PCI function; null where sysfs shows no PCI bus. */
export function pciFunctions({ sysfs }: Machine): PciFunction[] | null {
  const addresses = sysfs.list('bus/pci/devices');
  return (
    addresses?.map((address) => {
      const place = `bus/pci/devices/${address}`;
      return {
        address,
        vendor: sysfs.read(`${place}/vendor`),
        device: sysfs.read(`${place}/device`),
        pciClass: sysfs.read(`${place}/class`),
        driver: sysfs.linkName(`${place}/driver`),
      };
    }) ?? null
  );
}
