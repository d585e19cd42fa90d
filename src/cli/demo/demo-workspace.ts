import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { haltAgent, type Workspace } from '../../actors/workspace/workspace.ts';
import { findAgent } from '../find-agent.ts';
import { copyAgent, demoAgents, makeDemoFolder } from './demo-folder.ts';
import { playDemoStory } from './play-demo-story.ts';

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
