// @ts-check
// The keys of published schemas with their types, one line each, and what may become of them under the same version.

/** @typedef {{ readonly [keyword: string]: any }} Schema */
/** Lines of `PATH TYPES` by the id of the schema. @typedef {Record<string, readonly string[]>} Published */

/**
 * Every key path of a schema with its types: `.devices[].port integer | null`, `.error.code = "USAGE" | ...`. A key
 * that may be left out has a `?` after it; `{}` stands for any key of a map.
 *
 * @param {Schema} schema
 * @returns {string[]}
 */
export function keyLines(schema) {
  /** @type {Map<string, Set<string>>} */
  const found = new Map();
  visit(schema, '', found);
  return [...found].map(([path, types]) => `${path || '.'} ${[...types].sort().join(' | ')}`).sort();
}

/** @param {Schema} schema @param {string} path @param {Map<string, Set<string>>} found */
function visit(schema, path, found) {
  const types = found.get(path) ?? new Set();
  found.set(path, types);
  if ('const' in schema) types.add(`=${JSON.stringify(schema['const'])}`);
  for (const value of schema['enum'] ?? []) types.add(`=${JSON.stringify(value)}`);
  if (!('const' in schema || 'enum' in schema))
    for (const type of [schema['type'] ?? []].flat()) types.add(type);
  for (const each of [...(schema['anyOf'] ?? []), ...(schema['oneOf'] ?? []), ...(schema['allOf'] ?? [])]) {
    visit(each, path, found);
  }
  for (const [key, inner] of Object.entries(schema['properties'] ?? {})) {
    visit(inner, `${path}.${key}${schema['required']?.includes(key) ? '' : '?'}`, found);
  }
  for (const inner of Object.values(schema['patternProperties'] ?? {})) visit(inner, `${path}{}`, found);
  if (typeof schema['additionalProperties'] === 'object')
    visit(schema['additionalProperties'], `${path}{}`, found);
  if (schema['items']) visit(schema['items'], `${path}[]`, found);
  for (const each of schema['prefixItems'] ?? []) visit(each, `${path}[]`, found);
}

/** @param {string} line */
function parts(line) {
  const at = line.indexOf(' ');
  const types = line.slice(at + 1).split(' | ');
  return {
    path: line.slice(0, at),
    types: types.filter((type) => !type.startsWith('=')),
    values: types.filter((type) => type.startsWith('=')),
  };
}

/**
 * What readers of the recorded keys would miss: a key that is gone, a type that is another one, a value of an enum
 * that is gone. Keys and values that are new are no breach.
 *
 * @param {readonly string[]} recorded @param {readonly string[]} current
 * @returns {string[]}
 */
export function breaches(recorded, current) {
  const now = new Map(current.map((line) => [parts(line).path, parts(line)]));
  return recorded.flatMap((line) => {
    const { path, types, values } = parts(line);
    const own = now.get(path);
    if (!own) return [`${path} is gone`];
    const gone = values.filter((value) => !own.values.includes(value));
    return [
      ...(types.join() === own.types.join() && values.length > 0 === own.values.length > 0
        ? []
        : [`${path} was ${types.join(' | ') || 'an enum'}, and is ${own.types.join(' | ') || 'an enum'}`]),
      ...(gone.length > 0 && own.values.length > 0 ? [`${path} has no longer ${gone.join(', ')}`] : []),
    ];
  });
}

/**
 * The breaches of all schemas of which a version stands in the record.
 *
 * @param {Published} recorded @param {Published} current
 */
export function allBreaches(recorded, current) {
  return Object.entries(recorded).flatMap(([id, lines]) => {
    const own = current[id];
    if (own) return breaches(lines, own).map((breach) => `${id}: ${breach}`);
    const [, name, version] = /^(.*)\/(\d+)$/.exec(id) ?? [];
    const isNewer = Object.keys(current).some((other) => {
      const [, otherName, otherVersion] = /^(.*)\/(\d+)$/.exec(other) ?? [];
      return otherName === name && Number(otherVersion) > Number(version);
    });
    return isNewer ? [] : [`${id} is gone`];
  });
}

/**
 * The schemas by their ids: that of the `schema` key, or of the first one where a command prints several.
 *
 * @param {Readonly<Record<string, Schema>>} schemas  by command
 * @returns {Published}
 */
export function publishedKeys(schemas) {
  return Object.fromEntries(
    Object.values(schemas).map((schema) => {
      const lines = keyLines(schema);
      const id = /="(rdmatool\/[a-z-]+\/\d+)"/.exec(
        lines.find((line) => line.startsWith('.schema ')) ?? '',
      )?.[1];
      if (id === undefined) throw new Error('a schema without an id');
      return [id, lines];
    }),
  );
}
