/** Programs that a lab uses on its way: quiet, with what they wrote. */
import { spawn } from 'node:child_process';

export interface ToolOptions {
  readonly directory?: string;
  readonly input?: Uint8Array;
  readonly environment?: NodeJS.ProcessEnv;
  /** Ends the program; the promise is then rejected with an AbortError. */
  readonly abort?: AbortSignal | undefined;
}

export interface ToolResult {
  /** 127 where it could not be started. */
  readonly status: number;
  readonly output: Buffer;
  readonly messages: string;
}

/** Runs a program to its end. */
export function runTool(
  file: string,
  args: readonly string[],
  options: ToolOptions = {},
): Promise<ToolResult> {
  const { directory, input, environment, abort } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(directory === undefined ? {} : { cwd: directory }),
      ...(environment === undefined ? {} : { env: environment }),
      ...(abort === undefined ? {} : { signal: abort }),
    });
    const output: Buffer[] = [];
    let messages = '';
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      messages += text;
    });
    child.on('error', (error) => {
      if (error.name === 'AbortError') reject(error);
      else if (child.pid === undefined)
        resolve({ status: 127, output: Buffer.alloc(0), messages: error.message });
    });
    child.on('close', (code) => resolve({ status: code ?? 1, output: Buffer.concat(output), messages }));
    // A program that does not want all of its input is judged by its exit status.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
