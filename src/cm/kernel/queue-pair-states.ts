/** The states that a queue pair goes through, with the attributes that the kernel's connection manager gives. */
import { LINUX } from '../../abi/ucma/linux-commands.ts';
import { QpAttrMask, QpState, TransportType } from '../../abi/verbs-codes.ts';
import type { ibUverbsAhAttr, ibUverbsQpAttr, ibvQpAttr } from '../../abi/verbs-qp.ts';
import type { Decoded } from '../../layout/codec.ts';
import type { Encodable } from '../../layout/struct.ts';
import type { QueuePair } from '../../native/queue-pair.ts';
import type { KernelDevice } from './devices.ts';
import type { UserCm } from './exchange.ts';

type KernelAttributes = Decoded<typeof ibUverbsQpAttr>;
type VerbsAttributes = Encodable<Decoded<typeof ibvQpAttr>>;

/** The most that the device can: what neither side has limited. */
export const UNLIMITED = 0xff;

/** Bits that only kernels of a certain age set, for RoCE: nothing else takes them. */
const ROCE_BITS = 0x1e0_0000;
const STATE = Number(QpAttrMask.maskOf('STATE'));
const SQ_PSN = Number(QpAttrMask.maskOf('SQ_PSN'));

/** INIT_QP_ATTR. Throws NativeCallError. */
export const attributesFor = (cm: UserCm, id: number, state: number): Promise<KernelAttributes> =>
  cm.ask(LINUX.INIT_QP_ATTR, { id, qp_state: state });

async function move(
  cm: UserCm,
  id: number,
  queuePair: QueuePair,
  state: 'INIT' | 'RTR' | 'RTS',
  change: (attr: VerbsAttributes, mask: number) => [VerbsAttributes, number] = (attr, mask) => [attr, mask],
): Promise<void> {
  const attr = await attributesFor(cm, id, QpState.valueOf(state));
  const [changed, mask] = change(verbsAttributes(attr), attr.qp_attr_mask);
  await queuePair.modify(changed, mask);
}

/** Into INIT: the id must be bound to a device. Throws NativeCallError. */
export const toInit = (cm: UserCm, id: number, queuePair: QueuePair): Promise<void> =>
  move(cm, id, queuePair, 'INIT');

/** Ready to send and receive, for datagrams: nothing of that depends on a peer. Throws NativeCallError. */
export async function readyForDatagrams(cm: UserCm, id: number, queuePair: QueuePair): Promise<void> {
  await toInit(cm, id, queuePair);
  await queuePair.modify({ qp_state: QpState.valueOf('RTR') }, STATE);
  await queuePair.modify({ qp_state: QpState.valueOf('RTS'), sq_psn: 0 }, STATE | SQ_PSN);
}

/**
 * Ready to receive and to send, once the peer is known. Throws NativeCallError.
 * @param responderResources UNLIMITED leaves what the handshake gave
 */
export async function readyForConnection(
  cm: UserCm,
  id: number,
  queuePair: QueuePair,
  { device, port }: { device: KernelDevice; port: number },
  responderResources: number,
  initiatorDepth: number,
): Promise<void> {
  // Its attributes may have changed since it was made: the path is known now.
  await toInit(cm, id, queuePair);
  await move(cm, id, queuePair, 'RTR', (attr, mask) => [
    responderResources === UNLIMITED ? attr : { ...attr, max_dest_rd_atomic: responderResources },
    device.isEthernet(port) ? mask : mask & ~ROCE_BITS,
  ]);
  await move(cm, id, queuePair, 'RTS', (attr, mask) => [
    initiatorDepth === UNLIMITED ? attr : { ...attr, max_rd_atomic: initiatorDepth },
    mask,
  ]);
}

/** Nothing more goes out: before a disconnect, and after a refusal. Throws NativeCallError. */
export const stopped = (queuePair: QueuePair, device: KernelDevice): Promise<void> =>
  queuePair.modify(
    { qp_state: QpState.valueOf(device.transport === TransportType.valueOf('IWARP') ? 'SQD' : 'ERR') },
    STATE,
  );

export const failedState = (queuePair: QueuePair): Promise<void> =>
  queuePair.modify({ qp_state: QpState.valueOf('ERR') }, STATE);

const verbsAh = ({ grh, reserved: _none, ...attr }: Decoded<typeof ibUverbsAhAttr>) => {
  const { reserved: _either, ...global } = grh;
  return { ...attr, grh: global };
};

/** The kernel's form of the attributes in libibverbs'. */
function verbsAttributes(attr: KernelAttributes): VerbsAttributes {
  const {
    qp_attr_mask: _mask,
    reserved: _none,
    max_send_wr,
    max_recv_wr,
    max_send_sge,
    max_recv_sge,
    max_inline_data,
    ah_attr,
    alt_ah_attr,
    ...rest
  } = attr;
  return {
    ...rest,
    cap: { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data },
    ah_attr: verbsAh(ah_attr),
    alt_ah_attr: verbsAh(alt_ah_attr),
  };
}
