import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { InspectionEvent } from 'xstate';
import type { ServiceConfig } from '../../src/actors/config/config.ts';
import type { IntentScorer } from '../../src/actors/governance/alignment/alignment.ts';
import type { CredentialIssuer } from '../../src/actors/governance/credentials/credentials.ts';
import { compileGuardrails } from '../../src/actors/governance/guardrails/guardrails.ts';
import { compileModify } from '../../src/actors/governance/modify/modify.ts';
import { createPolicy, type Policy } from '../../src/actors/governance/policy/policy.ts';
import { securitySchema } from '../../src/actors/governance/settings/schema-security.ts';
import type { LanguageModel } from '../../src/actors/ports/model.ts';
import type { Tool } from '../../src/actors/ports/tool.ts';
import { randomIds } from '../../src/actors/random-ids.ts';
import {
  type ChainVerdict,
  type RecordedEvent,
  verifyFiles,
} from '../../src/actors/records/log/audit.ts';
import { SqliteStore } from '../../src/actors/records/sqlite/sqlite-store.ts';
import { scriptedModel } from '../../src/actors/tasks/models/scripted-model.ts';
import { TaskSystem } from '../../src/actors/tasks/task-system.ts';
import { defaultLimits, type TaskLimits } from '../../src/machines/task/limits.ts';
import { ManualClock } from './manual-clock.ts';
import { onePolicy } from './one-policy.ts';

/** The options of a test for its task system; missing ones are filled in. */
export interface TestSystemOptions {
  directory?: string;
  clock?: ManualClock;
  model?: LanguageModel;
  tools?: Tool[];
  /** Tools that need a release, as `security.defer.tools` has them. */
  deferred?: Record<string, object>;
  /** The rest of `security`, as `service.yaml` has it. */
  security?: object;
  policy?: Policy;
  scorer?: IntentScorer;
  issuer?: CredentialIssuer;
  onRestart?: 'abandon' | 'resume';
  restAfter?: number;
  retention?: number;
  limits?: Partial<TaskLimits>;
  onToolError?: 'fail' | 'return';
  chain?: boolean;
  /** False leaves starting it to the test. */
  isStarted?: boolean;
  /** Receives the id of every task whose actor starts. */
  onActorStart?: (id: string) => void;
  /** Receives every step of an actor. */
  onInspected?: (event: InspectionEvent) => void;
}

/** A task system over real files, with a clock that the test moves. */
export interface TestSystem {
  directory: string;
  clock: ManualClock;
  store: SqliteStore;
  system: TaskSystem;
  /** The lines of the daemon's log. */
  logged: { level: string; fields: Record<string, unknown>; message: string }[];
  /** The events in the log file, oldest first; of one task when it is named. */
  events(taskId?: string): RecordedEvent[];
  verify(): Promise<ChainVerdict>;
  /** Starts the system when that was left to the test. */
  start(): Promise<void>;
  /** Does at once what the system does every second. */
  lookAround(): void;
  stop(): Promise<void>;
}

/** 2026-07-01T09:00:00.000Z, when every manual clock starts. */
export const nine = Date.UTC(2026, 6, 1, 9);

