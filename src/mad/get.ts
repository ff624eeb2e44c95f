/** One attribute of one node: `mad get`. */

import {
  type Attribute,
  attributeOf,
  attributesNamed,
  type Family,
  requiredAttribute,
} from '../datagram/attributes.ts';
import { Method, MgmtClass } from '../datagram/classes.ts';
import { NodeType } from '../datagram/codes.ts';
import type { FieldValues } from '../datagram/message.ts';
import { Failure } from '../explain/failure.ts';
import type { MadGetPortsResult, MadGetResult, MadPortAnswer } from '../model/mad.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { statusFailure, unknownAttribute } from './failures.ts';
import { answerJson, NO_ANSWER, targetJson } from './results.ts';
import type { Answer, MadSession } from './session.ts';
import { LOCAL_PATH, type Target } from './target.ts';

export interface GetOptions {
  readonly attribute: string;
  /** null: the port of this host; for SMInfo the subnet manager's. */
  readonly target: Target | null;
  /** A class by name or number, for attributes that several have. */
  readonly mgmtClass: number | null;
  readonly modifier: number | null;
  readonly portNum: number | null;
  readonly inPort: number | null;
  readonly block: number | null;
}

/** What is asked, and of which class. Throws Failure. */
interface Question {
  readonly attribute: Attribute;
  readonly mgmtClass: number;
  readonly target: Target;
}

const FAMILY_CLASSES: Readonly<Partial<Record<Family, number>>> = {
  performance: MgmtClass.valueOf('PERF'),
  administration: MgmtClass.valueOf('SUBN_ADM'),
};

/** Throws Failure. */
function questionOf(options: GetOptions, target: Target): Question {
  const candidates = attributesNamed(options.attribute);
  const [first] = candidates;
  if (!first) throw unknownAttribute(options.attribute);
  if (first.family === 'administration') {
    throw new Failure(
      'USAGE',
      `${first.name} is a record of the subnet administration, not an attribute of a node`,
      `rdmatool mad table ${first.name}`,
    );
  }
  if (first.family === 'communication') {
    throw new Failure(
      'USAGE',
      `${first.name} is a message of the connection manager, which nobody can be asked for`,
      'rdmatool mad send sends one',
    );
  }
  if (options.mgmtClass !== null) {
    const { mgmtClass } = options;
    const own = candidates.find((each) => attributeOf(mgmtClass, each.id) === each);
    // A class that nobody knows may have the common ones.
    const wanted = own ?? candidates.find(({ family }) => family === 'general') ?? first;
    return { attribute: wanted, mgmtClass: options.mgmtClass, target };
  }
  if (first.family === 'general') {
    return { attribute: first, mgmtClass: MgmtClass.valueOf('PERF'), target };
  }
  const subnetClass = target.kind === 'path' ? 'SUBN_DIRECTED_ROUTE' : 'SUBN_LID_ROUTED';
  return {
    attribute: first,
    mgmtClass: FAMILY_CLASSES[first.family] ?? MgmtClass.valueOf(subnetClass),
    target,
  };
}

/** The attribute modifier, and the fields that choose the port. Throws Failure. */
function selection(
  { attribute }: Question,
  options: GetOptions,
  portNum: number | null,
): { modifier: number; fields: FieldValues } {
  const port = portNum ?? 0;
  const block = options.block ?? 0;
  refuseUseless(attribute, options, portNum);
  const byKind: Readonly<Record<Attribute['modifier'], number>> = {
    none: 0,
    port,
    block,
    'block-port':
      attribute.name === 'VLArbitrationTable'
        ? (options.block ?? 1) * 0x10000 + port
        : port * 0x10000 + block,
    'in-out-port': ((options.inPort ?? 0) << 8) | port,
    'block-position': block,
    select: 0,
  };
  const fields = attribute.modifier === 'select' ? { port_select: port } : {};
  return { modifier: options.modifier ?? byKind[attribute.modifier], fields };
}

/** Whether the question can be asked at all, before any device is looked at. Throws Failure. */
export function checkQuestion(options: GetOptions): void {
  selection(questionOf(options, options.target ?? LOCAL_PATH), options, options.portNum);
}

/** An option that the attribute has no use for would mislead. */
function refuseUseless(attribute: Attribute, options: GetOptions, portNum: number | null): void {
  const kind = attribute.modifier;
  const wrong = [
    ...(portNum !== null && (kind === 'none' || kind === 'block' || kind === 'block-position')
      ? ['--port-num']
      : []),
    ...(options.block !== null && !kind.startsWith('block') ? ['--block'] : []),
    ...(options.inPort !== null && kind !== 'in-out-port' ? ['--in-port'] : []),
  ];
  if (wrong.length > 0) {
    throw new Failure(
      'USAGE',
      `${attribute.name} has no ${wrong.join(' and no ')}`,
      '--mod sets the attribute modifier as a number',
    );
  }
}

