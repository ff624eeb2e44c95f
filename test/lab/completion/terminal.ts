/** A shell on a terminal, and what its Tab key makes of a command line. */
import { type ChildProcess, spawn } from 'node:child_process';

export interface ShellOptions {
  /** How it starts, and what it runs first. */
  readonly command: string;
  readonly setup: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const PATIENCE_MS = 30_000;

export class InteractiveShell {
  #output = '';
  #told = (): void => {};

  private constructor(private readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#told();
    });
  }

  static async start({ command, setup, env, cwd }: ShellOptions): Promise<InteractiveShell> {
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd,
      env: { ...process.env, ...env, TERM: 'dumb', PS1: '> ', LC_ALL: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const shell = new InteractiveShell(child);
    // The shell echoes what it is told: the word that is waited for stands in no command.
    await shell.#say(`${setup}; echo rea''dy\n`, /^ready\r$/m);
    return shell;
  }

  /** The line after Tab. */
  async complete(line: string): Promise<string> {
    // To the begin of the line, and to its end: the shell prints it as it is now.
    const [, completed = ''] = await this.#say(
      `${line}\t\u0001echo "[\u0005]" do''ne\n`,
      /^\[(.*)\] done\r$/m,
    );
    return completed;
  }

  end(): void {
    this.child.stdin?.end('exit\n');
  }

  async #say(text: string, answer: RegExp): Promise<RegExpExecArray> {
    this.#output = '';
    this.child.stdin?.write(text);
    const deadline = setTimeout(() => this.#told(), PATIENCE_MS);
    const end = Date.now() + PATIENCE_MS;
    try {
      for (;;) {
        const found = answer.exec(this.#output);
        if (found) return found;
        if (Date.now() >= end) throw new Error(`no ${answer} in ${JSON.stringify(this.#output)}`);
        await new Promise<void>((resolve) => {
          this.#told = resolve;
        });
      }
    } finally {
      clearTimeout(deadline);
    }
  }
}
