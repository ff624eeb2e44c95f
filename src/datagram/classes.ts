/** Management classes and their methods, by name and number. IBTA volume 1, 13.4. */
import { enumeration } from '../layout/enumeration.ts';

/** MADHeader:MgmtClass. IBTA 13.4.4. Vendor classes have no names: see vendorClass. */
export const MgmtClass = enumeration('management class', '', {
  SUBN_LID_ROUTED: 0x01,
  SUBN_ADM: 0x03,
  PERF: 0x04,
  BM: 0x05,
  DEV_MGMT: 0x06,
  CM: 0x07,
  SNMP: 0x08,
  DEV_ADM: 0x10,
  BOOT_MGMT: 0x11,
  BIS: 0x12,
  CONG_MGMT: 0x21,
  SUBN_DIRECTED_ROUTE: 0x81,
});

/** Classes 0x09 to 0x0f: data from byte 24. */
export const isVendor1 = (mgmtClass: number): boolean => mgmtClass >= 0x09 && mgmtClass <= 0x0f;
/** Classes 0x30 to 0x4f: RMPP, OUI, data from byte 40. */
export const isVendor2 = (mgmtClass: number): boolean => mgmtClass >= 0x30 && mgmtClass <= 0x4f;

/** MADHeader:Method. IBTA 13.4.5 and 15.2.2. */
export const Method = enumeration('method', '', {
  Get: 0x01,
  Set: 0x02,
  Send: 0x03,
  Trap: 0x05,
  Report: 0x06,
  TrapRepress: 0x07,
  GetTable: 0x12,
  GetTraceTable: 0x13,
  GetMulti: 0x14,
  Delete: 0x15,
  GetResp: 0x81,
  ReportResp: 0x86,
  GetTableResp: 0x92,
  GetMultiResp: 0x94,
  DeleteResp: 0x95,
});

/** A method without the response bit, that changes nothing: needs no --write. */
export const READING_METHODS: ReadonlySet<number> = new Set([
  Method.valueOf('Get'),
  Method.valueOf('GetTable'),
  Method.valueOf('GetMulti'),
]);
