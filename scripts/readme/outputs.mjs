// @ts-check
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RDMATOOL = fileURLToPath(new URL('../../bin/rdmatool.js', import.meta.url));

/** What a shell command prints on a terminal of a reader: both streams, as they come. @param {string} command */
function output(command) {
  const folder = mkdtempSync(join(tmpdir(), 'rdmatool-readme-'));
  try {
    symlinkSync(RDMATOOL, join(folder, 'rdmatool'));
    const { stdout } = spawnSync('sh', ['-c', `{ ${command}; } 2>&1`], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
    });
    // The kernel's release and how it runs differ from machine to machine.
    return stdout.replace(
      /^(lab roce: Linux \d+\.\d+)\S* in a virtual machine.*$/m,
      '$1 in a virtual machine',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The text with the output of each `$ command` in its console blocks.
 * @param {string} readme
 */
export function withOutputs(readme) {
  return readme.replace(
    /^```console\n\$ (.+)\n[\s\S]*?^```$/gm,
    (_, command) => `\`\`\`console\n$ ${command}\n${output(command)}\`\`\``,
  );
}
