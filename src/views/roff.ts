/** Pieces of manual pages, in man(7) macros. */

/** Text in which roff shall see no command: backslashes, and a dot or quote at the start of a line. */
export const escapeRoff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

export const bold = (text: string): string => `\\fB${escapeRoff(text)}\\fR`;

export const section = (title: string, ...lines: readonly string[]): string[] => [`.SH ${title}`, ...lines];

/** Of the version in package.json. */
const RELEASE_DATE = '2026-11-30';

export const header = (name: string, version: string, number = 1): string =>
  `.TH "${escapeRoff(name.toUpperCase())}" "${number}" "${RELEASE_DATE}" "rdmatool ${version}" "rdmatool"`;

export const page = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

/** A table for tbl(1), whose last column folds. The page begins with TABLES. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const layout = [...columns.slice(1).map(() => 'l'), 'lx'].join(' ');
  return [
    '.TS',
    `${columns.map(() => 'lb').join(' ')}`,
    `${layout}.`,
    columns.join('\t'),
    ...rows.map((row) => {
      const cells = row.map((cell) => escapeRoff(cell));
      return `${cells.slice(0, -1).join('\t')}\tT{\n${cells.at(-1) ?? ''}\nT}`;
    }),
    '.TE',
  ];
}

/** Says to man(1) that tbl(1) is wanted: the first line of a page. */
export const TABLES = `'\\" t`;
