/** Runs a script step by step, tells of each, and takes everything down, however it ends. */
import { performance } from 'node:perf_hooks';
import { Failure, type FailureJson } from '../../explain/failure.ts';
import { emptyRunObject } from '../../model/cm-empty.ts';
import type { CmRunObject, CmRunResult } from '../../model/cm-run.ts';
import { within } from '../../waiting/deadline.ts';
import { interrupted } from '../channel.ts';
import type { CmEnvironment } from '../session.ts';
import type { Operation } from './operation.ts';
import { parseScript, type Step } from './parse.ts';
import { Stage } from './stage.ts';

/** For a call that does not wait for the peer. Over iWARP connect does, for as long as TCP tries. */
const CALL_DEADLINE_MS = 15_000;
/** Mistakes that are told; the others are counted. */
const MOST_MISTAKES = 20;

export interface Script {
  /** As messages have it: a file's name. */
  readonly name: string;
  readonly text: string;
  /** Values of variables that come before those of the script. */
  readonly variables: ReadonlyMap<string, string>;
  readonly operations: readonly Operation[];
}

/**
 * Runs a script on the backend of the environment.
 * @param emit gets each object as its step ends
 * @returns what ended it, null where every step did as it was to; several for mistakes in the script
 */
export async function runScript(
  { name, text, variables, operations }: Script,
  environment: CmEnvironment,
  emit: (object: CmRunObject) => Promise<void>,
): Promise<FailureJson[]> {
  const tell = (object: CmRunObject): Promise<void> =>
    emit({ ...object, kernel_commands: environment.takeKernelCommands?.() ?? null });
  const { steps, mistakes } = parseScript(text, operations, variables);
  if (mistakes.length > 0) {
    const failures = mistakes.slice(0, MOST_MISTAKES).map(({ line, column, message, hint }) => ({
      line,
      column,
      error: new Failure('SCRIPT_INVALID', `${name}:${line}:${column}: ${message}`, hint).toJSON(),
    }));
    for (const failure of failures) await tell({ ...emptyRunObject(failure.error), ...failure });
    return [...failures.map(({ error }) => error), ...others(name, mistakes.length - MOST_MISTAKES)];
  }
  const stage = new Stage(environment);
  try {
    for (const step of steps) {
      const { object, failure } = await perform(step, stage);
      await tell(object);
      if (failure) return [inScript(failure, name, step)];
    }
    return [];
  } finally {
    const started = performance.now();
    const result = await stage.takeDown();
    const isNothing = result.ids.length === 0 && result.channels.length === 0;
    if (!isNothing) {
      await tell({ ...emptyRunObject(null), operation: 'take-down', duration_ms: since(started), result });
    }
  }
}

const others = (name: string, count: number): FailureJson[] =>
  count <= 0
    ? []
    : [new Failure('SCRIPT_INVALID', `${name}: ${count} more mistakes`, 'nothing was run').toJSON()];

const since = (started: number): number => Math.round((performance.now() - started) * 1000) / 1000;

const inScript = (
  { code, errno, message, hint }: Failure,
  name: string,
  { line, text }: Step,
): FailureJson => ({
  code,
  errno,
  message: `${name}:${line}: ${text}: ${message}`,
  hint,
});

/** Makes a step; `failure` is what ends the script. */
async function perform(step: Step, stage: Stage): Promise<{ object: CmRunObject; failure: Failure | null }> {
  const started = performance.now();
  stage.note(null);
  let result: CmRunResult | null = null;
  let thrown: Failure | null = null;
  try {
    result = await limited(step, stage);
  } catch (error) {
    thrown = stage.failureOf(error, callOf(step.operation.name), step.subject);
    result = stage.noted;
  }
  const failure = judged(step, thrown);
  const id = step.subject === null ? null : stage.find(step.subject);
  const object: CmRunObject = {
    ...emptyRunObject((failure ?? thrown)?.toJSON() ?? null),
    line: step.line,
    step: step.text,
    operation: step.operation.name,
    id: step.subject,
    state: id?.state ?? null,
    duration_ms: since(started),
    failure_expected: step.failure !== null,
    ok: failure === null,
    result,
  };
  return { object, failure };
}

/** The call that a failure names. */
const callOf = (name: string): string => (name === 'bind' ? 'bind_addr' : name.replaceAll('-', '_'));

/** The result of a step, or its deadline, or Ctrl-C. */
async function limited({ operation, values }: Step, stage: Stage): Promise<CmRunResult | null> {
  const { signal } = stage.environment;
  if (signal?.aborted) throw interrupted(operation.name);
  const work = operation.run(values, stage);
  const timely = operation.waits ? work : within(CALL_DEADLINE_MS, operation.name, work);
  if (signal === null) return timely;
  let abort = (): void => {};
  const interruption = new Promise<never>((_, reject) => {
    abort = () => reject(interrupted(operation.name));
    signal.addEventListener('abort', abort);
  });
  // Whichever comes second has no reader.
  timely.catch(() => {});
  try {
    return await Promise.race([interruption, timely]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** What the expectation of a step makes of its end: null where it is met. */
function judged(step: Step, thrown: Failure | null): Failure | null {
  if (step.failure === null || thrown?.code === 'INTERRUPTED') return thrown;
  const wanted = step.failure;
  const how = wanted === '' ? 'fail' : `fail with ${wanted}`;
  if (thrown === null) {
    return new Failure(
      'EXPECTATION_FAILED',
      `it was to ${how}, and did not fail`,
      'take the ! away where it may succeed',
    );
  }
  if (wanted === '' || thrown.code === wanted || thrown.errno?.name === wanted) return null;
  return new Failure(
    'EXPECTATION_FAILED',
    `it was to ${how}, and failed otherwise: ${thrown.message}`,
    thrown.hint,
    {
      errno: thrown.errno,
    },
  );
}
