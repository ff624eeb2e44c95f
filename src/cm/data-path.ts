/**
 * What data goes over: a queue pair with its memory and its completions. Backends make one for an id, in their own
 * ways; destroying the id destroys it.
 */
import type { ibvAhAttr } from '../abi/rdmacm.ts';
import type { ibUverbsAhAttr } from '../abi/verbs-qp.ts';
import type { Decoded } from '../layout/codec.ts';
import type { RegisteredMemory } from '../native/registered-memory.ts';
import type { AddressHandle, VerbsDataPath, WorkCompletion } from '../native/verbs-data-path.ts';

export type { AddressHandle, RegisteredMemory, WorkCompletion };

export type DataPath = Pick<
  VerbsDataPath,
  | 'number'
  | 'portAttributes'
  | 'registerMemory'
  | 'releaseMemory'
  | 'createAddressHandle'
  | 'answerHandle'
  | 'postReceive'
  | 'postSend'
  | 'completions'
>;

/** How much may be under way at once. */
export interface DataPathRequest {
  readonly sends: number;
  readonly receives: number;
}

/** An address of an event as ibv_create_ah(3) takes it. */
export function ahAttrOf({ grh, ...attr }: Decoded<typeof ibUverbsAhAttr>): Decoded<typeof ibvAhAttr> {
  const { reserved: _outer, ...rest } = attr;
  const { reserved: _inner, ...route } = grh;
  return { ...rest, grh: route };
}
