import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import { type Agent, startAgent } from '../../src/agent/start/start-agent.ts';
import { AgentClient, type Answer } from './agent-client.ts';
import { AgentFolder, type ServiceSettings } from './agent-folder.ts';
import { withoutCall } from './call-fields.ts';
import { readLog, verifyKept } from './kept-log.ts';
import { storeEnvironment } from './kept-store.ts';

/** One line of the audit log. */
export interface AuditLine {
  event: string;
  task_id?: string;
  seq?: number;
  correlation_id?: string;
  fields?: Record<string, any>;
  [key: string]: unknown;
}

/** An agent that runs in this process, as a caller without a token sees it. */
export class TestAgent extends AgentClient {
  readonly folder: AgentFolder;
  /** The daemon's own token. */
  readonly token: string;
  readonly auditPath: string;
  /** Every line of the daemon's log. */
  readonly log: { level: string; fields: object; message: string }[];
  readonly #agent: Agent;

  constructor(agent: Agent, folder: AgentFolder, log: TestAgent['log']) {
    super(agent.url, null);
    this.#agent = agent;
    this.folder = folder;
    this.token = agent.token;
    this.auditPath = agent.auditPath;
    this.log = log;
  }

  /** Stops the agent and leaves its folder as it is. */
  stop(): Promise<void> {
    return this.#agent.stop();
  }

  /** Stops the agent, with all its waits, and removes its folder. */
  async close(): Promise<void> {
    this.folder.leaveGate();
    await this.stop();
    this.folder.remove();
  }

  /** A caller with a token. */
  as(token: string): AgentClient {
    return new AgentClient(this.url, token);
  }

  /** The lines of the audit log, of one task when it is named. */
  audit(taskId?: string): AuditLine[] {
    return readAudit(this.auditPath, taskId);
  }

  /** Resolves with a task once it is in this state. */
  reached(id: string, state: string): Promise<any> {
    return reached(this, id, state);
  }
}

/** How a test agent is started. */
export interface TestAgentOptions {
  noAuth?: boolean;
  /** An agent's folder from before; a new one when absent. */
  folder?: AgentFolder;
  /** Its environment; empty when absent. */
  env?: NodeJS.ProcessEnv;
  /** A free one when absent. */
  port?: number;
  /** As `run --keep-log` does. */
  keepLog?: boolean;
  /** As `run --inspect` does; 0 takes a free port. */
  inspectPort?: number;
  /** The machine's own when absent. */
  clock?: Clock;
}

/** Starts an agent that is closed after the test. */
export async function startTestAgent(
  settings: ServiceSettings = {},
  options: TestAgentOptions = {},
): Promise<TestAgent> {
  const agent = await launchAgent(settings, options);
  onTestFinished(() => agent.close());
  return agent;
}

/** Starts an agent in a folder that stays; it is stopped after the test. */
export async function startInFolder(
  folder: AgentFolder,
  env: NodeJS.ProcessEnv = {},
): Promise<TestAgent> {
  const agent = await launchAgent({}, { folder, env });
  onTestFinished(() => agent.stop());
  return agent;
}

/** A log whose lines are kept, without the sandbox line of every start. */
export function logTo(lines: TestAgent['log']): Log {
  const at = (level: string) => (fields: object, message: string) => {
    if (!message.startsWith('scripts run ')) lines.push({ level, fields, message });
  };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

/** Starts an agent that the caller closes. */
export async function launchAgent(
  settings: ServiceSettings = {},
  options: TestAgentOptions = {},
): Promise<TestAgent> {
  const folder = options.folder ?? new AgentFolder(settings);
  const log: TestAgent['log'] = [];
  const agent = await startAgent({
    directory: folder.path,
    host: '127.0.0.1',
    port: options.port ?? 0,
    noAuth: options.noAuth ?? false,
    inspectPort: options.inspectPort ?? null,
    env: { ...storeEnvironment(), ...options.env },
    keepLog: options.keepLog ?? false,
    log: logTo(log),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  return new TestAgent(agent, folder, log);
}

/**
 * Resolves with a task once it is in this state. It is asked for at longer and longer intervals, as each answer takes time
 * from the agent, which runs in this process.
 */
export async function reached(client: AgentClient, id: string, state: string): Promise<any> {
  const until = performance.now() + 30_000;
  for (let pause = 5; ; pause = Math.min(2 * pause, 40)) {
    const isLast = performance.now() > until;
    const answer = client.get(`/tasks/${id}`);
    // An agent that is being restarted accepts no connection.
    const { body } = await (isLast ? answer : answer.catch(() => ({ body: null })));
    if (body?.status?.state === state) return body;
    if (isLast) expect(body.status?.state).toBe(state);
    await setTimeout(pause);
  }
}

/** Reads the lines of an audit log, of one task when it is named. */
export function readAudit(path: string, taskId?: string): AuditLine[] {
  const lines = readLog(path).split('\n').filter(Boolean);
  const events = lines.map((line) => JSON.parse(line) as AuditLine);
  return taskId === undefined ? events : events.filter((event) => event.task_id === taskId);
}

const requesterFields = ['user_id', 'email', 'provider', 'org_id'];

/**
 * What happened, in order: each event with the fields that do not vary from run to run. Rulings, calls and requesters
 * are the matter of evidence.test.ts.
 */
export function story(lines: AuditLine[]): [string, Record<string, unknown>?][] {
  const told = lines.filter(({ event }) => event !== 'egress_allowed' && event !== 'call_ruled');
  return told.map(({ event, fields }) => {
    if (fields === undefined) return [event];
    const { duration_ms: _, wait_ms: __, result_size: ___, args_size: ____, ...rest } = fields;
    const { method: _____, ...kept } = withoutCall(rest);
    if (event === 'session_start' || event === 'task_deferred') {
      for (const name of requesterFields) delete kept[name];
    }
    return event === 'session_start' ? [event] : [event, kept];
  });
}

/** Expects the chain of an audit log to verify. */
export async function expectIntact(path: string): Promise<void> {
  expect(await verifyKept(path)).toMatchObject({ ok: true });
}

/** The text a task shows for its state. */
export function textOf({ body }: Pick<Answer, 'body'>): string {
  return body.status.message?.parts[0].text;
}

/** Settings that defer `pay`, with these rules on top. */
export function deferring(
  rule: object = {},
  defer: object = {},
): ServiceSettings & { security: { defer: object } } {
  const pay = { to: 'channel:console:desk', timeout: '5m', ...rule };
  return { security: { defer: { enabled: true, tools: { pay }, ...defer } } };
}
