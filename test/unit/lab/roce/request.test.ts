import { describe, expect, it } from 'vitest';
import { type CommandRequest, encodeRequest } from '../../../../src/lab/roce/request.ts';

const request: CommandRequest = {
  command: ['ls', '-l', ''],
  environment: { A: 'b=c' },
  directory: '/here',
  shares: [
    { path: '/here', at: '/here', access: 'read-write' },
    { path: '/tool', at: '/tool', access: 'read-only' },
    { path: '/node', at: '/copy', access: 'cached' },
  ],
  versions: { '/tool/x': '1 2' },
  links: { '/run/x': '/tool/x' },
  terminal: null,
  now: 1_700_000_000_250,
};

const records = (value: CommandRequest): string[] => encodeRequest(value).toString().split('\0').slice(0, -1);

describe('a request as the guest reads it', () => {
  it('is a sequence of letters and texts', () => {
    expect(records(request)).toEqual([
      'k1700000000.250',
      'v/tool/x',
      '1 2',
      'w/here',
      '/here',
      'r/tool',
      '/tool',
      'c/node',
      '/copy',
      'l/run/x',
      '/tool/x',
      'd/here',
      'eA=b=c',
      'als',
      'a-l',
      'a',
    ]);
  });

  it('tells the size of a terminal, and whether stderr is apart', () => {
    const size = { columns: 80, rows: 24 };
    expect(records({ ...request, terminal: { ...size, errorApart: false } })).toContain('t80x24');
    expect(records({ ...request, terminal: { ...size, errorApart: false } })).not.toContain('s');
    expect(records({ ...request, terminal: { ...size, errorApart: true } })).toContain('s');
  });
});
