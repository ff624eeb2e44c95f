import { constants } from 'node:os';
import { EFADV_CAP_NAMES, EFADV_CAPS, EFADV_SINCE, EfadvDeviceCap, efadvDeviceAttr } from '../abi/efadv.ts';
import { sizeText } from '../explain/quantities.ts';
import type { Efa } from '../model/query-device.ts';
import { MissingSymbolError, NativeCallError } from '../native/errors.ts';
import type { Libefa } from '../native/libefa.ts';
import type { VerbsContext } from '../native/libibverbs.ts';
import { reasonOf } from './failures.ts';
import { isAtLeast, needsRelease } from './release.ts';

/**
 * The EFA part of a device. A capability that the running library cannot report is null, never false.
 * @param version release of the libefa that answers
 * @throws NativeCallError (EOPNOTSUPP: not an EFA device), MissingSymbolError
 */
export function queryEfa(libefa: Libefa, context: VerbsContext, version: string | null): Efa {
  const { attr, inlen } = libefa.queryDevice(context);
  const caps: Record<string, boolean | null> = {};
  const needs: Record<string, string> = {};
  for (const name of EFADV_CAP_NAMES) {
    const { since } = EFADV_CAPS[name];
    if (EfadvDeviceCap.has(attr.device_caps, name)) caps[name] = true;
    else if (isAtLeast(version, since)) caps[name] = false;
    else {
      caps[name] = null;
      needs[name] = `rdma-core ${since}`;
    }
  }
  const unavailable: Record<string, string> = {};
  const depth = (key: 'max_sq_depth' | 'max_rq_depth', ask: () => number): number | null => {
    try {
      return ask();
    } catch (error) {
      unavailable[key] =
        error instanceof MissingSymbolError
          ? needsRelease(error.symbol, EFADV_SINCE.efadv_get_max_sq_depth, 'libefa', version)
          : reasonOf(error);
      return null;
    }
  };
  const shown = efadvDeviceAttr.toJson(attr);
  const hasInlineEx =
    isAtLeast(version, EFADV_SINCE.inline_buf_size_ex) === true || attr.inline_buf_size_ex !== 0;
  if (!hasInlineEx) {
    unavailable['inline_buf_size_ex'] = needsRelease(
      'inline_buf_size_ex',
      EFADV_SINCE.inline_buf_size_ex,
      'libefa',
      version,
    );
  }
  const capabilities = caps as Efa['caps'];
  return {
    ...shown,
    inline_buf_size_ex: hasInlineEx ? shown.inline_buf_size_ex : null,
    inlen,
    caps: capabilities,
    needs,
    max_sq_depth: depth('max_sq_depth', () => libefa.maxSqDepth(context)),
    max_rq_depth: depth('max_rq_depth', () => libefa.maxRqDepth(context)),
    verdict: efaVerdict(capabilities, needs, attr.max_rdma_size),
    unavailable,
  };
}

/** `RDMA read yes, RDMA write unknown (needs rdma-core 46), up to 1 GiB`. */
export function efaVerdict(caps: Efa['caps'], needs: Efa['needs'], maxRdmaSize: number): string {
  const word = (name: 'RDMA_READ' | 'RDMA_WRITE'): string => {
    const able = caps[name];
    if (able === null) return `unknown to this library (${needs[name] ?? 'a newer rdma-core'} can say)`;
    return able ? 'yes' : 'no';
  };
  const size = caps.RDMA_READ || caps.RDMA_WRITE ? `, up to ${sizeText(maxRdmaSize)}` : '';
  return `RDMA read ${word('RDMA_READ')}, RDMA write ${word('RDMA_WRITE')}${size}`;
}

export const isNotEfa = (error: unknown): boolean =>
  error instanceof NativeCallError && error.errno === constants.errno.EOPNOTSUPP;
