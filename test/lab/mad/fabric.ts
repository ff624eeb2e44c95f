/** Programs on a simulated fabric, for the tests: rdmatool and its peers. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IbLab, type IbLabOptions, prepareIbLab } from '../../../src/lab/ib/lab.ts';
import { product } from '../support/json.ts';

export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class TestFabric {
  readonly #directory = mkdtempSync(join(tmpdir(), 'rdmatool-mad-test-'));

  private constructor(readonly lab: IbLab) {}

  static async start(options: IbLabOptions): Promise<TestFabric> {
    return new TestFabric(await prepareIbLab(options));
  }

  /** Runs a shell command on a host of the fabric. */
  shell(command: string, host?: string, extra: NodeJS.ProcessEnv = {}): Promise<Outcome> {
    const env = { ...process.env, ...this.lab.env(host), ...extra };
    return new Promise((resolve) => {
      execFile(
        'sh',
        ['-c', command],
        { env, cwd: this.#directory, timeout: 50_000, maxBuffer: 1 << 26 },
        (error, stdout, stderr) => {
          resolve({ status: typeof error?.code === 'number' ? error.code : error ? 128 : 0, stdout, stderr });
        },
      );
    });
  }

  /** The JSON document that `rdmatool ...` prints. */
  async json(args: string, host?: string): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await this.shell(`rdmatool ${args} --json`, host);
    if (stdout === '') throw new Error(`rdmatool ${args}: ${stderr}`);
    return product(stdout);
  }

  async stop(): Promise<void> {
    await this.lab.remove();
    rmSync(this.#directory, { recursive: true });
  }
}
