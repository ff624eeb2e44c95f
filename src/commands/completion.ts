import { type CompletionResult, SHELLS } from '../model/completion.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import { defineCommand, UsageError } from './spec.ts';

export const completionCommand = defineCommand({
  summary: 'Print a script that completes command lines in a shell',
  arguments: [{ usage: '<shell>', description: `${SHELLS.join(', ')}`, complete: async () => SHELLS }],
  options: {},
  details: [
    'The script asks rdmatool itself for the words: commands, options and their values, and what this machine has at the moment: devices, ports, addresses, labs. Nothing has to be installed anew when rdmatool is.',
    'bash: put the script where bash-completion looks, ~/.local/share/bash-completion/completions/rdmatool, or eval "$(rdmatool completion bash)" in ~/.bashrc.',
    'zsh: put it as _rdmatool into a directory of $fpath, before compinit runs; or eval "$(rdmatool completion zsh)" in ~/.zshrc, after compinit.',
    'fish: put it into ~/.config/fish/completions/rdmatool.fish.',
  ],
  examples: [
    { command: 'eval "$(rdmatool completion bash)"', does: 'in this bash, at once' },
    {
      command: 'rdmatool completion fish > ~/.config/fish/completions/rdmatool.fish',
      does: 'in every fish from now on',
    },
    { command: 'rdmatool completion zsh > ~/.zfunc/_rdmatool', does: 'for zsh, with ~/.zfunc in $fpath' },
  ],
  seeAlso: ['bash(1)', 'zshcompsys(1)', 'fish-completions(1)'],
  failed: (error) => ({ schema: SCHEMA_IDS.completion, error, shell: null, script: null }),
  async run({ args, context }) {
    const [wanted] = args;
    const shell = SHELLS.find((known) => known === wanted);
    if (shell === undefined) {
      throw new UsageError(`completion: there is none for '${wanted}'; there is for ${SHELLS.join(', ')}`);
    }
    const { COMPLETION_SCRIPTS } = await import('./completion-scripts.ts');
    const script = COMPLETION_SCRIPTS[shell];
    const result: CompletionResult = { schema: SCHEMA_IDS.completion, error: null, shell, script };
    if (context.json) return context.conclude(result, async () => []);
    await context.streams.data(script);
    return 0;
  },
});
