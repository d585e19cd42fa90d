import type { JsonObject } from '../../src/machines/json.ts';
import type { TaskLine } from './broken-task.ts';

/** The answer to a program that asked for its call, as it reached the program. */
export interface ToldHold {
  holdId: string;
  key: string;
  status: string;
  /** Digest of tool and arguments; `null` for an answer without a call to run. */
  argsSha256: string | null;
  /** False for the answers that hand the call out. */
  released: boolean;
  /** The process that asked, where it named itself. */
  claim?: string;
}

/** An outcome that was accepted. */
export interface ToldOutcome {
  holdId: string;
  status: string;
}

/** The answers to programs about their holds, in that order. */
export interface ToldHolds {
  answers: readonly ToldHold[];
  outcomes: readonly ToldOutcome[];
}

/** Returns whether the log of a task is that of a hold. */
export function isHold([first]: readonly TaskLine[]): boolean {
  return first?.event === 'session_start' && typeof first.fields?.['key'] === 'string';
}

/** Statuses of a hold whose call may not run. */
export const denials = new Set(['denied', 'rejected', 'expired', 'cancelled']);

/** The ends of a wait without a person. */
const endings = ['hold_deferred_timeout', 'hold_deferred_abandoned'];

/**
 * Plays the log of one hold and returns what cannot have been: a gap in `seq`, a second question, a wait that ended
 * twice, a release without an approval, an outcome of a call that may not run. Other events may come in between.
 */
export function brokenHold(lines: readonly TaskLine[]): string[] {
  const broken: string[] = [];
  const claim = (holds: boolean, what: string): void => {
    if (!holds) broken.push(what);
  };
  let [isPending, wasAsked, isApproved, isAllowed] = [false, false, false, false];
  // Several groups approve a call, and the log does not say whose approval was the last.
  let isShared = false;
  let [releases, outcomes, ends, withdrawals] = [0, 0, 0, 0];
  let due = 1;
  for (const { event, seq, fields = {} } of lines) {
    if (seq === undefined) continue;
    claim(seq === due, `line ${seq} stands where ${due} was due`);
    due += 1;
    if (event === 'session_start') claim(due === 2, 'the hold ran again');
    else if (event === 'call_ruled') isAllowed = allows.has(String(fields['decision']));
    else if (event === 'hold_deferred') {
      claim(!isPending, 'a wait began in another one');
      claim(!wasAsked || fields['edited_from'] !== undefined, 'a second question was opened');
      claim(ends === 0, 'a wait began after the end');
      [isPending, wasAsked, isApproved] = [true, true, false];
      isShared = Array.isArray(fields['approvers']) && fields['approvers'].length > 1;
    } else if (event === 'hold_deferred_decision' && fields['authorized'] !== false) {
      claim(isPending, 'a second decision counted');
      isApproved = fields['decision'] === 'approve';
      isPending = isShared && isApproved && fields['edited_args_sha256'] === undefined;
    } else if (endings.includes(event)) {
      // A cancellation may still follow an approval, until the call may run.
      claim(isPending || isApproved, `${event} without a wait`);
      [isPending, isApproved] = [false, false];
    } else if (event === 'hold_released') {
      releases += 1;
      claim(isApproved || (!wasAsked && isAllowed), 'a call was handed out without an approval');
      claim(releases === 1, `a call was handed out ${releases} times`);
      claim(withdrawals + outcomes === 0, 'a call was handed out after its end');
    } else if (event === 'hold_withdrawn') {
      withdrawals += 1;
      claim(isApproved && releases + outcomes === 0, 'a call was withdrawn after its use');
      claim(withdrawals === 1, `a call was withdrawn ${withdrawals} times`);
    } else if (event === 'hold_outcome') {
      outcomes += 1;
      const isUnrun = fields['status'] === 'not_run';
      const isGranted = isApproved || (!wasAsked && isAllowed);
      claim(
        isGranted && ends > 0 && withdrawals === 0,
        'an outcome of a call that was not granted',
      );
      claim(!wasAsked || releases === 1 || isUnrun, 'an outcome of a call that was not handed out');
      claim(outcomes === 1, `${outcomes} outcomes counted`);
    } else if (event === 'hold_unaccounted') {
      claim(outcomes === 0, 'a call with an outcome is unaccounted for');
      claim(!wasAsked || releases === 1, 'a call that was not handed out is unaccounted for');
    } else if (event === 'session_end') {
      ends += 1;
      claim(!isPending || isApproved, 'the end came in a wait');
      claim(ends === 1, `the hold ended ${ends} times`);
    } else if (event === 'tool_exec') broken.push('a gate ran the call itself');
  }
  return broken;
}

const allows = new Set(['allow', 'modify']);

/**
 * Compares the answers that programs received with the log of all holds, by the id of the hold. Returns what does not
 * agree, a sentence each.
 */
