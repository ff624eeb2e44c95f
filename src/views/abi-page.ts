/** The manual page of the user CM's interface, from the declared structures and commands of both editions. */
import type { UcmaCommand, UcmaForm } from '../abi/ucma/command.ts';
import { commandNumbered, UCMA_EDITIONS, type UcmaEdition } from '../abi/ucma/editions.ts';
import { rdmaUcmCmdHdr } from '../abi/ucma/shared.ts';
import type { Codec, Member } from '../layout/codec.ts';
import { bold, escapeRoff, header, page, section, TABLES, table } from './roff.ts';

type Structure = Codec<unknown> & { readonly members: readonly Member[]; readonly title: string };

const isStructure = (codec: Codec<unknown>): codec is Structure => 'members' in codec && 'title' in codec;

/** The page; `version` is rdmatool's. */
export function abiPage(version: string): string {
  const { linux, reference } = UCMA_EDITIONS;
  const ofLinux = structuresOf(linux);
  const ofReference = structuresOf(reference);
  const shared = ofLinux.filter((structure) => ofReference.includes(structure));
  const alone = (all: readonly Structure[]): Structure[] =>
    all.filter((structure) => !shared.includes(structure));
  return page([
    TABLES,
    header('rdmatool-abi', version, 7),
    // Narrow columns read better ragged.
    '.nh',
    '.ad l',
    ...section('NAME', escapeRoff('rdmatool-abi - what goes through write(2) to /dev/infiniband/rdma_cm')),
    ...section('DESCRIPTION', ...paragraphs(DESCRIPTION)),
    ...section('THE WRITE', ...paragraphs(THE_WRITE), ...structureLines(rdmaUcmCmdHdr)),
    ...section('THE TWO EDITIONS', ...paragraphs(EDITIONS)),
    ...section(
      'COMMANDS',
      escapeRoff(
        'By number: the name after RDMA_USER_CM_CMD_, and the bytes of the structure that goes in and of the answer. Several sizes are those of older kernels and programs, and the newest.',
      ),
      '.SS Linux',
      ...table(
        ['NR', 'NAME', 'IN', 'OUT', 'WHAT IT DOES'],
        linux.commands.map((command) => [...sizeCells(command), meaningText(command)]),
      ),
      '.SS The reference edition',
      ...table(
        ['NR', 'NAME', 'IN', 'OUT', "LINUX' NAME FOR THE NUMBER"],
        reference.commands.map((command) => [
          ...sizeCells(command),
          commandNumbered(linux, command.number)?.name ?? '-',
        ]),
      ),
    ),
    ...section(
      'REFUSALS',
      ...REFUSALS.flatMap(([name, meaning]) => ['.TP', bold(name), escapeRoff(meaning)]),
    ),
    ...section('STRUCTURES OF BOTH EDITIONS', ...shared.flatMap(structureLines)),
    ...section('STRUCTURES OF LINUX', ...alone(ofLinux).flatMap(structureLines)),
    ...section(
      'STRUCTURES OF THE REFERENCE EDITION',
      'All are packed; none has padding.',
      ...alone(ofReference).flatMap(structureLines),
    ),
    ...section(
      'SEE ALSO',
      escapeRoff('rdmatool(1), rdmatool-cm-run(1), rdmatool-cm-connect(1), rdma_cm(7), write(2), poll(2)'),
    ),
  ]);
}

const DESCRIPTION = [
  'Programs reach the RDMA connection manager of the kernel by writing commands to /dev/infiniband/rdma_cm; librdmacm does it for most of them. rdmatool cm --backend kernel does it without the library, --show-bytes shows every byte, and rdmatool cm run --backend kernel has each command by its name.',
  'All numbers are little-endian unless a field says otherwise. Structures of Linux have the natural alignment of x86-64 and arm64. This page is made from the declarations by which rdmatool encodes and decodes.',
];

const THE_WRITE = [
  'A write is a header and the structure of the command, nothing else. The kernel takes all of it or refuses all of it. An answer does not come back through the descriptor: the kernel writes it to the address in the field response, which must stay valid until the write has returned. Nothing is written for a command that fails.',
  'The descriptor is readable in the sense of poll(2) when an event waits, which GET_EVENT takes; on a non-blocking descriptor GET_EVENT fails with EAGAIN where there is none. The descriptor works only in the process that opened it: in a child every write fails with EACCES. Closing it destroys its ids.',
  'uid is a number of the program: it comes back with each event of the id. Events of an id whose uid is 0 are dropped without a word. An id that comes with CONNECT_REQUEST gets its uid in ACCEPT.',
];

