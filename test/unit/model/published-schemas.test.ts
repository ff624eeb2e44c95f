/** What scripts read of the published documents stays: keys, their types, the values of enums. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allBreaches, breaches, keyLines, publishedKeys } from '../../../scripts/build/published-keys.mjs';
import { SCHEMAS } from '../../../src/model/schemas.ts';

const FILE = join(import.meta.dirname, '../../fixtures/published-schemas.json');
const recorded: Record<string, string[]> = JSON.parse(readFileSync(FILE, 'utf8'));
const current = publishedKeys(JSON.parse(JSON.stringify(SCHEMAS)));

describe('published schemas', () => {
  it('keep every key, type and value that was published under their version', () => {
    expect(allBreaches(recorded, current)).toEqual([]);
  });

  it('are recorded with all that they have: npm run schemas -- --record', () => {
    expect(Object.keys(current).sort()).toEqual(Object.keys(recorded).sort());
    for (const [id, lines] of Object.entries(current)) expect(lines, id).toEqual(recorded[id]);
  });
});

describe('of the real schemas', () => {
  it('no line can go unnoticed', () => {
    for (const [id, lines] of Object.entries(recorded)) {
      const unnoticed = lines.filter(
        (line) =>
          breaches(
            lines,
            lines.filter((other) => other !== line),
          ).length !== 1,
      );
      expect(unnoticed, id).toEqual([]);
    }
  });
});

describe('what counts as a breach', () => {
  const schema = {
    type: 'object',
    required: ['name', 'state', 'port', 'list', 'map'],
    properties: {
      name: { type: 'string' },
      state: { enum: ['up', 'down'] },
      port: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      list: {
        type: 'array',
        items: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
      },
      map: { type: 'object', patternProperties: { '^.*$': { type: 'string' } } },
    },
  };
  const before = keyLines(schema);
  const changed = (properties: object, required = schema.required): string[] =>
    breaches(before, keyLines({ ...schema, required, properties: { ...schema.properties, ...properties } }));

  it('finds every key', () => {
    expect(before).toEqual([
      '. object',
      '.list array',
      '.list[] object',
      '.list[].a string',
      '.map object',
      '.map{} string',
      '.name string',
      '.port integer | null',
      '.state ="down" | ="up"',
    ]);
  });

  it.each([
    ['a type', { name: { type: 'integer' } }, '.name was string, and is integer'],
    ['null no more', { port: { type: 'integer' } }, '.port was integer | null, and is integer'],
    [
      'null now',
      { name: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      '.name was string, and is null | string',
    ],
    ['a value is gone', { state: { enum: ['up'] } }, '.state has no longer ="down"'],
    ['an enum now', { name: { enum: ['a'] } }, '.name was string, and is an enum'],
    ['a key inside', { list: { type: 'array', items: { type: 'object' } } }, '.list[].a is gone'],
    [
      'a map',
      { map: { type: 'object', patternProperties: { '^.*$': { type: 'integer' } } } },
      '.map{} was string, and is integer',
    ],
  ])('%s', (_what, properties, said) => {
    expect(changed(properties)).toEqual([said]);
  });

  it('a key that is gone, and one that may be left out now', () => {
    const { name: _gone, ...others } = schema.properties;
    expect(breaches(before, keyLines({ ...schema, properties: others }))).toEqual(['.name is gone']);
    expect(changed({}, ['state', 'port', 'list', 'map'])).toEqual(['.name is gone']);
  });

  it('new keys and values are none; a new version is free', () => {
    expect(changed({ more: { type: 'string' }, state: { enum: ['up', 'down', 'armed'] } })).toEqual([]);
    expect(allBreaches({ 'a/1': ['.x string'] }, { 'a/2': [] })).toEqual([]);
    expect(allBreaches({ 'a/2': ['.x string'] }, { 'a/1': [] })).toEqual(['a/2 is gone']);
  });
});
