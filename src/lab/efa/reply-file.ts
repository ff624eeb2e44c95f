/**
 * The file that interpose.c answers from. Both declare the same structures; the C part refuses to compile when a
 * size differs, and a file of another version.
 */
import { text, u16, u32, u64 } from '../../layout/scalar.ts';
import { array, struct } from '../../layout/struct.ts';

const VERSION = 1;
const MAGIC = 'RDMALAB';
const NO_ATTRIBUTE = 0xffff;
const NOWHERE = 0xffffffff;

const fileHeader = struct(
  'reply_file',
  {
    magic: text(8),
    version: u32,
    size: u32,
    device_count: u32,
    devices: u32,
    redirect_count: u32,
    redirects: u32,
    hidden_count: u32,
    hidden: u32,
    netlink_call_count: u32,
    netlink_calls: u32,
  },
  { size: 48 },
);
const deviceRecord = struct(
  'device',
  {
    node: u32,
    major: u32,
    minor: u32,
    mode: u32,
    node_error: u32,
    access_error: u32,
    open_error: u32,
    call_count: u32,
    calls: u32,
  },
  { size: 36 },
);
const callRecord = struct(
  'call',
  {
    object: u16,
    method: u16,
    key_attribute: array(u16, 2),
    otherwise: u32,
    reply_count: u32,
    replies: u32,
  },
  { size: 20 },
);
const replyRecord = struct(
  'reply',
  {
    key: array(u64, 2),
    uses: u32,
    delay_us: u32,
    error: u32,
    output_count: u32,
    outputs: u32,
    reserved: u32,
  },
  { size: 40 },
);
const outputRecord = struct(
  'output',
  {
    attribute: u16,
    kind: u16,
    length: u32,
    bytes: u32,
    at_least: u32,
    too_short: u32,
    length_at: u32,
    serial_words: u32,
    reserved: u32,
  },
  { size: 32 },
);
const redirectRecord = struct('redirect', { from: u32, from_length: u32, to: u32 }, { size: 12 });
const hiddenRecord = struct('hidden', { kind: u32, name: u32 }, { size: 8 });

/** Bytes for one output attribute. Fewer are copied into a shorter buffer, and the rest of a longer one is zero. */
export interface BytesOutput {
  readonly attribute: number;
  readonly bytes: Uint8Array;
  /** A shorter buffer, or none, is refused with the errno. */
  readonly atLeast?: { readonly bytes: number; readonly errno: number };
  /** Where in the output the number of bytes copied is noted. */
  readonly lengthAt?: number;
  /** Indexes of 32-bit words to which a number is added that no other reply has: handles and keys. */
  readonly serialWords?: readonly number[];
}

/** A descriptor that never becomes readable. */
export interface DescriptorOutput {
  readonly attribute: number;
  readonly descriptor: true;
}

/** One canned answer. */
export interface Reply {
  /** Values of the call's key attributes. */
  readonly key: readonly (number | bigint)[];
  readonly errno?: number;
  readonly delayUs?: number;
  /** Only this many calls on a descriptor are answered so; later ones by the next reply of the same key. */
  readonly uses?: number;
  readonly outputs?: readonly (BytesOutput | DescriptorOutput)[];
}

/** A method of the uverbs interface. */
export interface Call {
  readonly object: number;
  readonly method: number;
  /** Input attributes, at most two, whose values choose the reply. */
  readonly keyAttributes: readonly number[];
  /** The errno where no reply has the key. */
  readonly otherwise: number;
  readonly replies: readonly Reply[];
}

/** A device node and its kernel's answers. */
export interface ReplyDevice {
  readonly node: number;
  readonly major: number;
  readonly minor: number;
  readonly mode: number;
  readonly nodeErrno: number;
  readonly accessErrno: number;
  readonly openErrno: number;
  readonly calls: readonly Call[];
}

export interface Hidden {
  readonly kind: 'symbol' | 'library' | 'library prefix';
  readonly name: string;
}

export interface ReplyFile {
  readonly devices: readonly ReplyDevice[];
  /** Paths that the program finds elsewhere, with all that is below them. */
  readonly redirects: readonly { readonly from: string; readonly to: string }[];
  readonly hidden: readonly Hidden[];
  /**
   * Answers to netlink requests: the object is the message type, the method 1 for a dump; each output is one message.
   * None: the kernel does not know the family.
   */
  readonly netlink: readonly Call[];
}

const HIDDEN_KINDS = { symbol: 0, library: 1, 'library prefix': 2 } as const;

/** Lays tables and byte runs one after another; equal runs share their place. */
class Writer {
  readonly #parts: Uint8Array[] = [];
  readonly #places = new Map<string, number>();
  readonly #calls = new Map<Call, Uint8Array>();
  readonly #outputs = new Map<Reply, number>();
  #end: number;

