import { commandLine } from '../../actors/command-line.ts';
import { isFinal } from '../../machines/domain/task.ts';
import { formatDuration } from '../../machines/duration.ts';
import { codeOf } from '../../machines/error-code.ts';
import { shellWord } from '../../machines/shell-word.ts';
import type { Output } from '../output.ts';
import { plainLine, plainText } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, type AgentSession, usualTimeout, withAgent } from './agent-session.ts';
import { answerOf, decisionLines, deferralLines, paintState, statusText } from './print-task.ts';
import { type DeferralJson, readAnswer, type StateJson, type TaskJson } from './read-answer.ts';

export interface GetOptions extends AgentOptions {
  states?: boolean;
}

/** `task get ID`: prints a task, the decisions on its calls, its pending deferral, and its past states. */
export async function taskGet(session: Session, id: string, options: GetOptions): Promise<void> {
  const { output } = session;
  await withAgent(session, options, usualTimeout, async ({ agent, signal }) => {
    const path = `/tasks/${encodeURIComponent(id)}?decisions=true${options.states === true ? '&history=states' : ''}`;
    const task = readAnswer.task(await agent.json({ method: 'GET', path, signal }));
    output.json(task);
    if (output.isJson) return;
    output.line(`${task.id}  ${paintState(output, task.status.state)}  ${task.status.timestamp}`);
    if (task.status.state === 'completed') output.line(answerOf(task));
    else if (statusText(task) !== '') output.line(plainText(statusText(task)));
    for (const line of decisionLines(output, task.metadata?.decisions ?? [])) output.line(line);
    if (options.states === true) showStates(output, task);
    const deferral = await pendingDeferral({ agent, signal }, task);
    if (deferral === null) return;
    for (const line of deferralLines(deferral, Date.now())) output.line(line);
    const approve = commandLine(`task approve ${shellWord(task.id)}${agent.flags}`);
    output.note(`decide with: ${approve}, or reject`);
  });
}

function showStates(output: Output, task: TaskJson): void {
  for (const line of stateLines(output, task, Date.now())) output.line(line);
}

/** Returns a task's pending deferral with its arguments; `null` if it was decided in the meantime. */
export async function pendingDeferral(
  { agent, signal }: AgentSession,
  { metadata }: TaskJson,
): Promise<DeferralJson | null> {
  const id = metadata?.deferral?.id;
  if (id === undefined) return null;
  try {
    const path = `/deferrals/${encodeURIComponent(id)}`;
    return readAnswer.deferral(await agent.json({ method: 'GET', path, signal }));
  } catch (error) {
    if (codeOf(error) === 'not_found') return null;
    throw error;
  }
}

/**
 * Formats the states of a task as a table, one per line: entry time, state, duration, and transition. The duration of
 * the current state runs until `now`, in epoch milliseconds.
 */
export function stateLines({ colours }: Output, { metadata }: TaskJson, now: number): string[] {
  const { states = [], states_left_out: leftOut = 0 } = metadata ?? {};
  const rows = states.map((row, index) => ({
    ...row,
    // If earlier states are omitted, the duration of the first one is unknown.
    spent: leftOut > 0 && index === 0 ? '' : timeIn(row, states[index + 1], now),
  }));
  const widest = (texts: string[]) => Math.max(0, ...texts.map((text) => text.length));
  const stateWidth = widest(rows.map(({ state }) => plainLine(state)));
  const spentWidth = widest(rows.map(({ spent }) => spent));
  const lines = rows.map(({ state, event, entered_at, spent }) =>
    [
      `  ${plainLine(entered_at)}`,
      plainLine(state).padEnd(stateWidth),
      spent.padStart(spentWidth),
      colours.dim(plainLine(event)),
    ].join('  '),
  );
  if (leftOut > 0) lines.splice(1, 0, `  … ${leftOut} older states are no longer stored`);
  return lines;
}

function timeIn(
  { state, entered_at }: StateJson,
  next: StateJson | undefined,
  now: number,
): string {
  if (next === undefined && isFinal(state)) return '';
  const left = next === undefined ? now : Date.parse(next.entered_at);
  const spent = left - Date.parse(entered_at);
  if (Number.isNaN(spent)) return '';
  if (next === undefined) return `${inWords(Math.max(0, spent))} so far`;
  return inWords(Math.max(0, spent));
}

function inWords(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return formatDuration(Math.floor(milliseconds / 1_000) * 1_000);
}
