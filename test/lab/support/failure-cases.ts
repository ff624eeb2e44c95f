/** What the user gets when something fails: the same in the table, on stderr and in the document. */
import { expect } from 'vitest';
import type { EfaLab } from '../../../src/lab/efa/lab.ts';
import { queryDevice, type RunOptions, rdmatool } from './rdmatool.ts';

type Outcome = Awaited<ReturnType<typeof queryDevice>>;
export type Device = Outcome['document']['devices'][number];
export type FailureOf = NonNullable<Device['error']>;

export interface Expected {
  readonly status: number;
  readonly code: FailureOf['code'];
  /** `EACCES`, or null where no call failed. */
  readonly errno: string | null;
  /** Each must stand in the message: the device, the node, what happened, by name and number. */
  readonly says: readonly (string | RegExp)[];
  /** Each must stand in the hint. */
  readonly next: readonly (string | RegExp)[];
}

const matches = (text: string, part: string | RegExp): boolean =>
  typeof part === 'string' ? text.includes(part) : part.test(text);

/** Expects one failure of a command in all its forms, and gives the document. */
export async function expectFailure(
  args: readonly string[],
  place: EfaLab | null,
  { status, code, errno, says, next }: Expected,
  options: RunOptions = {},
): Promise<Outcome> {
  const [json, people] = await Promise.all([
    queryDevice(args, { ...options, lab: place }),
    rdmatool(['query-device', ...args], { ...options, lab: place }),
  ]);
  const { error } = json.document;
  expect({ status: json.status, error, stderr: json.stderr }).toMatchObject({
    status,
    error: { code, errno: errno === null ? null : { name: errno } },
  });
  if (error === null) throw new Error('no error');
  for (const part of says) {
    expect(matches(error.message, part), `${error.message} says ${part}`).toBe(true);
  }
  for (const part of next) expect(matches(error.hint, part), `${error.hint} says ${part}`).toBe(true);
  if (error.errno !== null) expect(error.message).toContain(`${error.errno.name} (${error.errno.value}), `);
  // stderr is the same text, with or without --json, and nothing else.
  const text = `rdmatool: ${error.message}\nnext: ${error.hint}\n`;
  expect(json.stderr).toBe(text);
  expect(people.stderr).toBe(text);
  expect(people.status).toBe(status);
  // No trace of the program's inside.
  expect(text).not.toMatch(/undefined|\[object|null|NaN|\.cjs|at .*:\d+|Error:/);
  for (const device of json.document.devices) {
    if (device.error === null) continue;
    expect(people.stdout).toContain(device.error.message);
    expect(people.stdout).toContain(device.error.hint);
  }
  return json;
}
