/** The options of an id, and their values as people write them. */
import { ibvPathData, type ibvSaPathRec } from '../../abi/rdmacm.ts';
import { CmOption } from '../../abi/rdmacm-codes.ts';
import { ipv6Bytes } from '../../abi/sockaddr.ts';
import { Mtu } from '../../abi/verbs-codes.ts';
import { Failure } from '../../explain/failure.ts';
import type { Decoded } from '../../layout/codec.ts';
import { dataOf } from '../data-text.ts';
import { operation } from './operation.ts';
import {
  choice,
  enumerated,
  ID,
  integer,
  one,
  type Parameter,
  rest,
  suggestion,
  WordError,
} from './parameters.ts';
import type { Stage } from './stage.ts';

const OPTIONS = {
  tos: { ...CmOption.ID_TOS, bytes: 1, minimum: 0, maximum: 255 },
  reuseaddr: { ...CmOption.ID_REUSEADDR, bytes: 4, minimum: 0, maximum: 1 },
  afonly: { ...CmOption.ID_AFONLY, bytes: 4, minimum: 0, maximum: 1 },
  'ack-timeout': { ...CmOption.ID_ACK_TIMEOUT, bytes: 1, minimum: 0, maximum: 255 },
} as const;

/** GMP, primary, and both directions (outbound and inbound-reverse): what the kernel looks for. */
const PATH_FLAGS = 0x2b;
/** "Exactly", in the top two bits of a quantity of a path record. */
const EXACTLY = 2 << 6;

/** A word of a value: whole bytes, or a field of a path. */
type Part =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'field'; readonly name: string; readonly value: number | string | Uint8Array };

const GID: Parameter<Uint8Array> = {
  placeholder: 'GID',
  parse(text) {
    try {
      return ipv6Bytes(text);
    } catch {
      throw new WordError(`'${text}' is not a GID`, 'a GID is written as an IPv6 address');
    }
  },
};

const FIELDS: Readonly<Record<string, Parameter<number | string | Uint8Array>>> = {
  from: ID,
  flags: integer(0, 0xffffffff),
  dgid: GID,
  sgid: GID,
  dlid: integer(0, 0xffff),
  slid: integer(0, 0xffff),
  pkey: integer(0, 0xffff),
  sl: integer(0, 15),
  qos_class: integer(0, 0xfff),
  flow_label: integer(0, 0xfffff),
  hop_limit: integer(0, 255),
  traffic_class: integer(0, 255),
  reversible: integer(0, 1),
  numb_path: integer(0, 127),
  mtu: enumerated(Mtu, 'MTU'),
  rate: integer(0, 63),
  packet_life_time: integer(0, 63),
  preference: integer(0, 255),
};

function pathPart(word: string, scope: Parameters<Parameter<unknown>['parse']>[1]): Part {
  if (/^0x/i.test(word)) {
    const bytes = dataOf(word);
    if (bytes.length === 0 || bytes.length % ibvPathData.size !== 0) {
      throw new WordError(
        `${bytes.length} bytes are no array of ibv_path_data`,
        `each has ${ibvPathData.size} bytes`,
      );
    }
    return { kind: 'bytes', bytes };
  }
  const [, name = '', text = ''] = /^([^=]*)=(.*)$/.exec(word) ?? [];
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (!field) {
    const names = Object.keys(FIELDS);
    throw new WordError(
      `'${word}' is no field of a path`,
      suggestion(
        name || word,
        names,
        `write NAME=VALUE: ${names.join(', ')}; from=ID copies the path of another id`,
      ),
    );
  }
  return { kind: 'field', name, value: field.parse(text, scope, {}) };
}

const VALUE: Parameter<Part> = {
  placeholder: 'VALUE',
  parse(word, scope, earlier) {
    const name = earlier['option'];
    if (name === 'ib-path') return pathPart(word, scope);
    const found = Object.entries(OPTIONS).find(([known]) => known === name)?.[1];
    if (!found) throw new WordError('no option stands before it');
    if (earlier['value'] !== undefined) throw new WordError(`'${word}' is one word too many`);
    const value = integer(found.minimum, found.maximum).parse(word, scope, earlier);
    const bytes = new Uint8Array(found.bytes);
    bytes[0] = value;
    return { kind: 'bytes', bytes };
  },
};

export const setOption = operation({
  name: 'set-option',
  does: 'set an option (rdma_set_option): tos N, reuseaddr 0|1, afonly 0|1, ack-timeout N, or ib-path NAME=VALUE ... (fields of a path record; from=ID copies that of another id), which replaces resolve-route and ends in ROUTE_RESOLVED',
  positional: {
    id: one(ID),
    option: one(choice(['tos', 'reuseaddr', 'afonly', 'ack-timeout', 'ib-path'], 'OPTION')),
    value: rest(VALUE),
  },
  options: {},
  async run({ id, option, value }, stage) {
    const found = stage.id(id);
    const whole = value.find((part) => part.kind === 'bytes');
    if (option !== 'ib-path') {
      const { level, name } = OPTIONS[option];
      await found.setOption(level, name, whole?.kind === 'bytes' ? whole.bytes : new Uint8Array());
      return null;
    }
    const { level, name } = CmOption.IB_PATH;
    await found.setOption(level, name, whole?.kind === 'bytes' ? whole.bytes : pathData(value, stage));
    return null;
  },
});

/** One ibv_path_data of the fields. Throws Failure where the id to copy from has no path. */
function pathData(parts: readonly Part[], stage: Stage): Uint8Array {
  const fields = new Map(parts.flatMap((part) => (part.kind === 'field' ? [[part.name, part.value]] : [])));
  const base = copied(fields.get('from'), stage);
  const number = (name: string, otherwise: number): number => {
    const value = fields.get(name);
    return typeof value === 'number' ? value : otherwise;
  };
  const gid = (name: string, otherwise: Uint8Array): Uint8Array => {
    const value = fields.get(name);
    return value instanceof Uint8Array ? value : otherwise;
  };
  return ibvPathData.encode({
    flags: number('flags', PATH_FLAGS),
    path: {
      dgid: gid('dgid', base?.dgid ?? new Uint8Array(16)),
      sgid: gid('sgid', base?.sgid ?? new Uint8Array(16)),
      dlid: number('dlid', base?.dlid ?? 0),
      slid: number('slid', base?.slid ?? 0),
      flowlabel_hoplimit:
        number('flow_label', base?.flow_label ?? 0) * 256 + number('hop_limit', base?.hop_limit ?? 0),
      tclass: number('traffic_class', base?.traffic_class ?? 0),
      reversible_numpath:
        (number('reversible', base?.reversible ?? 1) << 7) | number('numb_path', base?.numb_path ?? 1),
      pkey: number('pkey', base?.pkey ?? 0xffff),
      qosclass_sl: (number('qos_class', 0) << 4) | number('sl', base?.sl ?? 0),
      mtu: EXACTLY | number('mtu', base?.mtu ?? Mtu.valueOf('1024')),
      rate: EXACTLY | number('rate', base?.rate ?? 3),
      packetlifetime: EXACTLY | number('packet_life_time', base?.packet_life_time ?? 18),
      preference: number('preference', base?.preference ?? 0),
    },
  });
}

function copied(name: unknown, stage: Stage): Decoded<typeof ibvSaPathRec> | null {
  if (typeof name !== 'string') return null;
  const [path] = stage.id(name).route().paths;
  if (path) return path;
  throw new Failure(
    'WRONG_ORDER',
    `${name} has no path to copy`,
    `resolve-route ${name} first, and take its event`,
  );
}
