import { commandLine } from '../../actors/command-line.ts';
import { codeOf } from '../../machines/error-code.ts';
import { shellWord } from '../../machines/shell-word.ts';
import type { Output } from '../output.ts';
import { plainText } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, type AgentSession, usualTimeout, withAgent } from './agent-session.ts';
import { answerOf, decisionLines, deferralLines, paintState, statusText } from './print-task.ts';
import { type DeferralJson, readAnswer, type TaskJson } from './read-answer.ts';
import { stateLines } from './state-lines.ts';

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
  const lines = stateLines(output, task, Date.now());
  for (const line of lines) output.line(line);
  if (lines.length === 0) output.note('no states are stored: an earlier release saved the task');
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
