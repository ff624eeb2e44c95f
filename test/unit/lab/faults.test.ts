import { describe, expect, it } from 'vitest';
import { EFA_FAULTS, parseFaults } from '../../../src/lab/efa/faults.ts';

// Numbers: errno(3) on Linux.
const EIO = 5;
const EACCES = 13;
const ENODEV = 19;

describe('parseFaults', () => {
  it('reads faults of devices, those for all first', () => {
    const faults = parseFaults([
      '*:open=EACCES',
      'a:open=eio',
      'a:no-node',
      'b:caps=0x80000003',
      'b:mode=0600',
    ]);
    expect(faults.of('a')).toEqual({ open: EIO, noNode: true });
    expect(faults.of('b')).toEqual({ open: EACCES, caps: 0x80000003, mode: 0o600 });
    expect(faults.of('c')).toEqual({ open: EACCES });
    expect(faults.devices).toEqual(['a', 'b']);
  });

  it('reads every fault that it lists', () => {
    const examples: { readonly [placeholder: string]: string } = {
      ERRNO: 'ENODEV',
      OCTAL: '0640',
      GUID: '0',
      MASK: '3',
      MS: '20',
      SYMBOL: 'ibv_query_device',
      FILE: 'libefa.so.1',
    };
    const texts = EFA_FAULTS.map(({ syntax }) =>
      syntax.replace('NAME', 'dev').replace(/=(\w+)$/, (_, word: string) => `=${examples[word] ?? '?'}`),
    );
    const faults = parseFaults(texts);
    expect(faults.machine).toEqual({
      noProvider: true,
      noModule: true,
      noDriver: true,
      noDevice: true,
      noNetlink: true,
      hiddenSymbols: ['ibv_query_device'],
      hiddenLibraries: ['libefa.so.1'],
    });
    expect(faults.of('dev')).toEqual({
      open: ENODEV,
      noNode: true,
      mode: 0o640,
      guid: 0n,
      caps: 3,
      context: ENODEV,
      queryDevice: ENODEV,
      queryPort: ENODEV,
      gidTable: ENODEV,
      gidEntry: ENODEV,
      delayUs: 20_000,
    });
    expect(EFA_FAULTS.every(({ description }) => description !== '')).toBe(true);
  });

  it('reads an errno by number and a GUID as sysfs prints it', () => {
    expect(parseFaults(['a:open=13']).of('a')).toEqual({ open: EACCES });
    expect(parseFaults(['a:guid=0242:acff:fe11:0002']).of('a')).toEqual({ guid: 0x0242acfffe110002n });
  });

  it('collects what is hidden', () => {
    const { machine } = parseFaults(['hide-symbol=a', 'hide-symbol=b', 'hide-library=libx.so.1']);
    expect(machine).toMatchObject({ hiddenSymbols: ['a', 'b'], hiddenLibraries: ['libx.so.1'] });
  });

  it.each([
    ['a:opne=EIO', 'there is no fault "a:opne=EIO"'],
    ['no-such', 'there is no fault "no-such"'],
    ['open=EIO', 'there is no fault'],
    ['a:no-provider', 'there is no fault'],
    ['', 'there is no fault'],
    ['a:open', 'a:open: open needs the name or number of an errno'],
    ['a:open=', 'needs the name or number of an errno'],
    ['a:open=EWHAT', 'needs the name or number of an errno'],
    ['a:open=0', 'needs the name or number of an errno'],
    ['a:no-node=1', 'no-node takes no value'],
    ['no-module=1', 'no-module takes no value'],
    ['a:mode=0999', 'mode needs three octal digits'],
    ['a:caps=0x1ffffffff', 'caps needs a mask of 32 bits'],
    ['a:guid=xyz', 'guid needs a GUID'],
    ['a:delay=-1', 'delay needs milliseconds'],
    ['a:delay=1.5', 'delay needs milliseconds'],
    ['hide-symbol=', 'hide-symbol needs the name of a function'],
    ['hide-library=/lib/libx.so', 'hide-library needs the file name'],
  ])('refuses %j', (text, message) => {
    expect(() => parseFaults([text])).toThrow(
      expect.objectContaining({ code: 'usage', exit: 2, message: expect.stringContaining(message) }),
    );
  });
});
