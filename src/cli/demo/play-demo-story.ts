import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonValue } from '../../machines/json.ts';
import { AgentClient } from '../agent-client.ts';
import { readAnswer } from '../task/read-answer.ts';
import { pendingDeferral } from '../task/task-get.ts';
import { demoAgents } from './demo-folder.ts';
import { untilDeferred } from './until-deferred.ts';

type Address = ConstructorParameters<typeof AgentClient>[0];

/** One message of `story.json`, and the outcome of the resulting call. */
interface DemoMessage {
  agent: string;
  text: string;
  /** The model's script; absent for the refund agent's own. */
  script?: JsonValue;
  /** The task completes without a decision, is refused, waits for the visitor, or has been decided. */
  outcome:
    | 'ends'
    | 'refused'
    | 'waits'
    | { decision: 'approve' | 'reject'; approver_email: string; note: string };
}

/** Timeout in milliseconds for one message. Generous, because the machine may be busy. */
const patience = 60_000;

/**
 * Plays the story of the demo over HTTP, with all agents in parallel. `addressOf` returns an agent's URL once the agent
 * responds. Rejects if a part of the story fails, and with the reason of the signal.
 */
export async function playDemoStory(
  addressOf: (agent: string) => Promise<Address>,
  signal: AbortSignal,
): Promise<void> {
  const story = await readFile(join(demoAgents, 'story.json'), 'utf8');
  const parts = Map.groupBy(JSON.parse(story) as DemoMessage[], ({ agent }) => agent);
  await Promise.all(
    [...parts].map(async ([agent, messages]) => {
      const client = new AgentClient(await addressOf(agent));
      try {
        for (const message of messages) await play(client, message, signal);
      } finally {
        await client.close();
      }
    }),
  );
}

async function play(
  client: AgentClient,
  { text, script, outcome }: DemoMessage,
  leaving: AbortSignal,
): Promise<void> {
  const signal = AbortSignal.any([leaving, AbortSignal.timeout(patience)]);
  const id = crypto.randomUUID();
  const parts = [
    { kind: 'text', text },
    ...(script === undefined ? [] : [{ kind: 'data', data: { script } }]),
  ];
  const message = { role: 'user', messageId: crypto.randomUUID(), parts };
  const contextId = crypto.randomUUID();
  const body = { task: { id, contextId, message } };
  const answer = client.json({ method: 'POST', path: '/tasks/send', body, taskId: id, signal });
  if (outcome === 'ends') return void (await answer);
  if (outcome === 'refused') return void (await answer.catch(() => null));
  // The request stays open as long as the call is held.
  answer.catch(() => undefined);
  const task = await untilDeferred({ agent: client, signal }, id);
  if (outcome === 'waits') return;
  const held = await pendingDeferral({ agent: client, signal }, task);
  if (held === null) return;
  const { id: deferral_id, args_sha256 } = held;
  const decision = { ...outcome, deferral_id, args_sha256 };
  const path = `/tasks/${id}/decisions`;
  readAnswer.decision(await client.json({ method: 'POST', path, body: decision, signal }));
  await answer;
}
