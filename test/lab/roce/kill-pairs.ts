/** Servers and clients that are killed in the guest: many, several pairs at a time, at work and while they start. */
import { expect } from 'vitest';
import { type Place, REPOSITORY } from './tools.ts';

export interface KillPlan {
  /** Processes to kill: pairs of a server and a client. */
  readonly count: number;
  readonly atOnce: number;
  /**
   * The two commands, in bash. `$i` is the number of the pair, from 0 to `last`; `$slot` that of its place, of which
   * none has two pairs at a time. The server's stdout is looked at.
   */
  readonly server: string;
  readonly client: string;
  /** Once, before any pair. */
  readonly prepare?: string;
  /** What the server says when the client may come; without it the two start together. */
  readonly ready?: string;
  /** What the server says when the two are at work. */
  readonly atWork: string;
  /** For all of them; what is not done by then fails. */
  readonly deadlineMs: number;
}

/** Every other pair is killed at a random moment within so long after its start, and not waited for. */
const START_MS = 3000;
/** How long it goes on at work before it is killed, at most. */
const WORK_MS = 200;
/** A pair that is not at work by then is killed all the same, and not counted as one that was. */
const PATIENCE_S = 60;

/**
 * The same program from the memory of the guest: files of the host take half of a start, for each is looked up anew
 * in every process.
 */
const IN_MEMORY = `
  mkdir -p package/node_modules
  (cd '${REPOSITORY}' && cp -r bin package.json "$OLDPWD/package" && mkdir "$OLDPWD/package/dist" &&
    cp dist/*.cjs "$OLDPWD/package/dist" && cp -r node_modules/{koffi,@koromix} "$OLDPWD/package/node_modules")
  ln -s rdmatool.js package/bin/rdmatool
  PATH=$PWD/package/bin:$PATH`;

/**
 * Everything that is done for each pair is done by the shell itself: to start a program costs an emulated processor
 * more than to kill one.
 */
const script = ({
  count,
  atOnce,
  server,
  client,
  prepare = '',
  ready = '',
  atWork,
  deadlineMs,
}: KillPlan): string => `
  cd $(mktemp -d)
  ${IN_MEMORY}
  exec {never}<> <(:)
  nap() { local t; printf -v t '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); read -rt $t -u $never; } # ms
  last=${Math.ceil(count / 2) - 1}
  ${prepare}
  says() { # what: whether the server says it in time
    local begun=$SECONDS line
    while ((SECONDS - begun < ${PATIENCE_S})) && read -rt ${PATIENCE_S} -u $said line; do
      [[ $line == *"$1"* ]] && return 0
    done
    return 1
  }
  pair() {
    local waits=$(((i / ${atOnce} + slot) % 2 == 0)) s c
    ${server} >&$said 2>/dev/null {never}>&- & s=$!
    ${ready === '' ? '' : `((waits)) && says '${ready}'`}
    ${client} >/dev/null 2>&1 {never}>&- {said}>&- & c=$!
    if ((waits)); then
      says '${atWork}' && echo at work
      nap $((RANDOM % ${WORK_MS}))
    else
      nap $((RANDOM % ${START_MS}))
    fi
    if ((RANDOM % 2)); then set -- $s $c; else set -- $c $s; fi
    kill -9 $1 && echo killed
    ((RANDOM % 2)) && nap $((RANDOM % 100))
    kill -9 $2 && echo killed
    wait $s $c 2>/dev/null
  }
  for ((slot = 0; slot < ${atOnce}; slot++)); do
    (
      RANDOM=$((EPOCHSECONDS + slot))
      for ((i = slot; i <= last && SECONDS * 1000 < ${deadlineMs}; i += ${atOnce})); do
        # What one pair has said is nothing to the next.
        exec {said}<> <(:)
        pair
        exec {said}>&-
      done
    ) &
  done
  wait`;

/** Kills them, and holds against it that they were killed, most of them at work, before the deadline. */
export async function killPairs(place: Place, plan: KillPlan): Promise<void> {
  const { status, stdout, stderr } = await place.inLab(['bash', '-c', script(plan)]);
  const times = (word: string): number => stdout.match(new RegExp(`^${word}$`, 'gm'))?.length ?? 0;
  const done = `status ${status}; killed ${times('killed')} of ${plan.count} within ${plan.deadlineMs} ms, of the pairs ${times('at work')} at work\n${stderr.slice(-2000)}`;
  expect(times('killed'), done).toBe(2 * Math.ceil(plan.count / 2));
  // Half of the pairs are waited for; on a starved machine not all of them get that far.
  expect(times('at work'), done).toBeGreaterThan(plan.count / 8);
}
