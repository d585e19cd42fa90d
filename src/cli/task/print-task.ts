import { brief } from '../../machines/brief.ts';
import { callerWords } from '../../machines/governance/caller-name.ts';
import { firstWords, measuredWords } from '../../machines/governance/limit-words.ts';
import { legible } from '../../machines/legible.ts';
import { CliError } from '../cli-error.ts';
import type { Output } from '../output.ts';
import { plainLine, plainText } from '../plain-text.ts';
import type { DecisionJson, DeferralJson, ProgressJson, TaskJson } from './read-answer.ts';

/** Returns a task's answer: its text parts, and its data parts as JSON. */
export function answerOf({ artifacts = [], status }: TaskJson): string {
  const parts = artifacts.flatMap((artifact) => artifact.parts);
  const said = parts.length > 0 ? parts : (status.message?.parts ?? []);
  return plainText(said.map((part) => textIn(part) ?? JSON.stringify(part)).join('\n'));
}

export function statusText({ status }: TaskJson): string {
  return (status.message?.parts ?? []).map((part) => textIn(part) ?? '').join(' ');
}

function textIn(part: object): string | undefined {
  return 'text' in part && typeof part.text === 'string' ? part.text : undefined;
}

/** Prints a task's result. Throws CliError if the task did not complete. */
export function printEnd(output: Output, task: TaskJson): void {
  throwIfUnfinished(task);
  output.line(answerOf(task));
  output.json(task);
}

/** Throws CliError for a failed or canceled task. */
export function throwIfUnfinished(task: TaskJson): void {
  const { state } = task.status;
  if (state === 'completed') return;
  const text = plainLine(statusText(task));
  const code = state === 'canceled' ? 'task_canceled' : 'task_failed';
  throw new CliError(
    `task ${task.id} ${state === 'canceled' ? 'was canceled' : 'failed'}: ${text}`,
    {
      code,
      details: { task: task as never },
    },
  );
}

/** Formats a task's status as one line. */
export function statusLine(output: Output, task: TaskJson): string {
  const { state, timestamp } = task.status;
  return `${timestamp}  ${paintState(output, state)}  ${brief(statusText(task), 120)}`.trimEnd();
}

/** Formats a progress event as one line; `null` for events that are not shown. */
export function progressLine({ phase, tool }: ProgressJson): string | null {
  if (phase === 'tool_start') return `  ${plainLine(tool ?? 'a tool')} starts`;
  if (phase === 'tool_end') return `  ${plainLine(tool ?? 'a tool')} ends`;
  return null;
}

/** Formats a deferral for an approver, one labelled line per field. */
export function deferralLines(deferral: DeferralJson, now: number): string[] {
  const { tool, args, context, requester, to, escalated_to, expires_at } = deferral;
  const { approvers, quorum = 1, approvals = [], messages = [], requests } = deferral;
  const { limits = [], first } = deferral;
  const labels: [string, string][] = [
    ['tool', tool],
    ['arguments', JSON.stringify(args)],
    ['context', context],
    ...messages.map(({ from, text }): [string, string] => [
      'written',
      `${from ?? 'unknown'}: ${text}`,
    ]),
    ['asked by', askerOf(requester) ?? 'unknown'],
    ...(requests === undefined ? [] : [['requested', `${requests} times`] as [string, string]]),
    ...(first === undefined ? [] : [['repeats', firstWords(first)] as [string, string]]),
    ...limits.map((one): [string, string] => ['limit', measuredWords(one)]),
    ['goes to', to],
    ...(escalated_to ? [['also to', escalated_to] as [string, string]] : []),
    ...(approvers ? [['approvers', approvers.join(', ') || 'nobody'] as [string, string]] : []),
    ...(quorum > 1 ? [['approvals', `${approvals.length} of ${quorum}`] as [string, string]] : []),
    ['auto-deny', `${expires_at} (${timeLeft(expires_at, now)})`],
  ];
  return labels.map(([label, value]) => `  ${label.padEnd(10)} ${legible(plainLine(value))}`);
}

/** Older agents do not report the caller's identity provider. */
function askerOf(requester: DeferralJson['requester']): string | null {
  if (requester === null || requester === undefined) return null;
  const { user_id: userId, email, provider = '' } = requester;
  return callerWords({ provider, userId, ...(typeof email === 'string' ? { email } : {}) });
}

/** A table row for a layer's decision; `null` is an empty cell. */
type DecisionRow = Pick<DecisionJson, 'call_id' | 'tool' | 'layer' | 'decision'> & {
  reason: string | null;
  duration_ms: number | null;
  rule?: string | undefined;
};

/**
 * Formats the governance decisions as a table: the tool in the first row of each call (if any decision names a call),
 * then layer, decision, milliseconds and reason.
 */
export function decisionLines(output: Output, decisions: readonly DecisionRow[]): string[] {
  const rows = decisions.map((row, index) => ({ ...row, subject: subjectOf(decisions, index) }));
  const widthOf = (texts: string[]) => Math.max(0, ...texts.map((text) => text.length));
  const subjectWidth = widthOf(rows.map(({ subject }) => subject));
  const layerWidth = widthOf(rows.map(({ layer }) => plainLine(layer)));
  return rows.map(({ subject, layer, decision, reason, duration_ms, rule }) => {
    const spent = duration_ms === null ? '' : `${duration_ms.toFixed(1)} ms`;
    const cells = [
      ...(subjectWidth === 0 ? [] : [subject.padEnd(subjectWidth)]),
      plainLine(layer).padEnd(layerWidth),
      paintDecision(output, decision),
      spent.padStart('100.0 ms'.length),
      plainLine(rule === undefined ? (reason ?? '') : `${reason ?? ''} (${rule})`),
    ];
    return `  ${cells.join('  ')}`.trimEnd();
  });
}

function subjectOf(decisions: readonly DecisionRow[], index: number): string {
  const { call_id, tool } = decisions[index] ?? {};
  const isSameCall = index > 0 && decisions[index - 1]?.call_id === call_id;
  return isSameCall ? '' : plainLine(tool ?? '');
}

function paintDecision({ colours }: Output, decision: string): string {
  const words = plainLine(decision.replace(/^not_/, 'not ')).padEnd('not reached'.length);
  if (decision === 'allow') return colours.green(words);
  if (decision === 'deny') return colours.red(words);
  return decision.startsWith('not_') ? colours.dim(words) : colours.yellow(words);
}

/** Returns the time left until a moment, such as `in 4m05s`. */
export function timeLeft(moment: string, now: number): string {
  const seconds = Math.ceil((Date.parse(moment) - now) / 1_000);
  if (!(seconds > 0)) return 'now';
  const units: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ];
  const first = units.findIndex(([count]) => count > 0);
  const shown = units.slice(first, first + 2);
  return `in ${shown
    .map(([count, unit], index) => `${index === 0 ? count : String(count).padStart(2, '0')}${unit}`)
    .join('')}`;
}

/** Pads a state to the longest state's width and colours it. */
export function paintState({ colours }: Output, state: string): string {
  const padded = plainLine(state).padEnd('completed'.length);
  if (state === 'completed') return colours.green(padded);
  if (state === 'failed' || state === 'canceled') return colours.red(padded);
  return state === 'deferred' ? colours.yellow(padded) : padded;
}
