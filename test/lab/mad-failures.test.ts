/** Where management datagrams cannot be had: devices without umad, Ethernet ports, users who may not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Place, REPOSITORY } from './roce/tools.ts';
import { product } from './support/json.ts';

const RDMATOOL = `${process.execPath} ${REPOSITORY}/bin/rdmatool.js`;

const place = new Place();
afterAll(() => place.remove());

interface Expected {
  readonly status: number;
  readonly code: string;
  readonly errno: string | null;
  readonly message: RegExp;
  readonly hint: RegExp;
}

/** Both renderings of a failure: text on stderr, and the document. */
function expectFailure(text: string, json: string, expected: Expected): void {
  expect(text).toMatch(expected.message);
  expect(text).toMatch(expected.hint);
  expect(text).not.toContain('mthca0');
  const document = product<{
    error: { code: string; errno: { name: string } | null; message: string };
  }>(json);
  expect([document.error.code, document.error.errno?.name ?? null]).toEqual([expected.code, expected.errno]);
  expect(document.error.message).toMatch(expected.message);
}

it('an EFA device has no umad, whatever is loaded', async () => {
  const inEfa = (...args: string[]) =>
    place.rdmatool(['lab', 'run', 'efa', '--', ...RDMATOOL.split(' '), 'mad', 'get', 'NodeInfo', ...args]);
  const text = await inEfa();
  const json = await inEfa('--json');
  expect([text.status, json.status]).toEqual([69, 69]);
  expectFailure(text.stderr, json.stdout, {
    status: 69,
    code: 'NO_UMAD',
    errno: null,
    message: /no management datagrams on rdmap0s6/,
    hint: /EFA and soft iWARP have none/,
  });
});

it('without any device nothing is made up', async () => {
  const text = await place.rdmatool(['mad', 'get', 'NodeInfo']);
  const json = await place.rdmatool(['mad', 'get', 'NodeInfo', '--json']);
  expect([text.status, json.status]).toEqual([69, 69]);
  expectFailure(text.stderr, json.stdout, {
    status: 69,
    code: 'NO_DEVICE',
    errno: null,
    message: /no RDMA device/,
    hint: /lab run ib/,
  });
});

describe('on a RoCE port', () => {
  const CASES: readonly [name: string, command: string, expected: Expected][] = [
    [
      'there is no subnet management',
      'mad get NodeInfo 0',
      {
        status: 1,
        code: 'REGISTER_FAILED',
        errno: 'EPROTONOSUPPORT',
        message: /no subnet management there .*Ethernet \(RoCE\)/,
        hint: /-d and -i/,
      },
    ],
    [
      'there is no subnet manager',
      'mad table NodeRecord',
      { status: 69, code: 'NO_SM', errno: null, message: /no subnet manager/, hint: /--from/ },
    ],
    [
      'a user who is not root is told how to be allowed',
      'AS-NOBODY mad get PortCounters 1 --port-num 1',
      { status: 77, code: 'NO_PERMISSION', errno: 'EACCES', message: /may not be opened/, hint: /udev rule/ },
    ],
    [
      'a device that is not there is told, with what is near',
      'mad get NodeInfo -d rxe9',
      { status: 69, code: 'UNKNOWN_DEVICE', errno: null, message: /rxe9/, hint: /did you mean rxe/ },
    ],
  ];
  let answers: { status: number; stdout: string; stderr: string }[] = [];

  beforeAll(async () => {
    const once = (command: string): string => {
      const [user, words] = command.startsWith('AS-NOBODY ')
        ? ['setpriv --reuid 65534 --regid 65534 --clear-groups ', command.slice('AS-NOBODY '.length)]
        : ['', command];
      return `${user}${RDMATOOL} ${words} > /tmp/out 2> /tmp/err; echo $?; echo '=='; cat /tmp/out; echo '=='; cat /tmp/err; echo '####'`;
    };
    const script = CASES.flatMap(([, command]) => [once(command), once(`${command} --json`)]).join('\n');
    const { stdout } = await place.inLab(['sh', '-c', script]);
    answers = stdout
      .split('####\n')
      .slice(0, -1)
      .map((part) => {
        const [status = '', out = '', err = ''] = part.split('==\n');
        return { status: Number(status), stdout: out, stderr: err };
      });
  }, 300_000);

  it.each(CASES)('%s', (_name, command, expected) => {
    const index = CASES.findIndex(([, each]) => each === command);
    const [text, json] = answers.slice(index * 2, index * 2 + 2);
    expect([text?.status, json?.status], text?.stderr).toEqual([expected.status, expected.status]);
    expectFailure(text?.stderr ?? '', json?.stdout ?? '', expected);
  });
});
