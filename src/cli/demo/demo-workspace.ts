import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { haltAgent, type Workspace } from '../../actors/workspace/workspace.ts';
import type { JsonValue } from '../../machines/json.ts';
import { AgentClient } from '../agent-client.ts';
import { findAgent } from '../find-agent.ts';
import { readAnswer } from '../task/read-answer.ts';
import { pendingDeferral } from '../task/task-get.ts';
import { copyAgent, demoAgents, makeDemoFolder } from './demo-folder.ts';
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
async function playDemoStory(
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

/** Milliseconds that demo agents have to stop. Their data is not kept. */
const grace = 5_000;

/** Milliseconds between two checks that an agent has started. */
const between = 100;

/** The agents next to the refund agent; `billing` cannot start. */
const others = ['ops', 'support', 'billing'];
const names = ['refunds', ...others];

/** A demo workspace, removed when it is closed. */
export interface DemoWorkspace {
  directory: string;
  /** Starts the agents and plays the story, which leaves some calls waiting. Rejects if the story fails. */
  play(workspace: Workspace): Promise<void>;
  /** Ends the story and stops the started agents. Must be called while the workspace is open. */
  stop(): Promise<void>;
  /** Removes the folder. */
  remove(): Promise<void>;
}

/** Creates a temporary workspace with four stopped agents, whose models are scripted. */
export async function makeDemoWorkspace(env: NodeJS.ProcessEnv): Promise<DemoWorkspace> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'holdpoint-demo-')));
  const folders = names.map((name) => join(directory, name));
  const leaving = new AbortController();
  const { signal } = leaving;
  let playing: Promise<void> | null = null;
  let opened: Workspace | null = null;
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  try {
    await makeDemoFolder(join(directory, 'refunds'));
    for (const name of others) await copyAgent(join(demoAgents, name), join(directory, name));
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    directory,
    async play(workspace) {
      opened = workspace;
      await workspace.known();
      if (signal.aborted) return;
      for (const name of names) workspace.find(name)?.start(null);
      playing = playDemoStory(async (agent) => {
        await untilRunning(workspace, agent, signal);
        return findAgent({ dir: join(directory, agent) }, { ...env, SERVICE_TOKEN: '' });
      }, signal);
      await playing.catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    },
    async stop() {
      leaving.abort();
      await playing?.catch(() => undefined);
      // A process that does not respond yet cannot be distinguished from a foreign process.
      while (opened?.agents().some(({ state }) => state === 'starting') === true) {
        await pause(between);
      }
      await Promise.all(folders.map((folder) => haltAgent({ directory: folder, grace })));
    },
    remove,
  };
}

/** Resolves once an agent is running. Rejects if the agent crashes, and with the reason of the signal. */
async function untilRunning(workspace: Workspace, id: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const agent = workspace.find(id);
    if (agent?.state === 'running') return;
    if (agent?.state === 'errored') throw new Error(`${id} did not start: ${agent.error ?? ''}`);
    await pause(between, undefined, { signal });
  }
}