async function ask(
  session: MadSession,
  question: Question,
  options: GetOptions,
  portNum: number | null,
): Promise<Answer> {
  const { modifier, fields } = selection(question, options, portNum);
  const { attribute, mgmtClass, target } = question;
  return session.ask({ attribute, mgmtClass, method: Method.valueOf('Get'), modifier, fields, target });
}

/** NodeInfo of the target. Throws Failure. */
export async function nodeInfoOf(session: MadSession, target: Target): Promise<FieldValues> {
  const { mad } = await session.ask({
    attribute: requiredAttribute('NodeInfo', 'subnet'),
    mgmtClass: MgmtClass.valueOf(target.kind === 'path' ? 'SUBN_DIRECTED_ROUTE' : 'SUBN_LID_ROUTED'),
    method: Method.valueOf('Get'),
    target,
  });
  const [fields] = mad.records;
  if (!fields) throw statusFailure('Get NodeInfo', mad.header.mgmt_class, mad.status);
  return fields;
}

/** Counters belong to a port: a host's own one, if it was not said; of a switch it has to be. */
async function portFor(session: MadSession, question: Question, options: GetOptions): Promise<number | null> {
  if (options.portNum !== null || question.attribute.modifier !== 'select') return options.portNum;
  if (await session.isEthernet()) {
    throw new Failure(
      'USAGE',
      `${question.attribute.name}: which port? over Ethernet (RoCE) a node cannot be asked for its ports`,
      'say which: --port-num N',
    );
  }
  const info = await nodeInfoOf(session, question.target);
  if (info['node_type'] !== NodeType.valueOf('SWITCH')) return Number(info['local_port_num']);
  throw new Failure(
    'USAGE',
    `${question.attribute.name}: the node is a switch with ${String(info['num_ports'])} ports`,
    'say which: --port-num N, or --all-ports',
  );
}

/** Where the request goes if nothing is said. */
async function targetFor(session: MadSession, options: GetOptions): Promise<Target> {
  if (options.target !== null) return options.target;
  return options.attribute.toLowerCase() === 'sminfo' ? session.subnetManager() : LOCAL_PATH;
}

const base = (session: MadSession, question: Question, answerLid: number | null) => ({
  time: null,
  device: session.device,
  port: session.portNumber,
  attribute: question.attribute.name,
  target: targetJson(question.target, answerLid),
});

/** The LID that answered, where the request went by LID. */
const lidOf = ({ reply }: Answer, { target }: Question): number | null =>
  target.kind === 'path' ? null : reply.header.lid || null;

const what = ({ attribute }: Question): string => `Get ${attribute.name}`;

const statusError = (question: Question, { mad }: Answer) =>
  mad.status === 0 ? null : statusFailure(what(question), question.mgmtClass, mad.status).toJSON();

/** Asks for one attribute. Throws Failure where there is no answer. */
export async function getAttribute(session: MadSession, options: GetOptions): Promise<MadGetResult> {
  const question = questionOf(options, await targetFor(session, options));
  const portNum = await portFor(session, question, options);
  const answer = await ask(session, question, options, portNum);
  return {
    schema: SCHEMA_IDS.madGet,
    error: statusError(question, answer),
    ...base(session, question, lidOf(answer, question)),
    port_num: portNum,
    ...answerJson(answer),
  };
}

/** Asks for one attribute of every port; a port that does not answer does not hide the others. Throws Failure. */
export async function getAllPorts(session: MadSession, options: GetOptions): Promise<MadGetPortsResult> {
  const question = questionOf(options, await targetFor(session, options));
  const { modifier } = question.attribute;
  if (modifier === 'none' || modifier === 'block' || modifier === 'block-position') {
    throw new Failure(
      'USAGE',
      `${question.attribute.name} is the same for all ports`,
      'leave out --all-ports',
    );
  }
  const info = await nodeInfoOf(session, question.target);
  const count = Number(info['num_ports']);
  const isSwitch = info['node_type'] === NodeType.valueOf('SWITCH');
  // A switch has a port 0, which is managed like others but carries no counted traffic.
  const first = isSwitch && modifier !== 'select' ? 0 : 1;
  const numbers = Array.from({ length: count - first + 1 }, (_, index) => first + index);
  let answeredLid: number | null = null;
  const ports = await Promise.all(
    numbers.map(async (portNum): Promise<MadPortAnswer> => {
      try {
        const answer = await ask(session, question, options, portNum);
        answeredLid ??= lidOf(answer, question);
        return { port_num: portNum, error: statusError(question, answer), ...answerJson(answer) };
      } catch (error) {
        if (!(error instanceof Failure) || error.code === 'DEVICE_GONE') throw error;
        return { port_num: portNum, error: error.toJSON(), ...NO_ANSWER };
      }
    }),
  );
  return {
    schema: SCHEMA_IDS.madGetPorts,
    error: ports.find(({ error }) => error !== null)?.error ?? null,
    ...base(session, question, answeredLid),
    ports,
  };
}
