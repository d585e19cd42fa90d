import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { readServeFile } from '../../../src/actors/process/serve-file.ts';
import { haltAgent } from '../../../src/actors/workspace/halt-agent.ts';
import { launchAgent } from '../../../src/actors/workspace/launch-agent.ts';
import { WorkspaceAgent } from '../../../src/actors/workspace/workspace-agent.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { patient } from '../../helpers/patient.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const quiet = () => undefined;

/** An agent whose processes start and exit when a test lets them; running ones are killed after the test. */
export function openGatedAgent() {
  const directory = temporaryFolder();
  const gate = join(directory, 'gate');
  execFileSync('mkfifo', [gate]);
  const script = join(import.meta.dirname, 'gated-agent-process.ts');
  const command = { file: process.execPath, args: [script], env: process.env };
  const agent = new WorkspaceAgent({
    ...{ directory, id: 'till', command, clock: new ManualClock(0) },
    description: {
      ...{ agentId: null, version: '', model: null, fallbacks: [], tools: [], heldTools: [] },
      ...{
        channels: [],
        skills: [],
        needsPassphrase: false,
        onRestart: 'abandon' as const,
        warnings: [],
        policySha256: null,
        problem: null,
      },
    },
    log: { info: quiet, warn: quiet, error: quiet },
    ...{ onChange: quiet, onTasks: () => Promise.resolve(), onGap: quiet },
  });
  const pidOf = () => readServeFile(join(directory, '.service'))?.pid ?? null;
  const signal = (name: NodeJS.Signals) => process.kill(pidOf() ?? Number.NaN, name);
  const open = (word: 'go' | 'no') => writeFile(gate, word);
  let stopped: number | null = null;
  onTestFinished(async () => {
    const isWaiting = agent.state === 'starting';
    await agent.close();
    if (isWaiting) await open('no');
    if (pidOf() !== null) signal('SIGKILL');
  });
  const elsewhere = async () => {
    const launched = launchAgent({ directory, command, passphrase: null });
    await open('go');
    return launched;
  };
  /** It is asked to end and cannot yet. */
  const hold = (order: () => void) => {
    stopped = pidOf();
    signal('SIGSTOP');
    order();
  };
  /** Waits until a look shows what has come of it; its error begins so. */
  const isSeen = (state: string, error: string | null) =>
    vi.waitFor(async () => {
      await agent.look();
      const said = agent.error === null ? null : agent.error.slice(0, error?.length);
      expect([agent.state, said]).toEqual([state, error]);
    }, patient);
  const silently = 'the process ended without a word';
  return {
    start: () => agent.start(null),
    stop: () => hold(() => agent.stop()),
    restart: () => hold(() => agent.restart(null)),
    begin: async (word: 'go' | 'no') => {
      await open(word);
      await vi.waitFor(() => expect(agent.state).not.toBe('starting'), patient);
      expect(agent.error).toBe(word === 'go' ? null : 'the till is locked');
      expect(agent.served?.pid ?? null).toBe(pidOf());
    },
    end: () => {
      process.kill(stopped ?? Number.NaN, 'SIGCONT');
      return vi.waitFor(() => expect(pidOf()).toBeNull(), patient);
    },
    /**
     * Something lies where the end of its process would be noted. The stream of its events ends first: a look at its
     * end, which the agent takes by itself, could otherwise come after the failed stop.
     */
    block: async () => {
      await agent.line().close();
      await agent.look();
      mkdirSync(join(directory, '.service', 'serve.error.json'));
    },
    look: () => agent.look(),
    appear: async () => {
      await elsewhere();
      await isSeen('running', null);
    },
    crash: async () => {
      signal('SIGKILL');
      await isSeen('errored', silently);
    },
    crashUnseen: async () => {
      const { pid } = await elsewhere();
      process.kill(pid, 'SIGKILL');
      await isSeen('errored', silently);
    },
    disappear: async () => {
      await haltAgent({ directory });
      await isSeen('stopped', null);
    },
  };
}