  constructor(start: number) {
    this.#end = start;
  }

  get end(): number {
    return this.#end;
  }

  bytes(bytes: Uint8Array): number {
    const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.#end;
    this.#places.set(key, place);
    this.#parts.push(bytes);
    const padding = -bytes.length & 7;
    if (padding > 0) this.#parts.push(new Uint8Array(padding));
    this.#end += bytes.length + padding;
    return place;
  }

  table(records: readonly Uint8Array[]): number {
    return this.bytes(Buffer.concat(records));
  }

  text(value: string): number {
    return this.bytes(Buffer.from(`${value}\0`));
  }

  /** A call that several devices share is laid down once. */
  call(call: Call): Uint8Array {
    const known = this.#calls.get(call) ?? encodeCall(this, call);
    this.#calls.set(call, known);
    return known;
  }

  /** The place of a reply's outputs; a reply of several calls has them once. */
  outputs(reply: Reply): number {
    const known =
      this.#outputs.get(reply) ??
      this.table((reply.outputs ?? []).map((output) => encodeOutput(this, output)));
    this.#outputs.set(reply, known);
    return known;
  }

  concat(header: Uint8Array): Uint8Array {
    return Buffer.concat([header, ...this.#parts]);
  }
}

/** The file's bytes. */
export function encodeReplyFile({ devices, redirects, hidden, netlink }: ReplyFile): Uint8Array {
  const writer = new Writer(fileHeader.size);
  const placed = {
    devices: writer.table(devices.map((device) => encodeDevice(writer, device))),
    redirects: writer.table(
      redirects.map(({ from, to }) =>
        redirectRecord.encode({
          from: writer.text(from),
          from_length: Buffer.byteLength(from),
          to: writer.text(to),
        }),
      ),
    ),
    hidden: writer.table(
      hidden.map(({ kind, name }) =>
        hiddenRecord.encode({ kind: HIDDEN_KINDS[kind], name: writer.text(name) }),
      ),
    ),
    netlink_calls: writer.table(netlink.map((call) => encodeCall(writer, call))),
  };
  return writer.concat(
    fileHeader.encode({
      ...placed,
      magic: MAGIC,
      version: VERSION,
      size: writer.end,
      device_count: devices.length,
      redirect_count: redirects.length,
      hidden_count: hidden.length,
      netlink_call_count: netlink.length,
    }),
  );
}

function encodeDevice(writer: Writer, device: ReplyDevice): Uint8Array {
  return deviceRecord.encode({
    node: device.node,
    major: device.major,
    minor: device.minor,
    mode: device.mode,
    node_error: device.nodeErrno,
    access_error: device.accessErrno,
    open_error: device.openErrno,
    call_count: device.calls.length,
    calls: writer.table(device.calls.map((call) => writer.call(call))),
  });
}

function encodeCall(writer: Writer, call: Call): Uint8Array {
  const [first = NO_ATTRIBUTE, second = NO_ATTRIBUTE] = call.keyAttributes;
  // Sorted by key for the search; replies of one key keep their order.
  const replies = call.replies
    .map((reply) => ({ reply, key: [BigInt(reply.key[0] ?? 0), BigInt(reply.key[1] ?? 0)] as const }))
    .sort((a, b) => compare(a.key[0], b.key[0]) || compare(a.key[1], b.key[1]));
  return callRecord.encode({
    object: call.object,
    method: call.method,
    key_attribute: [first, second],
    otherwise: call.otherwise,
    reply_count: replies.length,
    replies: writer.table(replies.map(({ reply, key }) => encodeReply(writer, reply, key))),
  });
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

function encodeReply(writer: Writer, reply: Reply, key: readonly [bigint, bigint]): Uint8Array {
  return replyRecord.encode({
    key,
    uses: reply.uses ?? 0,
    delay_us: reply.delayUs ?? 0,
    error: reply.errno ?? 0,
    output_count: reply.outputs?.length ?? 0,
    outputs: writer.outputs(reply),
  });
}

function encodeOutput(writer: Writer, output: BytesOutput | DescriptorOutput): Uint8Array {
  if ('descriptor' in output) {
    return outputRecord.encode({ attribute: output.attribute, kind: 1, length_at: NOWHERE });
  }
  return outputRecord.encode({
    attribute: output.attribute,
    length: output.bytes.length,
    bytes: writer.bytes(output.bytes),
    at_least: output.atLeast?.bytes ?? 0,
    too_short: output.atLeast?.errno ?? 0,
    length_at: output.lengthAt ?? NOWHERE,
    serial_words: (output.serialWords ?? []).reduce((mask, word) => mask | (1 << word), 0),
  });
}
