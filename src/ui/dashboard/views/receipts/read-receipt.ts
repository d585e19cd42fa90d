import type { ApiClient } from '../../api/client.ts';
import { agentPath } from '../../api/paths.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import { hashOf } from '../audit/log-check.ts';
import { LogReader } from '../audit/read-log.ts';
import { verifyBeside } from '../audit/verify-beside.ts';
import { citedBy, type Evidence } from './check-receipts.ts';

/** A call of a task. */
export interface CallPlace {
  agent: string;
  task: string;
  call: string;
}

/** The evidence of a call; `unread` says why the agent's log could not be read. */
export interface CallEvidence extends Evidence {
  unread: string | null;
}

/** Maximum number of lines per response. */
const mostLines = 1_000;

/** Requests the receipt of a call from its agent. Throws ApiError. */
export async function receiptOf(
  client: Pick<ApiClient, 'open'>,
  { agent, task, call }: CallPlace,
  signal: AbortSignal,
): Promise<string> {
  const path = agentPath(agent, 'tasks', task, 'calls', call, 'receipt');
  return (await client.open(path, { signal })).text();
}

/** Requests the receipt of a call, the agent's keys, and the lines that the receipt cites. Throws ApiError. */
export async function readEvidence(
  client: ApiClient,
  place: CallPlace,
  signal: AbortSignal,
): Promise<CallEvidence> {
  const receipt = await receiptOf(client, place, signal);
  const reader = new LogReader(client, place.agent, verifyBeside);
  const receipts = [receipt];
  const { keys } = await reader.read(1, null, signal);
  try {
    const log = [await linesOf(reader, place.task, citedBy(receipt), signal)];
    return { receipts, keys, log, unread: null };
  } catch (error) {
    signal.throwIfAborted();
    return { receipts, keys, log: null, unread: sentenceOf(error) };
  }
}

/** Reads the lines of a task backwards until all cited ones are read. */
async function linesOf(
  reader: LogReader,
  task: string,
  cited: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Blob> {
  const left = new Set(cited);
  const lines: string[] = [];
  let before: number | null = null;
  while (left.size > 0) {
    const { events, first, pruned } = await reader.read(mostLines, before, signal, { task });
    for (const { line } of events) {
      lines.push(line);
      left.delete(await hashOf(line));
    }
    if (first <= (pruned?.count ?? 0) + 1 || first === before) break;
    before = first;
  }
  return new Blob(lines.map((line) => `${line}\n`));
}
