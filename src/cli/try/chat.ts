import { v7 } from 'uuid';
import { loginName } from '../../actors/login-name.ts';
import { tailLines } from '../../actors/records/records.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { eventOfWait } from '../../machines/domain/hold-events.ts';
import { CliError } from '../cli-error.ts';
import type { Output } from '../output.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { answerOf, deferralLines, progressLine, statusText, timeLeft } from '../task/print-task.ts';
import type { DeferralJson, ProgressJson, TaskJson } from '../task/read-answer.ts';
import { readTaskStream } from '../task/read-task-stream.ts';
import { pendingDeferral } from '../task/task-get.ts';
import type { Demo } from './demo.ts';
import { messageParts } from './message-parts.ts';
import type { Prompter } from './prompter.ts';
import { thinkingLine } from './thinker.ts';

/** Maximum number of a task's latest log lines that are searched. */
const looked = 100;

/**
 * Returns the approver who decided on a held call, for example on the page; `null` while the audit log has no decision.
 */
async function decidedElsewhere(
  { auditPath: path }: Pick<Demo, 'auditPath'>,
  { task_id: task, tool, requested_at }: Pick<DeferralJson, 'task_id' | 'tool' | 'requested_at'>,
): Promise<string | null> {
  const lines = tailLines({ path, task, limit: looked, clock: systemClock() });
  const events = (await Array.fromAsync(lines)).flatMap(({ event }) => event ?? []);
  const decisions = events
    .filter(
      ({ event, ts }) => eventOfWait(event) === 'task_deferred_decision' && ts >= requested_at,
    )
    .map(({ fields }) => Object(fields) as Record<string, unknown>);
  const { decision, approver, note } =
    decisions.findLast((fields) => fields['tool'] === tool) ?? {};
  if (typeof decision !== 'string' || typeof approver !== 'string') return null;
  const done = decision === 'approve' ? 'released' : 'rejected';
  const why = typeof note === 'string' && note !== '' ? `: ${note}` : '';
  return plainLine(`Decided elsewhere: ${tool} was ${done} by ${approver}${why}`);
}

/** Runs a chat with the refund agent until the user leaves. Held calls are decided inline. */
export async function chat(session: Session, demo: Demo, prompter: Prompter): Promise<void> {
  const { output } = session;
  const { bold, dim } = output.colours;
  output.line(`A refund agent runs at ${demo.url}.`);
  output.line(thinkingLine(demo.thinking));
  // Loaded and built while the user reads.
  const { openTryPage } = await import('./try-page.ts');
  const page = openTryPage(session, demo.directory);
  output.line(await page.firstLine);
  void page.laterLine?.then((line) => prompter.say(() => output.line(line)));
  output.line('Its tools and approvals are real. Leave with exit or Ctrl-D. Say for example:');
  output.line(dim('  Please refund order A-1042, it arrived broken'));
  const contextId = v7();
  try {
    for (;;) {
      const message = await prompter.ask(() => bold('\nyou> '), demo.signal);
      if (message === null || /^(exit|quit)$/i.test(message.trim())) return;
      if (message.trim() === '') continue;
      const hasLeft = await converse(session, { demo, contextId }, prompter, message);
      if (hasLeft) return;
    }
  } finally {
    await page.close();
  }
}

interface Conversation {
  demo: Demo;
  /** Links the messages of the conversation, so the model sees the earlier ones. */
  contextId: string;
}

