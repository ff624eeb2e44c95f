/** The house rules that a compiler does not check: who may import whom, and who may know what. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../../src');

/** Each part of src/, and the parts that it may import: downwards only. `root` is src/ itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  root: ['commands', 'output', 'explain', 'waiting'],
  commands: [
    'views',
    'model',
    'output',
    'cm',
    'mad',
    'devices',
    'doctor',
    'decode',
    'trace',
    'datagram',
    'lab',
    'explain',
    'system',
    'waiting',
    'root',
  ],
  library: ['cm', 'mad', 'devices', 'decode', 'model', 'datagram', 'explain', 'layout'],
  views: ['model', 'output', 'explain', 'datagram', 'abi', 'layout'],
  output: [],
  devices: ['model', 'explain', 'system', 'native', 'abi', 'layout', 'waiting'],
  cm: ['devices', 'model', 'explain', 'system', 'native', 'abi', 'layout', 'waiting'],
  mad: ['model', 'explain', 'system', 'native', 'datagram', 'abi', 'layout', 'waiting'],
  doctor: ['cm', 'devices', 'model', 'explain', 'system', 'abi', 'waiting'],
  decode: ['model', 'explain', 'datagram', 'abi', 'layout'],
  trace: ['decode', 'model', 'explain', 'system', 'processes', 'datagram', 'abi', 'layout', 'waiting'],
  model: ['explain', 'datagram', 'abi', 'layout'],
  explain: ['abi', 'layout'],
  system: ['native'],
  native: ['abi', 'layout'],
  datagram: ['abi', 'layout'],
  abi: ['layout'],
  layout: [],
  waiting: [],
  processes: [],
  lab: ['abi', 'layout', 'explain', 'processes', 'root'],
};

/** The only files outside a part that may reach what is meant for few. */
const PACKAGE_ROOT = 'package-root.ts';

interface SourceFile {
  readonly path: string;
  readonly part: string;
  readonly text: string;
  readonly imports: readonly string[];
}

function sourcesUnder(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return sourcesUnder(path);
    return path.endsWith('.ts') ? [path] : [];
  });
}

const partOf = (path: string): string => {
  const [first = '', ...rest] = relative(SRC, path).split('/');
  return rest.length === 0 ? 'root' : first;
};

const FILES: readonly SourceFile[] = sourcesUnder(SRC).map((path) => {
  const text = readFileSync(path, 'utf8');
  return {
    path,
    part: partOf(path),
    text,
    imports: ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName),
  };
});

const name = (file: SourceFile): string => `src/${relative(SRC, file.path)}`;

describe('the layers', () => {
  it('has a rule for every folder of src', () => {
    expect([...new Set(FILES.map(({ part }) => part))].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it('imports point downwards only', () => {
    const upward = FILES.flatMap((file) =>
      file.imports
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => resolve(dirname(file.path), specifier))
        .filter((target) => {
          const part = partOf(target);
          return part !== file.part && !(MAY_IMPORT[file.part] ?? []).includes(part);
        })
        .map((target) => `${name(file)} imports src/${relative(SRC, target)}`),
    );
    expect(upward).toEqual([]);
  });

  it('nothing but package-root.ts of the root is imported from below', () => {
    const wrong = FILES.filter(({ part }) => part !== 'root').flatMap((file) =>
      file.imports
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => resolve(dirname(file.path), specifier))
        .filter((target) => partOf(target) === 'root' && relative(SRC, target) !== PACKAGE_ROOT)
        .map((target) => `${name(file)} imports ${relative(SRC, target)}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has no import cycles', () => {
    const graph = new Map(
      FILES.map((file) => [
        file.path,
        file.imports.filter((s) => s.startsWith('.')).map((s) => resolve(dirname(file.path), s)),
      ]),
    );
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) {
        cycles.push([...trail.slice(trail.indexOf(path)), path].map((p) => relative(SRC, p)).join(' -> '));
        return;
      }
      if (done.has(path)) return;
      for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });
});

describe('what only some may know', () => {
  it('koffi is imported in src/native only', () => {
    const users = FILES.filter(({ imports }) => imports.includes('koffi'));
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter(({ part }) => part !== 'native').map(name)).toEqual([]);
  });

  it("nothing but src/lab knows the labs' variables and how they interpose", () => {
    const knowing = FILES.filter(({ text }) => /RDMATOOL_LAB|LD_PRELOAD/.test(text)).map(name);
    expect(knowing.length).toBeGreaterThan(0);
    expect(knowing.filter((path) => !path.startsWith('src/lab/'))).toEqual([]);
  });

  it('a lab is reached only from its command', () => {
    const users = FILES.filter(
      ({ part, imports }) => part !== 'lab' && imports.some((specifier) => specifier.includes('/lab/')),
    ).map(name);
    expect(users.filter((path) => !/^src\/commands\/lab-/.test(path))).toEqual([]);
  });

  it('only the streams write to stdout and stderr, and only main ends the process', () => {
    const writers = FILES.filter(({ text }) => /process\.(stdout|stderr)|console\./.test(text)).map(name);
    expect(writers.filter((path) => !/^src\/(output\/streams|lab\/)/.test(path))).toEqual([]);
    const enders = FILES.filter(({ text }) => /process\.exit\b/.test(text)).map(name);
    expect(enders.filter((path) => path !== 'src/main.ts')).toEqual([]);
  });

  it('no type is talked away', () => {
    const talked = FILES.filter(({ text }) =>
      /\bas any\b|: any\b|as unknown as|@ts-ignore|@ts-nocheck/.test(text),
    );
    expect(talked.map(name)).toEqual([]);
  });
});
