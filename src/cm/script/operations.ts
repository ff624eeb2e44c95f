/** The operations of a script that every backend has. */
import * as connections from './connection-operations.ts';
import { getEvent } from './get-event.ts';
import * as ids from './id-operations.ts';
import type { Operation } from './operation.ts';
import { setOption } from './set-option.ts';

/** In the order of the help: as a script uses them. */
export const OPERATIONS: readonly Operation[] = [
  ids.createEventChannel,
  ids.createId,
  setOption,
  ids.bind,
  connections.resolveAddr,
  connections.resolveRoute,
  ids.queryRoute,
  ids.createQp,
  ids.initQpAttr,
  connections.connect,
  connections.listen,
  connections.accept,
  connections.reject,
  connections.establish,
  connections.notify,
  connections.disconnect,
  getEvent,
  connections.joinMcast,
  connections.leaveMcast,
  connections.setLocalEce,
  connections.getRemoteEce,
  ids.migrateId,
  connections.resolveAddrinfo,
  connections.writeCmEvent,
  ids.destroyQp,
  ids.destroyId,
  ids.destroyEventChannel,
  ids.wait,
];
