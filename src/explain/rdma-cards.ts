/**
 * Which PCI functions are RDMA cards, and the kernel modules that serve them. By id where the id tells, by class
 * where that does. (Ids: pci_device_id tables of Linux, and the providers of rdma-core.)
 */

export interface RdmaCard {
  /** `an Elastic Fabric Adapter`. */
  readonly what: string;
  /** The driver that binds to the PCI function; null where only the class is known. */
  readonly driver: string | null;
  /** The module that makes the RDMA device; the driver itself, or one on top of it. */
  readonly module: string | null;
  /** false: a network card of a family that has RDMA, in which licence, firmware or setting may have it off. */
  readonly isCertain: boolean;
}

interface CardFamily extends RdmaCard {
  readonly vendor: number;
  has(device: number): boolean;
}

const between =
  (first: number, last: number) =>
  (device: number): boolean =>
    device >= first && device <= last;
const among =
  (...devices: readonly number[]) =>
  (device: number): boolean =>
    devices.includes(device);

const certain = (
  vendor: number,
  has: CardFamily['has'],
  driver: string,
  module: string,
  what: string,
): CardFamily => ({ vendor, has, driver, module, what, isCertain: true });

const possible = (
  vendor: number,
  has: CardFamily['has'],
  driver: string,
  module: string,
  what: string,
): CardFamily => ({ vendor, has, driver, module, what, isCertain: false });

const isMlx5 = (device: number): boolean => between(0x1011, 0x102f)(device) || device === 0x2101;
const isBlueField = between(0xa2d2, 0xa2df);
const isMlx4 = (device: number): boolean => between(0x1002, 0x1010)(device);
const isX722 = (device: number): boolean => between(0x37cc, 0x37d3)(device) || device === 0x374c;
const isIce = (device: number): boolean =>
  between(0x1591, 0x1593)(device) || between(0x1599, 0x159b)(device) || between(0x188a, 0x1899)(device);

const FAMILIES: readonly CardFamily[] = [
  certain(0x1d0f, between(0xefa0, 0xefaf), 'efa', 'efa', 'an Elastic Fabric Adapter'),
  certain(0x15b3, isMlx5, 'mlx5_core', 'mlx5_ib', 'a ConnectX card'),
  certain(0x15b3, isBlueField, 'mlx5_core', 'mlx5_ib', 'a BlueField card'),
  certain(0x15b3, isMlx4, 'mlx4_core', 'mlx4_ib', 'a ConnectX-3 card'),
  certain(0x8086, among(0x24f0, 0x24f1), 'hfi1', 'hfi1', 'an Omni-Path card'),
  certain(0x1077, among(0x7220, 0x7322), 'ib_qib', 'ib_qib', 'a QLogic InfiniBand card'),
  certain(0x15ad, among(0x0820), 'vmw_pvrdma', 'vmw_pvrdma', "VMware's paravirtual RDMA device"),
  certain(0x1ded, among(0x107f), 'erdma', 'erdma', 'an Elastic RDMA Adapter of Alibaba Cloud'),
  certain(0x19e5, between(0xa222, 0xa22f), 'hns3', 'hns_roce_hw_v2', 'a HiSilicon RoCE card'),
  possible(0x14e4, among(0x1605, 0x1606, 0x1614), 'bnxt_en', 'bnxt_re', 'a Broadcom NetXtreme-E card'),
  possible(0x14e4, between(0x16c0, 0x16f1), 'bnxt_en', 'bnxt_re', 'a Broadcom NetXtreme-E card'),
  possible(0x14e4, between(0x1750, 0x1809), 'bnxt_en', 'bnxt_re', 'a Broadcom NetXtreme-E card'),
  possible(0x14e4, among(0xd800, 0xd802, 0xd804), 'bnxt_en', 'bnxt_re', 'a Broadcom NetXtreme-E card'),
  possible(0x8086, isIce, 'ice', 'irdma', 'an Intel E800 network card'),
  possible(0x8086, isX722, 'i40e', 'irdma', 'an Intel X722 network card'),
  possible(0x1077, among(0x1629, 0x1634, 0x1636, 0x1644), 'qede', 'qedr', 'a FastLinQ network card'),
  possible(0x1077, among(0x1654, 0x1656, 0x1664, 0x1666), 'qede', 'qedr', 'a FastLinQ network card'),
  possible(0x1077, among(0x8070, 0x8090, 0x8170, 0x8190), 'qede', 'qedr', 'a FastLinQ network card'),
  possible(0x1425, between(0x4000, 0x6fff), 'cxgb4', 'iw_cxgb4', 'a Chelsio network card'),
  possible(0x1414, among(0x00b9, 0x00ba), 'mana', 'mana_ib', 'a Microsoft Azure network adapter'),
  possible(0x10df, among(0xe220, 0x0720, 0x0728), 'be2net', 'ocrdma', 'an Emulex OneConnect card'),
];

/** PCI base class and subclass: a network controller for InfiniBand, and a serial bus controller for it. */
const INFINIBAND_CLASSES: ReadonlySet<number> = new Set([0x0207, 0x0c06]);

/**
 * The RDMA card that a PCI function is, or may be; null for any other function.
 * @param vendor as sysfs has it, `0x15b3`
 * @param device `0x1021`
 * @param pciClass `0x020000`
 */
export function rdmaCard(
  vendor: string | null,
  device: string | null,
  pciClass: string | null,
): RdmaCard | null {
  const [v, d] = [Number(vendor ?? Number.NaN), Number(device ?? Number.NaN)];
  const family = FAMILIES.find((one) => one.vendor === v && one.has(d));
  if (family) return family;
  const known = INFINIBAND_CLASSES.has(Number(pciClass ?? Number.NaN) >> 8);
  return known ? { what: 'an InfiniBand card', driver: null, module: null, isCertain: true } : null;
}
