/** Reading what `query-device -v` prints for people. */

/** Rows of one section: label to what stands beside it. */
export type Rows = ReadonlyMap<string, string>;

export interface TableDevice {
  readonly name: string;
  /** What stands beside the name. */
  readonly detail: string;
  readonly sections: ReadonlyMap<string, Rows>;
  /** Rows of tables, such as GIDs, by section: cells by column title. */
  readonly tables: ReadonlyMap<string, readonly Rows[]>;
  readonly text: string;
}

export function parseTable(output: string): TableDevice[] {
  const devices: TableDevice[] = [];
  for (const text of output.split('\n\n')) {
    const lines = text.split('\n').filter((line) => line !== '');
    const first = lines.shift();
    if (first === undefined || /^(Answered by|Note)/.test(first)) continue;
    const [name = '', detail = ''] = first.split('  ');
    const sections = new Map<string, Map<string, string>>();
    const tables = new Map<string, Map<string, string>[]>();
    devices.push({ name, detail, sections, tables, text });
    let title = '';
    let columns: { readonly title: string; readonly start: number }[] | null = null;
    for (const line of lines) {
      const indent = line.search(/\S/);
      if (indent === 2) {
        title = line.trim();
        columns = null;
        if (sections.has(title)) throw new Error(`two sections ${title}`);
        sections.set(title, new Map());
        tables.set(title, []);
      } else if (/^ {4}(GID|P_KEY) +VALUE/.test(line)) {
        columns = [...line.matchAll(/\S+/g)].map(({ 0: column, index }) => ({ title: column, start: index }));
      } else if (columns !== null) {
        const starts = columns;
        const cells = starts.map(({ title: column, start }, index): [string, string] => [
          column,
          line.slice(start, starts[index + 1]?.start).trim(),
        ]);
        tables.get(title)?.push(new Map(cells));
      } else {
        const [, label = '', value = ''] = /^\s+(\S+(?: \S+)*?)(?: {2,}(.*))?$/.exec(line) ?? [];
        const rows = sections.get(title);
        if (rows === undefined || label === '') throw new Error(`not understood: ${JSON.stringify(line)}`);
        const known = rows.get(label);
        rows.set(label, known === undefined ? value : `${known}\n${value}`);
      }
    }
  }
  return devices;
}
