import { v7 } from 'uuid';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { answerOf, deferralLines, progressLine, statusText } from '../task/print-task.ts';
import type { ProgressJson, TaskJson } from '../task/read-answer.ts';
import { readTaskStream } from '../task/read-task-stream.ts';
import { pendingDeferral } from '../task/task-get.ts';
import { askApproval } from './ask-approval.ts';
import { decidedElsewhere } from './decided-elsewhere.ts';
import type { Demo } from './demo.ts';
import { messageParts } from './message-parts.ts';
import type { Prompter } from './prompter.ts';
import { thinkingLine } from './thinker.ts';

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
