/** The room for private data in an answer: filled, and one byte too small. */
import { expect } from 'vitest';
import type { Place } from '../roce/tools.ts';
import { LEFT, parse, RIGHT, SERVING } from './lab.ts';

export async function answersWithUpTo(
  place: Place,
  ps: 'tcp' | 'udp' | 'ib',
  answer: 'accept' | 'reject',
  limit: number,
): Promise<void> {
  const words = (length: number): string =>
    `rdmatool cm listen ${RIGHT} --port $((8000 + ${length})) --ps ${ps} ${answer === 'reject' ? '--reject' : ''} --count 1 --private-data ${'x'.repeat(length)} --json`;
  const { stdout } = await place.inLab([
    'bash',
    '-c',
    `${SERVING}
    serve ${words(limit)}
    until_said listening
    rdmatool cm connect ${RIGHT}:$((8000 + ${limit})) --bind ${LEFT} --ps ${ps} --json 2>/dev/null | tr -d '\\n'; echo
    served
    ${words(limit + 1)} 2>/dev/null; echo $?`,
  ]);
  const [full = '', over = '', status] = stdout.trim().split('\n');
  expect(parse('cm-connect', full)['connection']).toMatchObject({ private_data_text: 'x'.repeat(limit) });
  expect(status).toBe('2');
  expect(parse('cm-listen', over).error).toMatchObject({
    code: 'PRIVATE_DATA_TOO_LONG',
    message: expect.stringContaining(`carries at most ${limit}`),
  });
}
