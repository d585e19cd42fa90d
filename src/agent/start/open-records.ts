import { join, resolve } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import type { Guardrails } from '../../actors/governance/governance.ts';
import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { ReceiptSource } from '../../actors/ports/receipts.ts';
import {
  type AgentEntity,
  type AuditKeys,
  type AuditSinks,
  agentEntity,
  createAuditSinks,
  exportTask,
  keyRotation,
  lastSignedLine,
  logFilesOf,
  nodeKeyRing,
  openAuditKeys,
  Receipts,
  SqliteStore,
  type TakeLine,
  type TaskStore,
} from '../../actors/records/records.ts';
import type { Toolbox } from '../../actors/tools/tools.ts';
import { namedTools } from '../policy/named-tools.ts';
import { policyEvent } from '../policy/policy-event.ts';
import type { McpToolsSeen } from './mcp-tools-seen.ts';
import { keepCopies, type OpenedShared, openShared } from './open-shared.ts';
import { openTogether } from './open-together.ts';

/** An event of the daemon without the agent's identity and the time. */
export type DaemonEvent = Pick<AuditEvent, 'event' | 'fields'>;

/** The store and the audit log of an agent, written in the same commits. */
export interface AgentRecords {
  store: TaskStore;
  /** Sharing of the tasks with other daemons; `null` if this is the only daemon. */
  shared: OpenedShared | null;
  /** The clock for tasks and their log. Daemons that share a store use the time of their database. */
  clock: Clock;
  sinks: AuditSinks;
  keys: AuditKeys;
  /** Receipts of calls, from this log. */
  receipts: ReceiptSource;
  path: string;
  /** Counts the committed lines of the log that are not safe in its file yet. */
  lag: () => Promise<number>;
  /** The agent that the events are about. */
  entity: AgentEntity;
  /** Writes the daemon's own events immediately. Rejects with UnrecordedError. */
  record: (...events: DaemonEvent[]) => Promise<void>;
  /** Records the startup events: repairs, a new signing key, and the policy in force. */
  recordStart: () => Promise<void>;
}

export interface RecordsParts {
  config: ServiceConfig;
  guardrails: Guardrails | null;
  toolbox: Pick<Toolbox, 'tools'>;
  /** The digest of the policy in force. */
  policySha256: string;
  /** The tools that the agent's MCP servers offered last. */
  seen: McpToolsSeen;
  /** The sandbox level of scripts; `null` if there are no scripts. */
  sandbox: string | null;
  directory: string;
  /** If true, keeps log lines that are missing from the store and ends the tasks that they name. */
  keepLog: boolean;
  /** The fetch of the egress policy. */
  fetch: typeof globalThis.fetch;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
}

/**
 * Opens an agent's log and store. Lines are signed as configured, and every sink receives the lines on disk. Throws
 * StoreError, StoreBehindError, SigningKeyError or PublicKeyError.
 */
export function openRecords(parts: RecordsParts): Promise<AgentRecords & AsyncDisposable> {
  return openTogether((stack) => openOn(stack, parts));
}

async function openOn(stack: AsyncDisposableStack, parts: RecordsParts): Promise<AgentRecords> {
  const { config, directory, env, clock, log } = parts;
  const { audit } = config;
  const path = resolve(directory, audit.path);
  const keys = openAuditKeys(audit, { env, folder: join(directory, '.service'), creates: true });
  // Without a key there is nothing to compare, and the search for a signed line would read the whole log.
  const rotated =
    keys.signer === null ? null : await keyRotation(await lastSignedLine(logFilesOf(path)), keys);
  const entity = agentEntity(config.agent_id, env);
  // A sink may report an event before the store is open.
  const opened = Promise.withResolvers<TaskStore>();
  const record = async (...events: DaemonEvent[]): Promise<void> => {
    const kept = await opened.promise;
    const ts = new Date(time.now()).toISOString();
    await kept.record(events.map((event) => ({ ...entity, ts, ...event })));
  };
  const configured = createAuditSinks({
    sinks: audit.sinks,
    directory,
    env,
    clock,
    log,
    fetch: parts.fetch,
    record: (event) => void record(event).catch(() => undefined),
  });
  const sinks = stack.adopt(configured, (open) => open.close());
  const shared =
    config.store.kind === 'postgres'
      ? await openShared({ config, directory, env, signer: keys.signer, log })
      : null;
  const time = shared?.clock(clock) ?? clock;
  const copyLag = shared === null ? null : keepCopies(shared, { path, sinks, log });
  const opening: TaskStore =
    shared === null
      ? await SqliteStore.open({
          path: resolve(directory, config.store.path),
          onDamaged: (error) => log.error({}, `store: ${error.message}`),
          audit: {
            path,
            chain: audit.chain,
            signer: keys.signer,
            keys: keys.published,
            entity,
            keepLog: parts.keepLog,
            rotation: {
              maxBytes: audit.rotation.max_bytes,
              daily: audit.rotation.daily,
              keep: audit.rotation.keep,
            },
            onCommitted: (lines) => sinks.offer(lines),
          },
        })
      : shared.store;
  const store = stack.adopt(opening, (open) => open.close());
  opened.resolve(store);
  tellOpening(store, log);
  const receipts = new Receipts({
    signer: keys.signer,
    clock: time,
    keys: nodeKeyRing(keys.published),
    async readTask(task, take) {
      const exporting = { task, withProof: false, withLinks: audit.chain };
      const takeLine: TakeLine = async (line) => {
        take(line);
        return true;
      };
      const { broken } = await (shared === null
        ? exportTask({ path, ...exporting }, takeLine)
        : shared.store.exportTask(exporting, takeLine));
      return broken?.number ?? null;
    },
  });
  const recordStart = async (): Promise<void> => {
    await record(
      ...(rotated === null ? [] : [rotated]),
      policyEvent(config, parts.guardrails, namedTools(config, parts.toolbox, parts.seen), {
        policySha256: parts.policySha256,
        sandbox: parts.sandbox,
      }),
    );
  };
  const lag = copyLag ?? (async () => store.unsynced);
  const recording = { record, recordStart, lag };
  return { store, shared, clock: time, sinks, keys, receipts, path, entity, ...recording };
}

/** Logs the repairs made while opening. */
function tellOpening({ recovery: { torn, replayed }, opening }: TaskStore, log: Log): void {
  const { behind, lost, restored } = opening;
  if (torn !== null || replayed > 0) {
    log.warn({ ...torn, replayed }, 'audit: the end of the log was repaired');
  }
  if (behind !== null) {
    log.error(
      behind,
      'audit: the task store was older than its log; the log was kept, and the tasks it names were ended',
    );
  }
  if (restored !== null) {
    const { backupAt, ...counts } = restored;
    log.warn(
      { backup_at: new Date(backupAt).toISOString(), ...counts },
      'store: restored from a backup; running tasks were ended, and approvers are warned of waiting calls',
    );
  }
  if (lost !== null) {
    log.error(lost, 'audit: the task store of the log is lost; waiting calls were abandoned');
  }
}
