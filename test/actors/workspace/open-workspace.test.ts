import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/actors/system-clock.ts';
import { openWorkspace } from '../../../src/actors/workspace/workspace.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const described = {
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
};

/** A workspace with two agents, whose files are read once `release` is called. */
async function heldWorkspace() {
  const directory = temporaryFolder();
  for (const name of ['one', 'two']) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, 'service.yaml'), `agent_id: ${name}\n`);
  }
  const reading = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const created: string[] = [];
  const workspace = await openWorkspace({
    ...{ directory, clock: systemClock(), command: { file: 'false', args: [], env: {} } },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    async describe() {
      reading.resolve();
      await held.promise;
      return described;
    },
    onCreated: ({ id }) => void created.push(id),
    onRemoved: () => undefined,
    onChange: () => undefined,
    onTasks: () => Promise.resolve(),
    onGap: () => undefined,
  });
  onTestFinished(() => workspace.close());
  return { workspace, created, reading: reading.promise, release: () => held.resolve() };
}

it('the workspace exists before its agents are known, and reports each of them', async () => {
  const { workspace, created, reading, release } = await heldWorkspace();
  expect(workspace.agents()).toEqual([]);
  workspace.begin();
  await reading;
  expect(workspace.agents()).toEqual([]);
  release();
  await workspace.known();
  expect(workspace.agents().map(({ id }) => id)).toEqual(['one', 'two']);
  expect(created).toEqual(['one', 'two']);
});

it('the workspace can be closed during its search', async () => {
  const { workspace, created, reading, release } = await heldWorkspace();
  workspace.begin();
  await reading;
  const closing = workspace.close();
  await workspace.known();
  release();
  await closing;
  expect(created).toEqual(['one']);
});
