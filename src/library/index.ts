/** What `import ... from 'rdmatool'` gives. */
export { Failure, type FailureCode, type FailureJson } from '../explain/failure.ts';
export type { Json } from '../layout/codec.ts';
export type {
  CmBindResult,
  CmConnectResult,
  CmGetaddrinfoResult,
  CmInitQpAttrResult,
  CmListenObject,
  CmResolveResult,
} from '../model/cm.ts';
export type { CmJoinResult } from '../model/cm-join.ts';
export type { CountersResult } from '../model/counters.ts';
export type { DecodeResult } from '../model/decode.ts';
export type { GidResult } from '../model/gid.ts';
export type { ListResult } from '../model/list.ts';
export type { MadGetResult, MadPingResult, MadSendResult, MadTableResult } from '../model/mad.ts';
export type { PortResult } from '../model/port.ts';
export type { Device, Port, QueryDeviceResult } from '../model/query-device.ts';
export {
  bind,
  type CmOptions,
  type ConnectOptions,
  connect,
  type GetaddrinfoOptions,
  getaddrinfo,
  type HandshakeOptions,
  initQpAttr,
  type JoinOptions,
  join,
  type ListenOptions,
  listen,
  resolve,
} from './cm.ts';
export { decodeMad, decodeUcma, decodeUmad, type UcmaOptions, type UmadOptions } from './decode.ts';
export {
  type DeviceOptions,
  type GidOptions,
  listDevices,
  listGids,
  listPorts,
  queryDevices,
  readCounters,
  watchCounters,
} from './devices.ts';
export {
  type MadGetOptions,
  type MadOptions,
  type MadPingOptions,
  type MadSendOptions,
  type MadTableOptions,
  type ManagementClass,
  madGet,
  madPing,
  madSend,
  madTable,
} from './mad.ts';
export { OperationFailure } from './outcome.ts';
