/** The result of `completion`. */
import Type from 'typebox';
import { exact, Failure, nullable } from './parts.ts';
import { SCHEMA_IDS } from './schema-ids.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export const CompletionResult = exact(
  {
    schema: Type.Literal(SCHEMA_IDS.completion),
    error: nullable(Failure),
    shell: nullable(Type.Enum([...SHELLS])),
    script: nullable(Type.String({ description: 'What the shell is to run' })),
  },
  { title: 'rdmatool completion' },
);
export type CompletionResult = Type.Static<typeof CompletionResult>;
