import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../../../src/actors/ports/clock.ts';
import { type Tool, ToolError, type ToolRun } from '../../../../src/actors/ports/tool.ts';
import { systemClock } from '../../../../src/actors/system-clock.ts';
import {
  connectMcpServers,
  type McpServersParts,
} from '../../../../src/actors/tools/mcp/mcp-servers.ts';
import { SeenTools } from '../../../../src/actors/tools/mcp/seen-tools.ts';
import type { McpServerSettings } from '../../../../src/actors/tools/mcp/server-settings.ts';
import type { ToolEvent } from '../../../../src/actors/tools/mcp/server-tools.ts';
import type { RemoteTask } from '../../../../src/machines/domain/task.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { logTo, type TestAgent } from '../../../helpers/test-agent.ts';

/** A tool as a server lists it. */
export function listed(name: string, more: object = {}): object {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more };
}

/** A folder of an agent with the puppet in it. */
export class PuppetFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-mcp-')));

  constructor(tools: readonly unknown[]) {
    mkdirSync(join(this.path, '.service'));
    copyFileSync(join(import.meta.dirname, 'puppet-server.mjs'), join(this.path, 'server.mjs'));
    this.offer(tools);
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true, maxRetries: 3 }));
  }

  /** Changes what the puppet offers. */
  offer(tools: readonly unknown[]): void {
    writeFileSync(join(this.path, 'tools.json'), JSON.stringify({ tools }));
  }

  /** The input of the puppet, in order. */
  get told(): string[] {
    try {
      return readFileSync(join(this.path, 'told'), 'utf8').split('\n').filter(Boolean);
    } catch {
      return [];
    }
  }
}

/** The settings of a puppet over stdio. */
export function puppetConfig(more: Partial<McpServerSettings> = {}): McpServerSettings {
  return {
    ...{ name: 'shop', command: 'node', args: ['server.mjs'], env: {}, headers: {} },
    tools: { deny: [] },
    ...more,
  };
}

const run: Omit<ToolRun, 'signal'> = {
  ...{ taskId: 't1', callId: 'c1', correlationId: 'k1', tags: {}, credential: null },
};

/** Servers that are connected, with the tools of their agent. */
export interface Connected {
  tools: Map<string, Tool>;
  seen: SeenTools;
  log: TestAgent['log'];
  /** The events of the audit log, except those of offered tools. */
  events: ToolEvent[];
  /** The sentences of the log that warn. */
  warnings(): string[];
  /** The reports of tools about their waits elsewhere. */
  waits: unknown[];
  /** What tools had besides their texts. */
  extras: unknown[];
  /** The reports of tools about their progress. */
  progress: unknown[];
  /** Tasks of servers that continue calls. */
  detached: RemoteTask[];
  /** Calls a tool, and returns its result or the message of its ToolError. */
  call(
    tool: string,
    args?: JsonObject,
    signal?: AbortSignal,
    more?: Partial<ToolRun>,
  ): Promise<string>;
  /** Follows the task of a call that was made before, and returns its result or the message of its ToolError. */
  follow(tool: string, remote: RemoteTask): Promise<string>;
  stop(): Promise<void>;
}

/** What a test connects servers with that is not as usual. */
type ConnectWishes = Partial<McpServersParts> & { clock?: Clock };

/** Connects servers as an agent does, once each was tried. */
export async function connected(
  folder: PuppetFolder,
  servers: readonly McpServerSettings[],
  more: ConnectWishes = {},
): Promise<Connected> {
  const { tried, ...connecting } = connect(folder, servers, more);
  await tried();
  return connecting;
}

/** Begins to connect servers as an agent does. */
export function connect(
  folder: PuppetFolder,
  servers: readonly McpServerSettings[],
  more: ConnectWishes = {},
): Connected & { tried(): Promise<void> } {
  const tools = more.tools ?? new Map<string, Tool>();
  const log: TestAgent['log'] = [];
  const events: ToolEvent[] = [];
  const waits: unknown[] = [];
  const extras: unknown[] = [];
  const progress: unknown[] = [];
  const detached: RemoteTask[] = [];
  const open = connectMcpServers({
    ...{ servers, tools, version: '1' },
    agentDirectory: folder.path,
    isIdempotent: () => false,
    isHeld: () => false,
    ruled: () => [],
    isolation: () => ({ proxy: null, sandbox: 'env' }),
    egress: { fetch: globalThis.fetch, scope: () => null, within: (_, send) => send() },
    env: { PATH: '/nowhere', DAEMON_SECRET: 'hunter22' },
    clock: systemClock(),
    log: logTo(log),
    record: async (...told) =>
      void events.push(...told.filter(({ event }) => event !== 'mcp_tools')),
    random: () => 0,
    ...more,
  });
  onTestFinished(() => open.stop());
  const told = {
    ...run,
    onWait: (wait: unknown) => void waits.push(wait),
    onExtras: (more: unknown) => void extras.push(more),
    onProgress: (report: unknown) => void progress.push(report),
    onDetached: (remote: RemoteTask) => void detached.push(remote),
  };
  return {
    ...{ tools, log, events, waits, extras, progress, detached },
    tried: () => open.tried(),
    seen: new SeenTools(folder.path),
    warnings: () => log.filter(({ level }) => level !== 'info').map(({ message }) => message),
    async call(name, args = {}, signal = new AbortController().signal, more = {}) {
      const tool = tools.get(name);
      if (tool === undefined) return `no tool ${name}`;
      return outcomeOf(tool.run(args, { ...told, signal, ...more }));
    },
    follow: (name, remote) =>
      outcomeOf(open.calls.follow(name, remote, { ...told, signal: new AbortController().signal })),
    stop: () => open.stop(),
  };
}

async function outcomeOf(result: Promise<string>): Promise<string> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof ToolError) return `${error.kind}: ${error.message}`;
    throw error;
  }
}
