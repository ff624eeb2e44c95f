import { constants } from 'node:os';
import { EFADV_CAP_NAMES, EFADV_CAPS, EFADV_SINCE, EfadvDeviceCap, efadvDeviceAttr } from '../abi/efadv.ts';
import { sizeText } from '../explain/quantities.ts';
import type { Efa } from '../model/query-device.ts';
import { MissingSymbolError, NativeCallError } from '../native/errors.ts';
import type { Libefa } from '../native/libefa.ts';
import type { VerbsContext } from '../native/libibverbs.ts';
import { reasonOf } from './failures.ts';
import { isAtLeast, needsRelease } from './release.ts';

/** What a mask of efadv_device_attr says of each capability; `needs` names the release that can tell where this cannot. */
export interface EfaCapabilities {
  readonly caps: Efa['caps'];
  readonly needs: Efa['needs'];
}

/**
 * Reads a capability mask. A bit that the running library cannot report is null, never false; one that is set is
 * true, whatever the library's release.
 * @param version release of the libefa that answered
 */
export function efaCapabilities(mask: number, version: string | null): EfaCapabilities {
  const each = EFADV_CAP_NAMES.map((name) => {
    const isSet = EfadvDeviceCap.has(mask, name);
    return { name, able: isSet || (isAtLeast(version, EFADV_CAPS[name].since) ? false : null) };
  });
  const unknown = each.filter(({ able }) => able === null);
  return {
    caps: Object.fromEntries(each.map(({ name, able }) => [name, able])) as Efa['caps'],
    needs: Object.fromEntries(unknown.map(({ name }) => [name, `rdma-core ${EFADV_CAPS[name].since}`])),
  };
}

/**
 * The EFA part of a device.
 * @param version release of the libefa that answers
 * @throws NativeCallError (EOPNOTSUPP: not an EFA device), MissingSymbolError
 */
export function queryEfa(libefa: Libefa, context: VerbsContext, version: string | null): Efa {
  const { attr, inlen } = libefa.queryDevice(context);
  const { caps, needs } = efaCapabilities(attr.device_caps, version);
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
  // The structure ended before these two.
  const hasCaps = isAtLeast(version, EFADV_SINCE.device_caps) !== false;
  if (!hasCaps) {
    for (const key of ['device_caps', 'max_rdma_size'] as const) {
      unavailable[key] = needsRelease(key, EFADV_SINCE.device_caps, 'libefa', version);
    }
  }
  return {
    ...shown,
    ...(hasCaps ? {} : { device_caps: null, max_rdma_size: null }),
    inline_buf_size_ex: hasInlineEx ? shown.inline_buf_size_ex : null,
    inlen,
    caps,
    needs,
    max_sq_depth: depth('max_sq_depth', () => libefa.maxSqDepth(context)),
    max_rq_depth: depth('max_rq_depth', () => libefa.maxRqDepth(context)),
    verdict: efaVerdict({ caps, needs }, attr.max_rdma_size, version),
    unavailable,
  };
}

/** `RDMA read yes, RDMA write unknown, up to 1 GiB (libefa 44.0 cannot tell, rdma-core 46 can)`. */
export function efaVerdict(
  { caps, needs }: EfaCapabilities,
  maxRdmaSize: number,
  version: string | null,
): string {
  const asked = ['RDMA_READ', 'RDMA_WRITE'] as const;
  const word = (able: boolean | null): string => (able === null ? 'unknown' : able ? 'yes' : 'no');
  const size = caps.RDMA_READ || caps.RDMA_WRITE ? `, up to ${sizeText(maxRdmaSize)}` : '';
  const needed = asked.map((name) => needs[name]).filter((release) => release !== undefined);
  const newest = needed.at(-1);
  const why = version === null ? 'this libefa may be too old to tell' : `libefa ${version} cannot tell`;
  const reason = newest === undefined ? '' : ` (${why}, ${newest} can)`;
  return `RDMA read ${word(caps.RDMA_READ)}, RDMA write ${word(caps.RDMA_WRITE)}${size}${reason}`;
}

export const isNotEfa = (error: unknown): boolean =>
  error instanceof NativeCallError && error.errno === constants.errno.EOPNOTSUPP;
