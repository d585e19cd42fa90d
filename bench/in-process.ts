import { join } from 'node:path';
import { Policies } from '../src/actors/governance/policy/policies.ts';
import { createPolicy } from '../src/actors/governance/policy/policy.ts';
import { securitySchema } from '../src/actors/governance/settings/schema-security.ts';
import type { Tool } from '../src/actors/ports/tool.ts';
import { randomIds } from '../src/actors/random-ids.ts';
import { SqliteStore } from '../src/actors/records/sqlite/sqlite-store.ts';
import { systemClock } from '../src/actors/system-clock.ts';
import { scriptedModel } from '../src/actors/tasks/models/scripted-model.ts';
import { TaskSystem } from '../src/actors/tasks/task-system.ts';
import type { Task } from '../src/machines/domain/task.ts';
import { defaultLimits } from '../src/machines/task/limits.ts';
import { makeAgentFolder } from './daemon.ts';
import type { Figure } from './figure.ts';
import { measure, medianOf } from './load.ts';

/** Tasks parked, released and answered through the task system alone, without HTTP. */
export async function cyclesInProcess(): Promise<Figure[]> {
  const folder = makeAgentFolder();
  const system = await openSystem(folder.directory);
  await measure(64, 2_000, () => cycle(system));
  const runs = [];
  for (let round = 0; round < 3; round += 1) {
    runs.push(await measure(64, 10_000, () => cycle(system)));
  }
  await system.stop();
  folder.remove();
  const { perSecond } = medianOf(runs);
  return [
    {
      what: 'park → approve → complete, 64 at once, without HTTP',
      measured: `${Math.round(perSecond).toLocaleString('en')}/s`,
      aim: '6,000/s',
    },
  ];
}

/** Fills the store of an agent with parked tasks, as a daemon that was killed leaves it. */
export async function parkInProcess(directory: string, tasks: number): Promise<void> {
  const system = await openSystem(directory);
  await measure(256, tasks, () => park(system).then(() => undefined));
  await system.stop();
}

const noop: Tool = {
  name: 'noop',
  description: 'Does nothing.',
  parameters: {},
  idempotent: true,
  run: () => Promise.resolve('done'),
};

const security = securitySchema.parse({
  defer: { enabled: true, default_timeout: '24h', tools: { noop: { to: 'channel:console:*' } } },
});

/** Opens the task system of a folder; `onTool` receives every run of its one tool, which is held. */
export async function openSystem(
  directory: string,
  onTool: () => void = () => undefined,
): Promise<TaskSystem> {
  const run: Tool['run'] = (...call) => {
    onTool();
    return noop.run(...call);
  };
  const tools = new Map([[noop.name, { ...noop, run }]]);
  const store = await SqliteStore.open({
    path: join(directory, '.service/tasks.db'),
    audit: { path: join(directory, '.service/audit.ndjson'), chain: true },
  });
  const clock = systemClock();
  const asItIs = (text: string) => text;
  const off = { guardrails: null, modify: null, credentials: null, scrub: asItIs };
  const system = new TaskSystem({
    store,
    model: scriptedModel('bench', [{ tool: 'noop' }, { say: '{result}' }]),
    tools,
    policies: new Policies({
      sha256: '0'.repeat(64),
      policy: createPolicy({ security, isAuthOn: false, tools, ...off }),
      scorer: null,
      mostWaiting: 1_000_000,
    }),
    shared: null,
    issuer: null,
    egress: null,
    clock,
    ids: randomIds(),
    log: { info: () => undefined, warn: console.warn, error: console.error },
    envelope: { entity_id: 'bench', entity_type: 'agent' },
    restAfter: 3_000,
    release: 'bench',
    onToolError: 'fail',
    onRestart: 'resume',
    limits: defaultLimits,
    retention: 86_400_000,
  });
  await system.start();
  return system;
}

/** Starts a task and resolves with its identifier once it waits. */
export async function park(system: TaskSystem): Promise<string> {
  const id = await system.open({
    message: { role: 'user', parts: [{ kind: 'text', text: 'go' }], messageId: 'm' },
    requester: null,
    correlationId: 'bench',
  });
  await reached(system, id, 'deferred');
  return id;
}

/** Holds of another program's calls, approved through the task system alone, without HTTP. */
export async function holdsInProcess(): Promise<Figure> {
  const folder = makeAgentFolder();
  const system = await openSystem(folder.directory);
  const runs = [];
  for (let round = 0; round < 4; round += 1) {
    runs.push(await measure(64, 4_000, () => holdAndApprove(system)));
  }
  await system.stop();
  folder.remove();
  return {
    what: 'hold → approve, 64 at once, without HTTP',
    measured: `${Math.round(medianOf(runs.slice(1)).perSecond).toLocaleString('en')}/s`,
    aim: '2,000/s',
  };
}

async function holdAndApprove(system: TaskSystem): Promise<void> {
  const key = crypto.randomUUID();
  const asked: Parameters<TaskSystem['holds']['open']>[0] = {
    message: { role: 'user', parts: [], messageId: key },
    ...{ requester: null, correlationId: 'bench', surface: 'hold' },
  };
  const times = { releaseWithin: 86_400_000, outcomeWithin: 3_600_000 };
  const { id } = await system.holds.open(asked, {}, { ...times, key, tool: noop.name });
  await reached(system, id, 'deferred');
  await approve(system, id);
}

async function cycle(system: TaskSystem): Promise<void> {
  await approve(system, await park(system));
}

/** Releases a task and resolves once it is complete; rejects when another decision came first. */
export async function approve(system: TaskSystem, id: string): Promise<void> {
  const done = reached(system, id, 'completed');
  const { kind } = await system.decide(id, {
    verb: 'approve',
    approver: 'bench',
    email: null,
    note: '',
    caller: null,
    deferralId: null,
    argsSha256: null,
    at: Date.now(),
  });
  if (kind !== 'resolved') throw new Error(`decision on ${id}: ${kind}`);
  await done;
}

function reached(system: TaskSystem, id: string, state: Task['state']): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = system.watchers.subscribe(id, {
      onTask: (task) => {
        if (task.state !== state) return;
        leave();
        resolve();
      },
      onLost: reject,
    });
  });
}
