/** Reading `ibv_devinfo -v`: every line of it, so that none can be forgotten. */

/** One line, and the deeper ones without a value of their own that follow it. */
export interface DevinfoEntry {
  /** As printed; `rss_caps.supported_qp` inside a part, `max_sge (2)` where a part has no heading. */
  readonly key: string;
  readonly text: string;
  readonly list: readonly string[];
}

export interface DevinfoDevice {
  readonly name: string;
  readonly entries: readonly DevinfoEntry[];
  readonly ports: readonly DevinfoPort[];
}

export interface DevinfoPort {
  readonly port: number;
  readonly entries: readonly DevinfoEntry[];
  readonly gids: readonly { readonly index: number; readonly gid: string; readonly type: string | null }[];
}

/** Lines that say in words that something is 0. */
const NOT_SUPPORTED = /^(completion_timestamp_mask|core clock|tag matching|cq moderation) not supported$/;

export function parseDevinfo(output: string): DevinfoDevice[] {
  const devices: DevinfoDevice[] = [];
  let ports: DevinfoPort[] = [];
  let gids: DevinfoPort['gids'][number][] = [];
  let entries: DevinfoEntry[] = [];
  let list: string[] = [];
  let part: { readonly name: string; readonly indent: number } | null = null;
  const add = (key: string, text: string): void => {
    list = [];
    const times = entries.filter((entry) => entry.key === key || entry.key.startsWith(`${key} (`)).length;
    entries.push({ key: times === 0 ? key : `${key} (${times + 1})`, text, list });
  };
  for (const line of output.split('\n')) {
    const indent = /^\t*/.exec(line)?.[0].length ?? 0;
    const content = line.trim();
    if (content === '') continue;
    if (part !== null && indent <= part.indent) part = null;
    const hca = /^hca_id:\s*(\S+)$/.exec(content)?.[1];
    const port = /^port:\s*(\d+)$/.exec(content)?.[1];
    const gid = /^GID\[\s*(\d+)\]:\s*([0-9a-f:.]+)(?:, (.+))?$/.exec(content);
    const pair = /^([\w -]+):(?:\s+(.*))?$/.exec(content);
    if (hca !== undefined) {
      [entries, ports] = [[], []];
      devices.push({ name: hca, entries, ports });
    } else if (port !== undefined) {
      [entries, gids] = [[], []];
      ports.push({ port: Number(port), entries, gids });
    } else if (gid) gids.push({ index: Number(gid[1]), gid: gid[2] ?? '', type: gid[3] ?? null });
    // Names of flags stand five tabs deep.
    else if (indent >= 5) list.push(content);
    else if (NOT_SUPPORTED.test(content)) add(content, '0');
    else if (pair) {
      const [, key = '', text = ''] = pair;
      add(part === null ? key : `${part.name}.${key}`, text);
      if (/^(tso|rss|packet_pacing)_caps$|^cq moderation caps$/.test(key)) part = { name: key, indent };
    } else throw new Error(`ibv_devinfo prints a line that is not understood: ${JSON.stringify(line)}`);
  }
  return devices;
}
