/**
 * Declared layouts and codes against C headers: generates C programs, compiles and runs them. Needs a C
 * compiler (`cc`, or the one that CC names) and the headers of libibverbs, libibumad and the kernel.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Member } from '../../src/layout/codec.ts';
import type { Fields, Struct } from '../../src/layout/struct.ts';

const COMPILER = process.env['CC'] ?? 'cc';

const HEADERS = [
  'infiniband/verbs.h',
  'infiniband/sa.h',
  'infiniband/ib.h',
  'rdma/rdma_cma.h',
  'infiniband/efadv.h',
  'rdma/rdma_user_ioctl_cmds.h',
  'rdma/ib_user_ioctl_cmds.h',
  'rdma/ib_user_ioctl_verbs.h',
  'rdma/ib_user_mad.h',
  'rdma/ib_user_verbs.h',
  'rdma/efa-abi.h',
] as const;

/** INTEGER_TYPE(x) is the name of an integer's type as layouts have it; an enum has its underlying type. */
const INTEGER_TYPE = `#define INTEGER_TYPE(x) _Generic((x), \\
	int8_t: "s8", uint8_t: "u8", int16_t: "s16", uint16_t: "u16", int32_t: "s32", uint32_t: "u32", \\
	long: "s64", long long: "s64", unsigned long: "u64", unsigned long long: "u64", default: "other")`;

const INCLUDES = ['endian.h', 'netinet/in.h', 'stddef.h', 'stdint.h', 'stdio.h', 'string.h', ...HEADERS];
/** libibumad has a structure of its own under a name of the kernel's. */
const LIBIBUMAD = `#define ib_user_mad libibumad_user_mad
#include <infiniband/umad.h>
#undef ib_user_mad`;
const PREAMBLE = [...INCLUDES.map((header) => `#include <${header}>`), LIBIBUMAD].join('\n');

/** The kernel's header of the user CM, which cannot stand beside librdmacm's: both name the port spaces. */
export const USER_CM_PREAMBLE = [
  'endian.h',
  'stddef.h',
  'stdint.h',
  'stdio.h',
  'string.h',
  'rdma/rdma_user_cm.h',
]
  .map((header) => `#include <${header}>`)
  .join('\n');

/** Where a member lies, its size, and its type where it is an integer. */
export interface CMember {
  readonly offset: number;
  readonly size: number;
  readonly type: string;
}

/** What a C program says of a structure: the sizes and places of the members that the headers have. */
export interface CStruct {
  readonly size: number;
  readonly align: number;
  readonly members: ReadonlyMap<string, CMember>;
}

/** A structure's members at any depth, each with its path and its offset from the outermost start. */
export function memberPaths(
  members: readonly Member[],
  prefix = '',
  base = 0,
): { path: string; offset: number; member: Member }[] {
  return members.flatMap((member) => {
    const path = prefix + member.name;
    const offset = base + member.offset;
    return [{ path, offset, member }, ...memberPaths(member.codec.members ?? [], `${path}.`, offset)];
  });
}

/** C programs over the headers of one include path (`/usr/include`, or that of another root). */
export class CHeaders {
  readonly #directory = mkdtempSync(join(tmpdir(), 'rdmatool-headers-'));
  readonly #flags: readonly string[];
  readonly #preamble: string;

