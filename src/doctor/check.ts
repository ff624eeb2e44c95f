/** What a check is, and what it finds. */
import type { CheckId, CheckStatus, DoctorPurpose } from '../model/doctor.ts';
import type { View } from './view.ts';

export interface Finding {
  /** The device, node, module or library that it is about; null: the whole machine. */
  readonly subject: string | null;
  readonly status: CheckStatus;
  /** What was seen. */
  readonly fact: string;
  /** What follows from it, where that is not plain. */
  readonly meaning?: string;
  /** The command that repairs it, or the next step. */
  readonly repair?: string;
}

/** One check. It stands in the table of checks.ts. */
export interface Check {
  readonly id: CheckId;
  /** For the manual. */
  readonly what: string;
  /** For whom it matters. */
  readonly purposes: readonly DoctorPurpose[];
  /** Checks without which this one is moot: it is skipped where none of their findings is good. */
  readonly needs: readonly CheckId[];
  /** It is made only where an address was given. */
  readonly ofAddress?: true;
  run(view: View): readonly Finding[] | Promise<readonly Finding[]>;
}

export const ok = (subject: string | null, fact: string, meaning?: string): Finding => ({
  subject,
  status: 'ok',
  fact,
  ...(meaning === undefined ? {} : { meaning }),
});

export const skipped = (subject: string | null, fact: string, repair?: string): Finding => ({
  subject,
  status: 'skipped',
  fact,
  ...(repair === undefined ? {} : { repair }),
});
