import { text } from 'node:stream/consumers';
import { v7 } from 'uuid';
import { commandLine } from '../../actors/command-line.ts';
import type { JsonValue } from '../../machines/json.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { type AgentOptions, type AgentSession, withAgent } from './agent-session.ts';
import { answerOf, printEnd, progressLine, statusLine, throwIfUnfinished } from './print-task.ts';
import { readAnswer } from './read-answer.ts';
import { readTaskStream, streamBroken } from './read-task-stream.ts';

export interface SendOptions extends AgentOptions {
  id?: string;
  data?: JsonValue;
  script?: JsonValue[];
  stream?: boolean;
}

/** `task send`: starts a task and waits for its result (docs/contract/transports.md). */
export async function taskSend(
  session: Session,
  words: readonly string[],
  { id = v7(), data, script, stream = false, ...options }: SendOptions,
): Promise<void> {
  const said = words.join(' ') === '-' ? await text(session.stdin) : words.join(' ');
  const parts: JsonValue[] = [
    ...(said.trim() === '' ? [] : [{ kind: 'text', text: said }]),
    ...(data === undefined ? [] : [{ kind: 'data', data }]),
    ...(script === undefined ? [] : [{ kind: 'data', data: { script } }]),
  ];
  if (parts.length === 0) throw nothingToSay();
  const body = { task: { id, message: { role: 'user', parts } } };
  const send = stream ? sendStreaming : sendHeld;
  await withAgent(session, options, null, (agent) => send(session, agent, { id, body }));
}

interface Submission {
  id: string;
  body: JsonValue;
}

async function sendHeld(
  { output }: Session,
  { agent, signal }: AgentSession,
  { id, body }: Submission,
): Promise<void> {
  const stopProgress = showProgress(
    output,
    `task ${id} continues; see it with: ${commandLine(`task get ${shellWord(id)}${agent.flags}`)}`,
  );
  try {
    const call = { method: 'POST', path: '/tasks/send', body, taskId: id, signal } as const;
    const task = readAnswer.task(await agent.json(call));
    stopProgress();
    printEnd(output, task);
  } finally {
    stopProgress();
  }
}

async function sendStreaming(
  { output }: Session,
  { agent, signal }: AgentSession,
  { id, body }: Submission,
): Promise<void> {
  const call = { method: 'POST', path: '/tasks/sendSubscribe', body, taskId: id, signal } as const;
  const task = await readTaskStream(agent.events(call), {
    onEvent: (event) => output.json(event),
    onStatus: (changed) => output.note(statusLine(output, changed)),
    onProgress: (progress) => {
      const line = progressLine(progress);
      if (line !== null) output.note(line);
    },
  });
  if (task === null) throw streamBroken(id, agent);
  throwIfUnfinished(task);
  output.line(answerOf(task));
}

function nothingToSay(): CliError {
  return new CliError('the message is empty', {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'give a message, --data or --script',
  });
}