/** Sends one message and shows its progress; returns true if the user left in the meantime. */
async function converse(
  { output }: Session,
  conversation: Conversation,
  prompter: Prompter,
  message: string,
): Promise<boolean> {
  const { demo } = conversation;
  const left = new AbortController();
  const signal = AbortSignal.any([demo.signal, left.signal]);
  const onLeave = (): void => left.abort(leaving);
  let withdraw = (): Promise<void> => Promise.resolve();
  const onStatus = async (task: TaskJson): Promise<void> => {
    await withdraw();
    withdraw = () => Promise.resolve();
    const deferral = await pendingDeferral({ agent: demo.client, signal }, task);
    if (deferral === null) return;
    output.line(output.colours.yellow('\nThis call waits for a person:'));
    for (const line of deferralLines(deferral, Date.now())) output.line(line);
    const endQuestion = askApproval({ output, demo, prompter, deferral, onLeave });
    withdraw = async () => {
      if (await endQuestion()) return;
      const line = await decidedElsewhere(demo, deferral);
      if (line !== null) output.line(output.colours.yellow(`\n${line}`));
    };
  };
  const onProgress = (progress: ProgressJson): void => {
    const line = progressLine(progress);
    if (line !== null) output.line(output.colours.dim(line));
  };
  try {
    const call = await callFor(message, conversation, signal);
    const task = await readTaskStream(demo.client.events(call), { onStatus, onProgress });
    await withdraw();
    output.line(`${output.colours.bold('agent>')} ${endOf(task)}`);
    return false;
  } catch (error) {
    await withdraw();
    if (error === leaving) return true;
    throw error;
  }
}

const leaving = new Error('the player left');

async function callFor(message: string, { demo, contextId }: Conversation, signal: AbortSignal) {
  const id = v7();
  const parts = await messageParts(message, demo);
  const body = { task: { id, contextId, message: { role: 'user', parts } } };
  return { method: 'POST', path: '/tasks/sendSubscribe', body, taskId: id, signal } as const;
}

function endOf(task: TaskJson | null): string {
  if (task === null) return '(the stream broke)';
  return task.status.state === 'completed' ? answerOf(task) : plainLine(statusText(task));
}

interface Approval {
  output: Output;
  demo: Demo;
  prompter: Prompter;
  deferral: DeferralJson;
  /** Called when the user leaves instead of deciding. */
  onLeave: () => void;
}

/**
 * Asks whether a held call may run. Returns a function that withdraws the question and returns true if the user decided
 * it here.
 */
function askApproval(approval: Approval): () => Promise<boolean> {
  const over = new AbortController();
  const signal = AbortSignal.any([approval.demo.signal, over.signal]);
  const settled = putQuestion(approval, signal).catch((error: unknown) => {
    if (!signal.aborted) {
      approval.output.note(error instanceof CliError ? error.message : String(error));
    }
    return false;
  });
  return () => {
    over.abort(new Error('the call is no longer pending'));
    return settled;
  };
}

async function putQuestion(approval: Approval, signal: AbortSignal): Promise<boolean> {
  const { prompter, deferral, onLeave } = approval;
  const question = (): string =>
    `approve? [y/n] (auto-deny ${timeLeft(deferral.expires_at, Date.now())}) `;
  for (;;) {
    const answer = await prompter.ask(question, signal);
    if (answer === null) break;
    const decision = decisionOf(answer);
    if (decision === null) continue;
    const note =
      decision === 'reject' ? await prompter.ask(() => 'reason (may be empty): ', signal) : '';
    if (note === null) break;
    await decide(approval, decision, note.trim());
    return true;
  }
  onLeave();
  return false;
}

async function decide(
  { demo, deferral }: Approval,
  decision: 'approve' | 'reject',
  note: string,
): Promise<void> {
  await demo.client.json({
    method: 'POST',
    path: `/tasks/${encodeURIComponent(deferral.task_id)}/decisions`,
    body: {
      decision,
      approver: loginName(),
      note,
      deferral_id: deferral.id,
      args_sha256: deferral.args_sha256,
    },
    signal: demo.signal,
  });
}

function decisionOf(answer: string): 'approve' | 'reject' | null {
  const word = answer.trim().toLowerCase();
  if (['y', 'yes', 'approve'].includes(word)) return 'approve';
  return ['n', 'no', 'reject'].includes(word) ? 'reject' : null;
}
