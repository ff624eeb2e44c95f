import { describe, expect, it } from 'vitest';
import { dependenciesOf, loadingOrder, moduleName } from '../../../../src/lab/roce/kernel-modules.ts';

const tree = (modules: Record<string, readonly string[]>, builtIn: readonly string[] = []) => ({
  isBuiltIn: (name: string) => builtIn.includes(name),
  dependencies: async (name: string) => modules[name] ?? null,
});

const names = async (order: ReturnType<typeof loadingOrder>) => (await order).map(({ name }) => name);

describe('the order of loading', () => {
  it('has every module once, after what it depends on', async () => {
    const modules = tree({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [], e: ['a'] });
    expect(await names(loadingOrder([{ name: 'a' }, { name: 'e' }], modules))).toEqual([
      'd',
      'b',
      'c',
      'a',
      'e',
    ]);
  });

  it('leaves out what is built in', async () => {
    expect(await names(loadingOrder([{ name: 'a' }, { name: 'b' }], tree({ a: ['b'] }, ['b'])))).toEqual([
      'a',
    ]);
  });

  it('carries parameters', async () => {
    expect(await loadingOrder([{ name: 'a', parameters: 'x=0' }], tree({ a: [] }))).toEqual([
      { name: 'a', parameters: 'x=0' },
    ]);
  });

  it('skips an optional module that is missing, or depends on one that is', async () => {
    const wanted = [{ name: 'a', optional: true }, { name: 'b', optional: true }, { name: 'c' }];
    expect(await names(loadingOrder(wanted, tree({ b: ['nowhere'], c: [] })))).toEqual(['c']);
  });

  it('names what a kernel lacks', async () => {
    await expect(loadingOrder([{ name: 'a' }], tree({ a: ['b'] }))).rejects.toThrow(
      'the kernel has no module b',
    );
  });
});

describe('a module', () => {
  it.each([
    ['kernel/drivers/net/veth.ko', 'veth'],
    ['/x/crypto/crc32-pclmul.ko.xz', 'crc32_pclmul'],
    ['ib_core.ko.zst', 'ib_core'],
  ])('%s is named %s', (file, name) => {
    expect(moduleName(file)).toBe(name);
  });

  it('tells what it depends on', () => {
    const module = (text: string) => Buffer.from(`ELF...\0license=GPL\0depends=${text}\0name=x\0`);
    expect(dependenciesOf(module('ib_core,udp-tunnel'))).toEqual(['ib_core', 'udp_tunnel']);
    expect(dependenciesOf(module(''))).toEqual([]);
    expect(dependenciesOf(Buffer.from('nothing'))).toEqual([]);
  });
});
