/** What stands before the attribute in a management datagram. IBTA volume 1, 13.4.2, 13.6.2, 14.2.1, 15.2.1. */
import { bitRecord } from '../layout/bits.ts';
import { isVendor1, isVendor2, Method, MgmtClass } from './classes.ts';
import { RmppFlags, RmppType } from './codes.ts';
import { bytes, flags, hex, named, number, wideHex } from './field.ts';

export const MAD_SIZE = 256;
export const HEADER_SIZE = 24;

/** The first 24 bytes of every datagram. `status` and `class_specific` of a directed SMP: see directedSmp. */
export const madHeader = bitRecord('mad_hdr', HEADER_SIZE, {
  base_version: number(0, 8, 'version of the datagram format: 1'),
  mgmt_class: named(8, 8, MgmtClass, 'management class'),
  class_version: number(16, 8, 'version of the class: 2 for SA and CM, else 1'),
  method: named(24, 8, Method, 'what is to be done, or was'),
  status: hex(32, 16, 'of an answer: 0, or why not'),
  class_specific: hex(48, 16, 'depends on the class'),
  tid: wideHex(64, 'transaction: an answer has that of its request'),
  attr_id: hex(128, 16, 'what the data is'),
  reserved: hex(144, 16, 'zero'),
  attr_mod: hex(160, 32, 'which part of the attribute'),
});

/** Subnet management by LID: class 0x01. */
export const lidSmp = bitRecord('smp', 64, {
  m_key: wideHex(192, 'the key of the port, 0 for none'),
});

/** Subnet management along a path of ports: class 0x81. */
export const directedSmp = bitRecord('dr_smp', MAD_SIZE, {
  direction: number(32, 1, '1: on its way back'),
  hop_pointer: number(48, 8, 'where on the path it is'),
  hop_count: number(56, 8, 'hops of the path'),
  m_key: wideHex(192, 'the key of the port, 0 for none'),
  dr_slid: number(256, 16, 'LID where the directed part begins, 0xffff: the sender'),
  dr_dlid: number(272, 16, 'LID where the directed part ends, 0xffff: the receiver'),
  initial_path: bytes(1024, 64, 'port to leave by at each hop, from byte 1'),
  return_path: bytes(1536, 64, 'port that it came in by at each hop'),
});

/** Reliable multi-packet transfer: SA, vendor classes 0x30 to 0x4f and some others. */
export const rmppHeader = bitRecord('rmpp', 36, {
  version: number(192, 8, 'version of RMPP: 1, or 0 where it is not in use'),
  type: named(200, 8, RmppType, 'kind of packet'),
  resp_time: number(208, 5, 'time to answer, 4.096 us x 2^n; 31: none given'),
  flags: flags(213, 3, RmppFlags, 'place in the transfer'),
  status: number(216, 8, 'why a transfer was stopped or aborted'),
  segment: number(224, 32, 'number of the segment, from 1'),
  payload_length: number(
    256,
    32,
    'bytes of the transfer, in the first segment; in the last, of that segment',
  ),
});

/** Subnet administration: class 0x03, after the RMPP header. */
export const saHeader = bitRecord('sa', 56, {
  sm_key: wideHex(288, 'the key of the subnet manager, 0 for none'),
  attr_offset: number(352, 16, 'distance between records, in units of 8 bytes; 0: no record'),
  component_mask: wideHex(384, 'fields that a request asks for'),
});

/** Vendor classes 0x30 to 0x4f, after the RMPP header. */
export const vendorHeader = bitRecord('vendor', 40, {
  oui: hex(296, 24, 'the vendor'),
});

/** Classes whose long messages the kernel splits and joins, and where their data begins. */
const RMPP_OFFSETS = new Map<number, number>([
  [MgmtClass.valueOf('SUBN_ADM'), 56],
  [MgmtClass.valueOf('DEV_MGMT'), 64],
  [MgmtClass.valueOf('DEV_ADM'), 64],
  [MgmtClass.valueOf('BIS'), 64],
]);

export const hasRmpp = (mgmtClass: number): boolean => RMPP_OFFSETS.has(mgmtClass) || isVendor2(mgmtClass);

export const isDirected = (mgmtClass: number): boolean =>
  mgmtClass === MgmtClass.valueOf('SUBN_DIRECTED_ROUTE');
export const isSmp = (mgmtClass: number): boolean =>
  mgmtClass === MgmtClass.valueOf('SUBN_LID_ROUTED') || isDirected(mgmtClass);
export const isSa = (mgmtClass: number): boolean => mgmtClass === MgmtClass.valueOf('SUBN_ADM');
export const isCm = (mgmtClass: number): boolean => mgmtClass === MgmtClass.valueOf('CM');

/** Classes whose 40 bytes between the common header and the data are reserved. */
const DATA_AT_64 = new Set([
  MgmtClass.valueOf('PERF'),
  MgmtClass.valueOf('BM'),
  MgmtClass.valueOf('CONG_MGMT'),
]);

/** Byte where the data of a class begins, and its room in one datagram. */
export function dataPlace(mgmtClass: number): { readonly offset: number; readonly length: number } {
  if (isSmp(mgmtClass)) return { offset: 64, length: 64 };
  const offset = isVendor1(mgmtClass)
    ? HEADER_SIZE
    : isVendor2(mgmtClass)
      ? 40
      : (RMPP_OFFSETS.get(mgmtClass) ?? (DATA_AT_64.has(mgmtClass) ? 64 : HEADER_SIZE));
  return { offset, length: MAD_SIZE - offset };
}

/** The version that requests of a class carry. */
export const classVersion = (mgmtClass: number): number =>
  isSa(mgmtClass) || isCm(mgmtClass) || mgmtClass === MgmtClass.valueOf('CONG_MGMT') ? 2 : 1;
