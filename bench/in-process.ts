import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../src/actors/clock.ts';
import { randomIds } from '../src/actors/ids.ts';
import { scriptedModel } from '../src/actors/llm/scripted-model.ts';
import type { Tool } from '../src/actors/ports.ts';
import { TaskStore } from '../src/actors/storage/task-store.ts';
import { TaskSystem } from '../src/actors/system.ts';
import type { Task } from '../src/machines/task/task.ts';
import { makeAgentFolder } from './daemon.ts';
import { measure, medianOf } from './load.ts';
import type { Figure } from './scenarios.ts';

/** Tasks parked, released and answered through the task system alone, without HTTP. */
export async function cyclesInProcess(): Promise<Figure[]> {
  const folder = makeAgentFolder();
  const store = await TaskStore.open({
    path: join(folder.directory, 'tasks.db'),
    audit: { path: join(folder.directory, 'audit.ndjson'), chain: true },
  });
  const system = systemOver(store);
  await system.start();
  await measure(64, 2_000, () => cycle(system));
  const runs = [];
  for (let round = 0; round < 3; round += 1)
    runs.push(await measure(64, 10_000, () => cycle(system)));
  system.stop();
  rmSync(folder.directory, { recursive: true });
  const { perSecond } = medianOf(runs);
  return [
    {
      what: 'park → approve → complete, 64 at once, without HTTP',
      measured: `${Math.round(perSecond).toLocaleString('en')}/s`,
      aim: '6,000/s',
    },
  ];
}

const tool: Tool = {
  name: 'noop',
  description: 'Does nothing.',
  parameters: {},
  idempotent: true,
  run: () => Promise.resolve('done'),
};

const defer = {
  to: 'channel:console:*',
  timeout: 86_400_000,
  contextTemplate: '',
  approvers: null,
  quorum: 1,
  fourEyes: false,
  bindApprover: false,
};

function systemOver(store: TaskStore): TaskSystem {
  const clock = systemClock();
  return new TaskSystem({
    store,
    model: scriptedModel('bench', [{ tool: 'noop' }, { say: '{result}' }]),
    tools: new Map([[tool.name, tool]]),
    policy: { rulesFor: () => ({ refusal: null, requiredAcr: null, acrHierarchy: [], defer }) },
    clock,
    ids: randomIds(),
    log: { info: () => undefined, warn: console.warn, error: console.error },
    envelope: { ts: '', entity_id: 'bench', entity_type: 'agent' },
    restAfter: 3_000,
    onRestart: 'resume',
    retention: 86_400_000,
  });
}

async function cycle(system: TaskSystem): Promise<void> {
  const id = system.open({
    message: { role: 'user', parts: [{ kind: 'text', text: 'go' }], messageId: 'm' },
    requester: null,
    correlationId: 'bench',
  });
  await reached(system, id, 'deferred');
  const done = reached(system, id, 'completed');
  await system.decide(id, {
    verb: 'approve',
    approver: 'bench',
    email: null,
    note: '',
    caller: null,
    deferralId: null,
    argsSha256: null,
    at: Date.now(),
  });
  await done;
}

function reached(system: TaskSystem, id: string, state: Task['state']): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = system.watch(id, {
      onTask: (task) => {
        if (task.state !== state) return;
        leave();
        resolve();
      },
      onLost: reject,
    });
  });
}
