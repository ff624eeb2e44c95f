/** The status of an answered management datagram, in words. IBTA volume 1, 13.4.7 and 15.2.3. */

/** What a status says, and what to do about it. */
export interface MadStatusText {
  /** Names of rdma-core's kind, with `|` between them; `SUCCESS` for 0; null where the number is not known. */
  readonly name: string | null;
  readonly meaning: string;
  readonly hint: string;
}

const HINTS = {
  version: 'another version of the class may be needed: --class-version of mad send',
  method:
    "the agent does not do that. From a Linux host it also means that no program there serves the class, and the kernel's own agent has answered",
  value:
    'check the attribute modifier (--mod, --port-num, --block) and the fields; rdmatool mad get PortInfo shows the port',
  busy: 'try again, with more --retries or a longer --timeout',
  redirect: 'the answer names another agent (ClassPortInfo: redirect_lid, redirect_qp): ask that one',
  subnet: 'rdmatool mad get SMInfo shows the subnet manager; its log says more',
} as const;

const FIELD_CODES: Readonly<Record<number, readonly [name: string, meaning: string, hint: string]>> = {
  1: ['BAD_VERSION', 'the agent does not know this base or class version', HINTS.version],
  2: ['UNSUPPORTED_METHOD', 'the agent does not have this method', HINTS.method],
  3: ['UNSUPPORTED_METHOD_ATTRIB', 'the agent does not have this method for this attribute', HINTS.method],
  7: [
    'INVALID_ATTRIB_VALUE',
    'a value in the attribute, or the attribute modifier, is not valid there',
    HINTS.value,
  ],
};

const SA_CODES: Readonly<Record<number, readonly [name: string, meaning: string, hint: string]>> = {
  1: ['SA_NO_RESOURCES', 'the subnet administration is short of room', HINTS.busy],
  2: [
    'SA_REQ_INVALID',
    'the subnet administration finds the request invalid',
    'check the fields; some records (P_Keys among them) are only for who gives the SM_Key: --key-file',
  ],
  3: [
    'SA_NO_RECORDS',
    'no record fits',
    'ask with fewer fields; rdmatool mad table NodeRecord shows what is there',
  ],
  4: [
    'SA_TOO_MANY_RECORDS',
    'more than one record fits, and one was asked for',
    'ask with more fields, or with mad table',
  ],
  5: [
    'SA_REQ_INVALID_GID',
    'a GID in the request is not one of the subnet',
    'check the GID; rdmatool mad get GUIDInfo LID',
  ],
  6: ['SA_REQ_INSUFFICIENT_COMPONENTS', 'the request names too few fields', 'ask with more fields'],
  7: [
    'SA_REQ_DENIED',
    'the subnet administration refuses',
    'the manager may want its SM_Key, or the partition may forbid it',
  ],
  8: ['SA_PRIORITY_SUGGESTED', 'another priority is suggested', HINTS.subnet],
};

/**
 * @param status without the direction bit of directed SMPs
 * @param isSa whether the class is subnet administration, which has codes of its own
 */
export function madStatusText(status: number, isSa: boolean): MadStatusText {
  if (status === 0) return { name: 'SUCCESS', meaning: 'done', hint: '' };
  const found: (readonly [string, string, string])[] = [];
  if (status & 1) found.push(['BUSY', 'the agent is busy', HINTS.busy]);
  if (status & 2) found.push(['REDIRECT', 'another agent serves this', HINTS.redirect]);
  const code = FIELD_CODES[(status >> 2) & 7];
  if (code) found.push(code);
  const specific = status >> 8;
  const own = isSa ? SA_CODES[specific] : undefined;
  if (own) found.push(own);
  // Bits that nothing above accounts for must not vanish behind a name.
  const known = (status & 3) | (code ? status & 0x1c : 0) | (own ? specific << 8 : 0);
  const unknown = status & ~known;
  const hex = `0x${status.toString(16).padStart(4, '0')}`;
  return {
    name: found.length === 0 || unknown !== 0 ? null : found.map(([name]) => name).join('|'),
    meaning: [
      ...found.map(([, meaning]) => meaning),
      ...(unknown === 0 ? [] : [`code 0x${unknown.toString(16)} of the class is not known here`]),
    ].join('; '),
    hint: found[0]?.[2] ?? `status ${hex}: see the documentation of the agent that answered`,
  };
}