  /**
   * @param includePath holds infiniband/ and rdma/; everything else comes from the system
   * @param preamble begins each program
   */
  constructor(includePath: string, preamble = PREAMBLE) {
    this.#preamble = `${preamble}\n${INTEGER_TYPE}\n`;
    // Only these two: another root's libc headers would not go with this system's compiler.
    for (const folder of ['infiniband', 'rdma']) {
      symlinkSync(join(includePath, folder), join(this.#directory, folder));
    }
    this.#flags = ['-std=gnu11', '-w', '-I', this.#directory];
  }

  close(): void {
    rmSync(this.#directory, { recursive: true });
  }

  /** Those of the expressions that do not compile because the headers do not have a name in them. */
  unknownExpressions(expressions: readonly string[]): Set<string> {
    const source = join(this.#directory, 'probe.c');
    const lines = expressions.map(
      (expression, i) => `static inline void probe${i}(void) { (void)(${expression}); }`,
    );
    writeFileSync(source, `${this.#preamble}#line 1 "probe"\n${lines.join('\n')}\n`);
    const { status, stderr, error } = spawnSync(
      COMPILER,
      [...this.#flags, '-fsyntax-only', '-fmax-errors=0', '-fdiagnostics-color=never', source],
      { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 1 << 26 },
    );
    if (error) throw error;
    const unknown = new Set<string>();
    for (const [, file, line, message = ''] of stderr.matchAll(
      /^([^\s:]+):(\d+):(?:\d+:)? (?:fatal )?error: (.*)$/gm,
    )) {
      const expression = file === 'probe' ? expressions[Number(line) - 1] : undefined;
      const isUnknownName =
        /undeclared|has no member named|incomplete type|undefined type|invalid use of undefined/.test(
          message,
        );
      if (expression === undefined || !isUnknownName) throw new Error(`${COMPILER}: ${stderr}`);
      unknown.add(expression);
    }
    if (status !== 0 && unknown.size === 0) throw new Error(`${COMPILER}: ${stderr}`);
    return unknown;
  }

  /** Compiles and runs a program with this body of main(), and gives its output, line by line. */
  run(body: string): string[] {
    const [source, program] = [join(this.#directory, 'program.c'), join(this.#directory, 'program')];
    writeFileSync(source, `${this.#preamble}\nint main(void)\n{\n${body}\n\treturn 0;\n}\n`);
    execFileSync(COMPILER, [...this.#flags, '-o', program, source], { encoding: 'utf8' });
    return execFileSync(program, { encoding: 'utf8', maxBuffer: 1 << 26 })
      .trimEnd()
      .split('\n');
  }

  /** The names of all enumeration constants and of all macros without parameters. */
  constantNames(): string[] {
    const source = join(this.#directory, 'empty.c');
    writeFileSync(source, this.#preamble);
    const preprocess = (...flags: string[]): string =>
      execFileSync(COMPILER, [...this.#flags, '-E', ...flags, source], {
        encoding: 'utf8',
        maxBuffer: 1 << 26,
      });
    const bodies = [...preprocess('-P').matchAll(/\benum\b[^{};()]*\{([^}]*)\}/g)].map(
      ([, body = '']) => body,
    );
    const enumerators = bodies.flatMap((body) => [...body.matchAll(/(?:^|,)\s*([A-Za-z_]\w*)/g)]);
    const macros = [...preprocess('-dM').matchAll(/^#define ([A-Za-z_]\w*) /gm)];
    return [...new Set([...enumerators, ...macros].map(([, name = '']) => name))].sort();
  }

  /** Values of constant expressions, as 64 bits; null where the headers do not have the name. */
  constants(names: readonly string[]): Map<string, bigint | null> {
    const unknown = this.unknownExpressions(names);
    const known = names.filter((name) => !unknown.has(name));
    const lines = this.run(
      known.map((name) => `\tprintf("%llu\\n", (unsigned long long)(${name}));`).join('\n'),
    );
    const values = new Map<string, bigint | null>(names.map((name) => [name, null]));
    known.forEach((name, index) => {
      values.set(name, BigInt(lines[index] ?? 'nothing printed'));
    });
    return values;
  }

  /** What the headers say of each structure and its members; null where there is no such structure. */
  structs(layouts: readonly Struct<Fields>[]): Map<string, CStruct | null> {
    const sizeOf = (tag: string): string => `sizeof(struct ${tag})`;
    const memberOf = (tag: string, path: string): string => `((struct ${tag} *)0)->${path}`;
    const wanted = layouts.flatMap((layout) => [
      sizeOf(layout.title),
      ...memberPaths(layout.members).map(({ path }) => `sizeof(${memberOf(layout.title, path)})`),
    ]);
    const unknown = this.unknownExpressions(wanted);
    const structs = new Map<string, CStruct | null>();
    const lines: string[] = [];
    for (const layout of layouts) {
      const tag = layout.title;
      if (unknown.has(sizeOf(tag))) {
        structs.set(tag, null);
        continue;
      }
      lines.push(`\tprintf("S ${tag} . %zu %zu\\n", ${sizeOf(tag)}, _Alignof(struct ${tag}));`);
      for (const { path } of memberPaths(layout.members)) {
        if (unknown.has(`sizeof(${memberOf(tag, path)})`)) continue;
        const member = memberOf(tag, path);
        lines.push(
          `\tprintf("M ${tag} ${path} %zu %zu %s\\n", offsetof(struct ${tag}, ${path}), sizeof(${member}), INTEGER_TYPE(${member}));`,
        );
      }
    }
    let members = new Map<string, CMember>();
    for (const line of this.run(lines.join('\n'))) {
      const [kind, tag = '', path = '', first, second, type = ''] = line.split(' ');
      if (kind === 'S') {
        members = new Map();
        structs.set(tag, { size: Number(first), align: Number(second), members });
      } else {
        members.set(path, { offset: Number(first), size: Number(second), type });
      }
    }
    return structs;
  }
}
