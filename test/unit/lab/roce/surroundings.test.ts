import { describe, expect, it } from 'vitest';
import {
  type Places,
  planShares,
  surroundingsOf,
  versionedPaths,
} from '../../../../src/lab/roce/surroundings.ts';

const PLACES: Places = {
  directory: '/home/me/work',
  shares: [],
  packageRoot: '/opt/rdmatool',
  node: '/usr/bin/node',
};
const paths = (places: Partial<Places>) =>
  planShares({ ...PLACES, ...places })
    .filter(({ path, at }) => path === at)
    .map(({ path, access }) => `${path} ${access}`);

describe('what a command sees of the host', () => {
  it('is the current directory, rdmatool and Node', () => {
    expect(paths({ node: '/home/me/.nvm/v20/bin/node' })).toEqual([
      '/home/me/work read-write',
      '/opt/rdmatool read-only',
      '/home/me/.nvm/v20 cached',
    ]);
  });

  it('has nothing twice: what is in a directory that may be written to is there already', () => {
    expect(paths({ directory: '/opt', packageRoot: '/opt/rdmatool', node: '/opt/node/bin/node' })).toEqual([
      '/opt read-write',
    ]);
  });

  it('has a directory that may be written to inside one that may not', () => {
    expect(paths({ directory: '/opt/rdmatool/test' })).toEqual([
      '/opt/rdmatool read-only',
      '/opt/rdmatool/test read-write',
    ]);
  });

  it.each(['/', '/usr', '/usr/lib', '/etc', '/proc/1', '/dev', '/run'])(
    'leaves %s, which the guest has of its own',
    (directory) => {
      expect(paths({ directory })).toEqual(['/opt/rdmatool read-only']);
    },
  );

  it.each(['/tmp', '/tmp/x', '/run/user/0', '/dev/shm/x', '/usrlocal'])('has %s', (directory) => {
    expect(paths({ directory })).toContain(`${directory} read-write`);
  });

  it('has what the user asks for', () => {
    expect(paths({ shares: ['/srv/data'] })).toContain('/srv/data read-write');
  });

  it('has rdmatool once more, from the cache, last', () => {
    const last = planShares({ ...PLACES, directory: '/opt' }).at(-1);
    expect(last).toMatchObject({ path: '/opt/rdmatool', access: 'cached' });
    expect(last?.at).toMatch(/^\/run\/rdmatool\/\w+$/);
    expect(versionedPaths(PLACES)).toEqual(
      expect.arrayContaining(['/usr/bin/node', '/opt/rdmatool/dist', '/opt/rdmatool/package.json']),
    );
  });

  it('has the packages beside one that npm installed', () => {
    expect(paths({ packageRoot: '/home/me/x/node_modules/rdmatool' })).toContain(
      '/home/me/x/node_modules read-only',
    );
  });

  it('has only the folder of a Node that lies in no bin folder', () => {
    expect(paths({ node: '/home/me/tools/node' })).toContain('/home/me/tools cached');
  });
});

describe('the environment of a command', () => {
  const { environment, links } = surroundingsOf(
    { PATH: '/bin:/own', LANG: 'de', RDMAV_X: '1', HOME: '/home/me', TMPDIR: '/x', SSH_TTY: 'y', PWD: '/z' },
    PLACES,
  );

  it("is the caller's, without what means nothing in the guest", () => {
    expect(environment).toMatchObject({ LANG: 'de', RDMAV_X: '1', HOME: '/root', USER: 'root' });
    expect(Object.keys(environment)).not.toEqual(expect.arrayContaining(['TMPDIR']));
    expect(Object.keys(environment).filter((name) => /TMPDIR|SSH|PWD/.test(name))).toEqual([]);
  });

  it('finds the same programs first, then those of root, Node and rdmatool', () => {
    const [link = ''] = Object.keys(links);
    expect(link).toMatch(/^\/run\/rdmatool\/\w+\.bin\/rdmatool$/);
    expect(links[link]).toMatch(/^\/run\/rdmatool\/\w+\/bin\/rdmatool\.js$/);
    expect(environment['PATH']).toBe(`/bin:/own:/usr/sbin:/sbin:/usr/bin:${link.replace(/\/rdmatool$/, '')}`);
  });
  it('finds rdmatool inside of what npm installed', () => {
    const installed = surroundingsOf({}, { ...PLACES, packageRoot: '/x/node_modules/@scope/rdmatool' });
    expect(Object.values(installed.links)[0]).toMatch(
      /^\/run\/rdmatool\/\w+\/@scope\/rdmatool\/bin\/rdmatool\.js$/,
    );
  });
});