const EDITIONS = [
  'The interface has ABI version 4 in both (/sys/class/misc/rdma_cm/abi_version), and there are two editions of it: that of Linux (<rdma/rdma_user_cm.h>), and the older one of the reference document, which the driver sol_ucma of illumos has. They agree on the numbers of commands and not on their names: BIND_ADDR (2), RESOLVE_ADDR (3) and JOIN_MCAST (16) of the reference edition are BIND_IP, RESOLVE_IP and JOIN_IP_MCAST of Linux, while RESOLVE_ADDR (21) and JOIN_MCAST (22) of Linux are other commands with other structures. Map by number, never by name.',
  'The reference edition is packed. Its addresses are the sockaddr_in6 of its system, 32 bytes with a source id at the end, where that of Linux has 28; AF_INET6 is 26 there and 10 in Linux, AF_INET is 2 in both. An IPv4 address travels in the same room as a sockaddr_in.',
  'In Linux create_id also has qp_type, the second word of conn_param is qkey, reject has a reason, query_route answers the number of the device, and connect, accept and the event end in ece. In the reference edition these are reserved or absent; bind_addr and join_mcast end in a reserved word, and ud_param in four more reserved bytes.',
  'A current kernel takes the shorter connect and accept of programs that do not know ece, and an older kernel writes less of an answer than there is room for.',
];

const REFUSALS: readonly (readonly [errno: string, meaning: string])[] = [
  [
    'EINVAL',
    'the write is shorter than the header says, or than the header; the number of the command is not known (kernels before the command came say this, too); the id belongs to another descriptor; a value cannot be, such as CONNECT with valid 0.',
  ],
  ['ENOENT', 'there is no id of that number.'],
  ['ENOSPC', 'out, the room for the answer, is too small. GET_EVENT needs 324 bytes.'],
  ['EFAULT', 'response leads nowhere, 0 for instance, or the structure is shorter than the kernel reads.'],
  ['ENOSYS', 'GET_OPTION; SET_OPTION with a level or a name, and QUERY with an option, that is not there.'],
  ['EACCES', 'the descriptor was opened by another process, or with other rights.'],
  ['EAGAIN', 'GET_EVENT on a non-blocking descriptor, and there is no event.'],
];

const paragraphs = (texts: readonly string[]): string[] =>
  texts.flatMap((text, index) => [...(index === 0 ? [] : ['.PP']), escapeRoff(text)]);

const meaningText = ({ meaning, since }: UcmaCommand): string =>
  since === null ? meaning : `${meaning} (since ${since})`;

const sizesText = (form: UcmaForm | null): string =>
  form === null ? '0' : `${form.sizes.join(', ')}${form.list === null ? '' : ' and a list'}`;

function sizeCells({ number, name, request, response, answers }: UcmaCommand): string[] {
  const out = answers === null ? sizesText(response) : `by ${answers.member}`;
  return [String(number), name, sizesText(request), out];
}

/** Every structure that a command of the edition has, nested ones too, each once. */
function structuresOf(edition: UcmaEdition): Structure[] {
  const found = new Set<Structure>();
  const visit = (codec: Codec<unknown>): void => {
    const element = codec.elements?.codec;
    if (element) visit(element);
    if (!codec.members) return;
    for (const member of codec.members) visit(member.codec);
    const whole = isStructure(codec) ? (known(found, codec) ?? codec) : null;
    if (whole) found.add(whole);
  };
  for (const { request, response, answers } of edition.commands) {
    for (const form of [request, response, ...(answers?.byValue.values() ?? [])]) {
      if (form === null) continue;
      visit(form.layout);
      if (form.list) visit(form.list.layout);
    }
  }
  return [...found];
}

/** A type with a meaning of its own is a copy: its members are the same. */
const known = (found: ReadonlySet<Structure>, structure: Structure): Structure | undefined =>
  [...found].find(({ members }) => members === structure.members);

function structureLines(structure: Structure): string[] {
  return [
    `.SS ${escapeRoff(`${structure.type}, ${structure.size} bytes`)}`,
    ...table(
      ['OFFSET', 'SIZE', 'FIELD', 'TYPE', 'MEANING'],
      structure.members.map(({ name, offset, size, codec }) => [
        String(offset),
        String(size),
        name,
        codec.type.replace('union ibv_gid', 'gid'),
        codec.meaning ?? (name.startsWith('reserved') ? 'reserved, 0' : ''),
      ]),
    ),
  ];
}
