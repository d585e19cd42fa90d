import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { onTestFinished } from 'vitest';
import { createAuthenticator } from '../../src/actors/access/auth/authenticator.ts';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import type { Tool } from '../../src/actors/ports/tool.ts';
import { scriptedModel } from '../../src/actors/tasks/models/scripted-model.ts';
import { TaskSystem } from '../../src/actors/tasks/task-system.ts';
import { type AppPorts, createApp } from '../../src/http/app.ts';
import { type ListenOptions, listen } from '../../src/http/listen.ts';
import type { ToolRules } from '../../src/machines/governance/ruling.ts';
import { defaultLimits } from '../../src/machines/task/limits.ts';
import { aPolicy } from './a-policy.ts';
import { AgentClient } from './agent-client.ts';
import { keepInPostgres, leaveStore } from './kept-store.ts';
import { onePolicy } from './one-policy.ts';
import { openDoor } from './open-door.ts';
import { openedStore } from './opened-store.ts';
import { toolRules } from './task-fixtures.ts';

/** The HTTP surface over a real task system whose tools are functions. */
export interface TestSurface {
  client: AgentClient;
  system: TaskSystem;
  server: Server;
  log: string[];
}

/** What a test may choose about a surface. */
export interface TestSurfaceOptions {
  /** False leaves the system as it is before it has started. */
  isStarted?: boolean;
  tools?: Record<string, () => string | Promise<string>>;
  arrival?: ListenOptions['arrival'];
  traffic?: AppPorts['traffic'];
  /** The one that says it is starting when absent. */
  card?: AppPorts['card'];
  /** Milliseconds; 25 seconds when absent. */
  holdHeartbeat?: number;
  a2aHold?: boolean;
  /** The machine's own when absent. */
  clock?: Clock;
  /** What governs a tool, beyond nothing. */
  rules?: Record<string, Partial<ToolRules>>;
}

/** Serves the surface until the test has finished. */
export async function startTestSurface(options: TestSurfaceOptions = {}): Promise<TestSurface> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-surface-'));
  const lines: string[] = [];
  const note = (_: object, message: string) => void lines.push(message);
  const log: Log = { info: note, warn: note, error: note };
  const { rules = {} } = options;
  // Over PostgreSQL deadlines go by the clock of the database, which no test moves.
  const kept = options.clock === undefined ? keepInPostgres(folder, 'test') : null;
  const { store, shared, ...opened } = await openedStore(
    folder,
    {
      agent_id: 'test',
      store: { kind: 'sqlite', path: 'tasks.db', retention: 60_000, ...kept },
      audit: { path: 'audit.ndjson', chain: true },
      security: { defer: { on_restart: 'abandon' } },
    },
    log,
  );
  const { clock = opened.clock } = options;
  const ids = { next: () => v7() };
  const tools = new Map(
    Object.entries(options.tools ?? {}).map(([name, run]) => [name, toolOf(name, run)]),
  );
  const system = new TaskSystem({
    store,
    shared,
    model: scriptedModel('demo', []),
    tools,
    policies: onePolicy(aPolicy({ rulesFor: ({ tool }) => toolRules(rules[tool]) })),
    issuer: null,
    egress: null,
    clock,
    ids,
    log,
    envelope: { entity_id: 'test', entity_type: 'agent' },
    restAfter: 3_000,
    release: '0.0.0-test',
    onToolError: 'fail',
    onRestart: 'abandon',
    limits: defaultLimits,
    retention: 60_000,
  });
  if (options.isStarted !== false) await system.start();
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
    ...(options.traffic === undefined ? {} : { traffic: options.traffic }),
    ...(options.card === undefined ? {} : { card: options.card }),
    ...(options.a2aHold === undefined ? {} : { a2aHold: options.a2aHold }),
    ...(options.holdHeartbeat === undefined ? {} : { holdHeartbeat: options.holdHeartbeat }),
  });
  const { arrival } = options;
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    isFixed: true,
    ids,
    ...(arrival === undefined ? {} : { arrival }),
  });
  onTestFinished(async () => {
    await system.drain(0);
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await system.stop();
    rmSync(folder, { recursive: true, force: true });
    leaveStore(folder);
  });
  const { port } = server.address() as AddressInfo;
  const client = new AgentClient(`http://127.0.0.1:${port}`, null);
  return { client, system, server, log: lines };
}

function toolOf(name: string, run: () => string | Promise<string>): Tool {
  return {
    name,
    description: name,
    parameters: { type: 'object' },
    idempotent: false,
    run: async () => run(),
  };
}