/** An empty folder that goes when the test ends. */
export function temporaryFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A copy of the files of a store as they are at this moment: what a power cut would leave. */
export function copyFiles(directory: string): string {
  const copy = temporaryFolder();
  cpSync(directory, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') });
  return copy;
}

/** Where a store lives in a folder. */
export function storeFiles(directory: string, chain = true) {
  const audit = { path: join(directory, 'audit.ndjson'), chain };
  return { path: join(directory, 'tasks.db'), audit };
}

/** Opens a store in a folder; the test closes it. */
export function openStore(directory: string, chain = true): Promise<SqliteStore> {
  return SqliteStore.open(storeFiles(directory, chain));
}

/** The events of the audit log in a folder, oldest first. */
export function recordedEvents(directory: string): RecordedEvent[] {
  const text = readFileSync(storeFiles(directory).audit.path, 'utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

/** Opens a task system that stops when the test ends. */
export async function openSystem(options: TestSystemOptions = {}): Promise<TestSystem> {
  const directory = options.directory ?? temporaryFolder();
  const clock = options.clock ?? new ManualClock(nine);
  const store = await openStore(directory, options.chain ?? true);
  const { onActorStart, onInspected } = options;
  const logged: TestSystem['logged'] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, fields: { ...fields }, message });
  const tools = new Map((options.tools ?? []).map((tool) => [tool.name, tool]));
  const system = new TaskSystem({
    store,
    model: options.model ?? scriptedModel('demo', []),
    tools,
    policies: onePolicy(options.policy ?? policyOf(options, tools), options.scorer),
    issuer: options.issuer ?? null,
    egress: null,
    clock,
    ids: randomIds(),
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    envelope: { entity_id: 'test', entity_type: 'agent' },
    shared: null,
    onRestart: options.onRestart ?? 'resume',
    restAfter: options.restAfter ?? 3_000,
    release: '0.0.0-test',
    limits: { ...defaultLimits, ...options.limits },
    onToolError: options.onToolError ?? 'fail',
    retention: options.retention ?? 7 * 24 * 3_600_000,
    ...(onActorStart === undefined ? {} : { inspect: observerOf(onActorStart) }),
    ...(onInspected === undefined ? {} : { inspect: { next: onInspected } }),
  });
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopped ??= system.stop();
    return stopped;
  };
  onTestFinished(stop);
  let intervals: (() => void)[] = [];
  const start = async (): Promise<void> => {
    intervals = await startAndCatchIntervals(system);
  };
  if (options.isStarted !== false) await start();
  return {
    directory,
    clock,
    store,
    system,
    logged,
    start,
    stop,
    events: (taskId) =>
      recordedEvents(directory).filter((event) => taskId === undefined || event.task_id === taskId),
    lookAround: () => intervals[0]?.(),
    verify: () => verifyFiles([storeFiles(directory).audit.path]),
  };
}

/** A security configuration in which some tools need a release, on the console unless they say where. */
function securityWith({ deferred = {}, security }: TestSystemOptions): ServiceConfig['security'] {
  const rules = Object.entries(deferred).map(
    ([tool, rule]) => [tool, { to: 'channel:console:*', ...rule }] as const,
  );
  const defer = { enabled: true, default_timeout: '5m', tools: Object.fromEntries(rules) };
  return securitySchema.parse({ defer, ...security });
}

function policyOf(options: TestSystemOptions, tools: Map<string, Tool>): Policy {
  const security = securityWith(options);
  const modify = compileModify(security.modify);
  const guardrails = compileGuardrails(security.guardrails);
  if (!modify.ok || !guardrails.ok) throw new Error('the rules of this test do not compile');
  return createPolicy({
    security,
    isAuthOn: false,
    tools,
    guardrails: security.guardrails.enabled ? guardrails.guardrails : null,
    modify: security.modify.enabled ? modify.modify : null,
    credentials: options.issuer ?? null,
    scrub: (text) => text,
  });
}

/** Starts a system and returns what it means to do now and then, shortest interval first. */
async function startAndCatchIntervals(system: TaskSystem): Promise<(() => void)[]> {
  const caught: { run: () => void; milliseconds: number }[] = [];
  const spy = vi.spyOn(globalThis, 'setInterval').mockImplementation(((
    run: () => void,
    milliseconds: number,
  ) => {
    caught.push({ run, milliseconds });
    return { unref: () => undefined };
  }) as never);
  await system.start().finally(() => spy.mockRestore());
  return caught
    .toSorted((one, other) => one.milliseconds - other.milliseconds)
    .map(({ run }) => run);
}

function observerOf(onActorStart: (id: string) => void): { next(event: InspectionEvent): void } {
  return {
    next(event) {
      if (event.type === '@xstate.actor' && 'id' in event.actorRef) {
        const { id } = event.actorRef as { id: string };
        if (/^[0-9a-f-]{36}$/.test(id)) onActorStart(id);
      }
    },
  };
}
