/** libefa: AWS EFA direct verbs. efadv_query_device(3). */
import { constants } from 'node:os';
import { basename } from 'node:path';
import { efadvDeviceAttr, efadvRqDepthAttr, efadvSqDepthAttr } from '../abi/efadv.ts';
import type { Decoded } from '../layout/codec.ts';
import { NativeCallError } from './errors.ts';
import type { VerbsContext } from './libibverbs.ts';
import { type LibraryOrigin, mappedFiles, NativeLibrary } from './library.ts';

export const LIBEFA_SONAME = 'libefa.so.1';

const { EINVAL } = constants.errno;

/**
 * Lengths to offer as `inlen`, in turn. The first is the structure that rdmatool knows, which every release
 * takes so far; a later one may ask for a longer structure, and then says EINVAL.
 */
const OFFERED_LENGTHS = [efadvDeviceAttr.size, 40, 48, 64, 96, 128] as const;

/**
 * The copy of libefa that libibverbs has loaded as the provider, or null. Only that copy knows the devices that it
 * serves: another one answers EOPNOTSUPP, as on a machine where an installer has added a second rdma-core.
 */
export const mappedLibefa = (): string | null =>
  mappedFiles().find((path) => /^libefa(-rdmav\d+)?\.so/.test(basename(path))) ?? null;

/** Everything but `origin` takes a context of libibverbs. Throws MissingLibraryError when it is made. */
export class Libefa {
  readonly #library = new NativeLibrary(mappedLibefa() ?? LIBEFA_SONAME);

  origin(): LibraryOrigin {
    return this.#library.origin();
  }

  /**
   * efadv_query_device(3). The call returns the errno value.
   * @returns the attributes and the inlen that the library took
   * @throws NativeCallError, EOPNOTSUPP on a device that is not EFA; MissingSymbolError before rdma-core 26
   */
  queryDevice(context: VerbsContext): { attr: Decoded<typeof efadvDeviceAttr>; inlen: number } {
    const call = this.#library.get<number>(
      'int efadv_query_device(void *context, void *attr, uint32_t inlen)',
    );
    for (const inlen of OFFERED_LENGTHS) {
      // Room for the longest: the library checks where the last member begins, yet writes all of it.
      const bytes = new Uint8Array(Math.max(...OFFERED_LENGTHS) + 8);
      const { result } = call.call(context.pointer, bytes, inlen);
      if (result === 0) return { attr: efadvDeviceAttr.decode(bytes), inlen };
      if (result !== EINVAL) throw new NativeCallError('efadv_query_device', result);
    }
    throw new NativeCallError('efadv_query_device', EINVAL);
  }

  /**
   * efadv_get_max_sq_depth and efadv_get_max_rq_depth for one entry a request and no inline data. They answer
   * with the depth or a negative errno. MissingSymbolError before rdma-core 63.
   */
  maxSqDepth(context: VerbsContext): number {
    return this.#depth(
      context,
      'efadv_get_max_sq_depth',
      efadvSqDepthAttr.encode({ max_send_sge: 1, max_rdma_sge: 0 }),
    );
  }

  maxRqDepth(context: VerbsContext): number {
    return this.#depth(context, 'efadv_get_max_rq_depth', efadvRqDepthAttr.encode({ max_recv_sge: 1 }));
  }

  #depth(context: VerbsContext, symbol: string, attr: Uint8Array): number {
    const { result } = this.#library
      .get<number>(`int ${symbol}(void *context, void *attr, uint32_t inlen)`)
      .call(context.pointer, attr, attr.length);
    if (result < 0) throw new NativeCallError(symbol, -result);
    return result;
  }
}
