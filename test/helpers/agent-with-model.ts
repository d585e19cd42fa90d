import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAuthenticator } from '../../src/actors/access/auth/authenticator.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import type { LanguageModel, Turn } from '../../src/actors/ports/model.ts';
import { randomIds } from '../../src/actors/random-ids.ts';
import { systemClock } from '../../src/actors/system-clock.ts';
import { TaskSystem } from '../../src/actors/tasks/task-system.ts';
import { createGovernance } from '../../src/agent/policy/agent-governance.ts';
import { readAgent } from '../../src/agent/start/read-agent.ts';
import type { Agent } from '../../src/agent/start/start-agent.ts';
import { createApp } from '../../src/http/app.ts';
import { listen } from '../../src/http/listen.ts';
import { defaultLimits } from '../../src/machines/task/limits.ts';
import { storeEnvironment } from './kept-store.ts';
import { onePolicy } from './one-policy.ts';
import { openDoor } from './open-door.ts';
import { openedStore } from './opened-store.ts';

/** A model that requests these calls, in one turn and in the given form, and then repeats the last result. */
export function modelAsking(calls: { tool: string; args: unknown }[]): LanguageModel {
  return {
    provider: 'scripted',
    name: 'demo',
    async next({ turns, exchanges }, { onToken }) {
      const spoken = { inputTokens: 0, outputTokens: 0 };
      if (turns === 0) return { ...spoken, text: '', calls: calls as Turn['calls'] };
      const text = `got ${exchanges.at(-1)?.result}`;
      onToken(text);
      return { ...spoken, text, calls: [] };
    },
  };
}

/** Starts the agent of a folder with a model that no configuration names. */
export async function startAgentWithModel(
  directory: string,
  model: LanguageModel,
  log: Log,
): Promise<Agent> {
  const ids = randomIds();
  const { agent, problems } = await readAgent(directory, storeEnvironment(), systemClock());
  if (agent === null) throw new Error(JSON.stringify(problems));
  const { config, guardrails, modify, toolbox } = agent;
  const { tools } = toolbox;
  mkdirSync(join(directory, '.service'));
  const auditPath = join(directory, config.audit.path);
  const { store, shared, clock } = await openedStore(directory, config, log);
  const governance = createGovernance({
    config,
    isAuthOn: false,
    tools,
    guardrails,
    modify,
    scrub: (text) => text,
    env: {},
    clock,
    log,
  });
  const system = new TaskSystem({
    store,
    model,
    tools,
    policies: onePolicy(governance.policy, governance.scorer),
    issuer: governance.issuer,
    egress: null,
    shared,
    clock,
    ids,
    log,
    envelope: { entity_id: config.agent_id, entity_type: 'agent' },
    restAfter: 3_000,
    release: '0.0.0-test',
    onRestart: 'abandon',
    limits: defaultLimits,
    onToolError: 'fail',
    retention: 60_000,
  });
  await system.start();
  const authenticator = createAuthenticator({ runtimeToken: 'x', tokens: [], isOptional: true });
  const app = createApp({
    system,
    authenticator,
    clock,
    ids,
    log,
    onDisconnect: 'abandon',
    push: null,
    ...openDoor,
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0, isFixed: true, ids });
  return {
    id: config.agent_id,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inspectorUrl: null,
    warnings: [],
    token: 'x',
    auditPath,
    health: async () => ({
      deferred: (await system.metrics.load()).deferred,
      isWritable: store.isWritable(),
    }),
    async stop() {
      await system.drain(5_000);
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await system.stop();
    },
  };
}
