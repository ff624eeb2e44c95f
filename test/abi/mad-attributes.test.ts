/** Every attribute against independent C code, on random bytes: libibmad, and the structures of opensm. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ATTRIBUTES, componentBits } from '../../src/datagram/attributes.ts';
import { randomFrom } from '../unit/layout/support.ts';
import { C_COMPONENTS, C_FIELDS } from './mad-c-fields.ts';

const BUFFERS = 1000;
const LONGEST = 256;

/** Texts are compared with smpquery and saquery in the lab; messages of the connection manager with tshark. */
const isElsewhere = (family: string, field: string): boolean =>
  family === 'communication' || field === 'node_description' || field === 'service_name';

const folder = mkdtempSync(join(tmpdir(), 'rdmatool-mad-'));
afterAll(() => rmSync(folder, { recursive: true }));
const program = join(folder, 'fields');

/** Every attribute, and every form of a Notice. */
const LAYOUTS = ATTRIBUTES.flatMap(({ family, name, layout, forms }) => [
  { family, key: `${family}/${name}`, layout },
  ...forms.map((form) => ({
    family,
    key: `${family}/${name} of trap ${form.traps.join()}`,
    layout: form.layout,
  })),
]);
const known = LAYOUTS.filter(({ key }) => C_FIELDS[key] !== undefined);

beforeAll(() => {
  const cases = known.map((attribute, index) => {
    const prints = Object.values(C_FIELDS[attribute.key] ?? {}).map((expression) =>
      expression
        .split(' ; ')
        .map((one) => (one.startsWith('H(') ? `${one};` : `N(${one});`))
        .join(' ')
        .concat(" putchar(' ');"),
    );
    return `case ${index}: ${prints.join('\n')} break;`;
  });
  writeFileSync(
    `${program}.c`,
    `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mad.h>
#undef IB_NODE_TYPE_CA
#include <iba/ib_types.h>
static void hex(const unsigned char *p, int n) { for (int i = 0; i < n; i++) printf("%02x", p[i]); }
#define H(p, n) hex((const unsigned char *)(p), n)
#define N(x) printf("%llu,", (unsigned long long)(x))
static unsigned char b[${LONGEST}] __attribute__((aligned(8)));
int main(void) {
	int which;
	char text[${LONGEST * 2 + 1}];
	while (scanf("%d %${LONGEST * 2}s", &which, text) == 2) {
		for (int i = 0; i < ${LONGEST}; i++) { unsigned v; sscanf(text + 2 * i, "%2x", &v); b[i] = v; }
		switch (which) {
${cases.join('\n')}
		}
		putchar('\\n');
	}
	return 0;
}
`,
  );
  const flags = ['-std=gnu11', '-w', '-O0', '-I/usr/include/infiniband'];
  execFileSync('cc', [...flags, '-o', program, `${program}.c`, '-libmad', '-losmcomp'], { stdio: 'pipe' });
});

/** A decoded value as the C program prints it. */
function printed(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (!Array.isArray(value)) return `${value},`;
  return value
    .map((element) =>
      typeof element === 'object' && element !== null
        ? Object.values(element)
            .map((part) => `${part},`)
            .join('')
        : `${element},`,
    )
    .join('');
}

test('every attribute has its fields in the C table, but those compared elsewhere', () => {
  const missing = LAYOUTS.flatMap((attribute) =>
    attribute.layout.members
      .map(({ name }) => name)
      .filter((name) => !isElsewhere(attribute.family, name))
      .filter((name) => C_FIELDS[attribute.key]?.[name] === undefined)
      .map((name) => `${attribute.key}.${name}`),
  );
  expect(missing).toEqual([]);
});

test(`all fields of ${BUFFERS} random buffers an attribute have the values that C code reads`, () => {
  const random = randomFrom(1401);
  const inputs = known.flatMap((attribute, index) =>
    Array.from({ length: BUFFERS }, () => ({ attribute, index, bytes: random.bytes(LONGEST) })),
  );
  const lines = execFileSync(program, {
    input: inputs.map(({ index, bytes }) => `${index} ${Buffer.from(bytes).toString('hex')}`).join('\n'),
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  }).split('\n');
  inputs.forEach(({ attribute, bytes }, index) => {
    const names = Object.keys(C_FIELDS[attribute.key] ?? {});
    const values: Readonly<Record<string, unknown>> = attribute.layout.decode(bytes);
    const ours = names.map((name) => `${name}=${printed(values[name])}`);
    const theirs = (lines[index] ?? '').trimEnd().split(' ');
    const expected = names.map((name, place) => `${name}=${theirs[place]}`);
    if (ours.join() !== expected.join()) expect(ours, attribute.key).toEqual(expected);
  });
});

test('component masks are those of ib_types.h', () => {
  const wanted = Object.entries(C_COMPONENTS).flatMap(([record, fields]) =>
    Object.entries(fields).map(([field, constant]) => ({ record, field, constant })),
  );
  const source = join(folder, 'masks');
  writeFileSync(
    `${source}.c`,
    `#include <stdio.h>\n#include <iba/ib_types.h>\nint main(void) {\n${wanted
      .map(({ constant }) => `printf("%llu\\n", (unsigned long long)cl_ntoh64(IB_${constant}));`)
      .join('\n')}\nreturn 0; }\n`,
  );
  execFileSync('cc', ['-w', '-I/usr/include/infiniband', '-o', source, `${source}.c`], { stdio: 'pipe' });
  const lines = execFileSync(source, { encoding: 'utf8' }).trimEnd().split('\n');
  const ours = wanted.map(({ record, field }) => {
    const attribute = ATTRIBUTES.find(({ name }) => name === record);
    return `${record}.${field}=${attribute && componentBits(attribute)?.get(field)}`;
  });
  expect(ours).toEqual(wanted.map(({ record, field }, index) => `${record}.${field}=${lines[index]}`));
});