export function brokenHolds(
  byHold: ReadonlyMap<string, readonly TaskLine[]>,
  told: ToldHolds,
): string[] {
  const holds = new Map([...byHold].filter(([, lines]) => isHold(lines)));
  return [
    ...[...holds].flatMap(([id, lines]) => brokenHold(lines).map((what) => `hold ${id}: ${what}`)),
    ...secondQuestions(holds),
    ...told.answers.flatMap((answer) => brokenAnswer(answer, holds.get(answer.holdId) ?? [])),
    ...changedAnswers(told.answers),
    ...twiceHandedOut(told.answers),
    ...told.outcomes.flatMap(({ holdId, status }) => {
      const isKept = (holds.get(holdId) ?? []).some(
        ({ event, fields }) => event === 'hold_outcome' && fields?.['status'] === status,
      );
      return isKept
        ? []
        : [`the outcome ${status} of ${holdId} was accepted and is not in the log`];
    }),
  ];
}

function secondQuestions(holds: ReadonlyMap<string, readonly TaskLine[]>): string[] {
  const asked = [...holds].filter(([, lines]) =>
    lines.some(({ event }) => event === 'hold_deferred'),
  );
  const byKey = Map.groupBy(asked, ([, lines]) => String(lines[0]?.fields?.['key']));
  return [...byKey].flatMap(([key, { length }]) =>
    length > 1 ? [`the key ${key} opened ${length} questions`] : [],
  );
}

function brokenAnswer(answer: ToldHold, lines: readonly TaskLine[]): string[] {
  const { holdId, key, status, argsSha256 } = answer;
  const says = (what: string) => `hold ${holdId} was answered as ${status}, and ${what}`;
  if (lines[0]?.fields?.['key'] !== key) return [says('the log has no such hold')];
  const made = lines.filter(
    ({ event, fields }) => event === 'hold_deferred_decision' && fields?.['authorized'] !== false,
  );
  const last: JsonObject = made.at(-1)?.fields ?? {};
  const has = (name: string): boolean => lines.some(({ event }) => event.includes(name));
  switch (status) {
    case 'approved': {
      if (argsSha256 === null) return [];
      const decided = last['edited_args_sha256'] ?? last['args_sha256'];
      return [
        ...(last['decision'] === 'approve' ? [] : [says('nobody approved it')]),
        // A program that reported that the call did not run was never handed it.
        ...(has('hold_released') || has('hold_outcome') ? [] : [says('the log has no release')]),
        ...(decided === argsSha256 ? [] : [says('its arguments are not those of the decision')]),
      ];
    }
    case 'allowed': {
      const rulings = lines.filter(({ event }) => event === 'call_ruled');
      const ruled = rulings.at(-1)?.fields?.['args_sha256'];
      return [
        ...(has('hold_deferred') ? [says('it waited for a person')] : []),
        ...(ruled === argsSha256 ? [] : [says('its arguments are not those of the ruling')]),
      ];
    }
    case 'rejected':
      return last['decision'] === 'reject' ? [] : [says('nobody rejected it')];
    case 'cancelled':
      return has('cancelled') || has('abandoned') ? [] : [says('the log has no cancellation')];
    case 'expired':
      return has('timeout') || has('withdrawn') ? [] : [says('the log has no expiry')];
    case 'denied':
      return has('hold_released') ? [says('it was handed out')] : [];
    default:
      return [];
  }
}

/** An answer with a decision stays the answer. */
function changedAnswers(answers: readonly ToldHold[]): string[] {
  const decided = answers.filter(
    ({ status, argsSha256 }) => denials.has(status) || argsSha256 !== null,
  );
  return [...Map.groupBy(decided, ({ holdId }) => holdId)].flatMap(([id, own]) => {
    const statuses = [...new Set(own.map(({ status }) => status))];
    const calls = new Set(own.flatMap(({ argsSha256 }) => argsSha256 ?? []));
    return [
      ...(statuses.length > 1 ? [`hold ${id} was answered as ${statuses.join(', then ')}`] : []),
      ...(calls.size > 1 ? [`hold ${id} was answered with different arguments`] : []),
    ];
  });
}

/** Answers that were lost may reach the same process again. */
function twiceHandedOut(answers: readonly ToldHold[]): string[] {
  const handed = answers.filter(({ released, argsSha256 }) => !released && argsSha256 !== null);
  return [...Map.groupBy(handed, ({ holdId }) => holdId)].flatMap(([id, own]) => {
    const named = new Set(own.flatMap(({ claim }) => claim ?? []));
    const processes = named.size + own.filter(({ claim }) => claim === undefined).length;
    return processes > 1 ? [`hold ${id} was handed out to ${processes} processes`] : [];
  });
}
