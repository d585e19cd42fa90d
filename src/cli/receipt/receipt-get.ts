import { writeNewFile } from '../../actors/write-new-file.ts';
import { codeOf } from '../../machines/error-code.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import {
  type AgentOptions,
  type AgentSession,
  usualTimeout,
  withAgent,
} from '../task/agent-session.ts';
import { readAnswer } from '../task/read-answer.ts';

export interface ReceiptOptions extends AgentOptions {
  output?: string;
}

/** A call; without `call`, every call of the task that has ended. */
export interface WantedReceipt {
  task: string;
  call?: string | undefined;
}

/** `receipt TASK [CALL]`: prints signed receipts, one a line, or writes them to a new file. */
export async function receiptGet(
  session: Session,
  wanted: WantedReceipt,
  options: ReceiptOptions,
): Promise<void> {
  const { output } = session;
  const found = await withAgent(session, options, usualTimeout, (agent) => receipts(agent, wanted));
  if (options.output !== undefined) await writeFile(options.output, found);
  if (output.isJson) {
    const listed = found.map(({ call, receipt }) => ({ call_id: call, receipt }));
    return output.json({ task_id: wanted.task, receipts: listed });
  }
  if (options.output === undefined) for (const { receipt } of found) output.line(receipt);
  else output.line(plainLine(`${found.length} written to ${options.output}`));
}

interface Receipt {
  call: string;
  receipt: string;
}

async function receipts(session: AgentSession, { task, call }: WantedReceipt): Promise<Receipt[]> {
  if (call !== undefined) return [await receiptOf(session, task, call)];
  const found: Receipt[] = [];
  let refusal: CliError | null = null;
  for (const one of await callsOf(session, task)) {
    try {
      found.push(await receiptOf(session, task, one));
    } catch (error) {
      // A call that has not ended has no receipt yet, and an agent that does not sign has none at all.
      if (!(error instanceof CliError) || error.code !== 'conflict') throw error;
      refusal = error;
    }
  }
  if (found.length > 0) return found;
  throw refusal ?? noCalls(task);
}

async function receiptOf(
  { agent, signal }: AgentSession,
  task: string,
  call: string,
): Promise<Receipt> {
  const path = `/tasks/${encodeURIComponent(task)}/calls/${encodeURIComponent(call)}/receipt`;
  const receipt = await agent.text({ method: 'GET', path, signal }, 'application/jose');
  return { call, receipt };
}

async function callsOf({ agent, signal }: AgentSession, id: string): Promise<string[]> {
  const path = `/tasks/${encodeURIComponent(id)}?decisions=true`;
  const { metadata } = readAnswer.task(await agent.json({ method: 'GET', path, signal }));
  const calls = (metadata?.decisions ?? []).map(({ call_id }) => call_id);
  return [...new Set(calls.filter((call) => typeof call === 'string'))];
}

async function writeFile(path: string, found: readonly Receipt[]): Promise<void> {
  try {
    await writeNewFile(path, found.map(({ receipt }) => `${receipt}\n`).join(''));
  } catch (error) {
    const isThere = codeOf(error) === 'EEXIST';
    const what = isThere ? 'is there already' : `cannot be written: ${messageOf(error)}`;
    throw new CliError(plainLine(`${path} ${what}`), {
      code: 'cannot_write',
      hint: 'name another file with -o',
      cause: error,
    });
  }
}

function noCalls(task: string): CliError {
  return new CliError(plainLine(`task ${task} has no call`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
  });
}
