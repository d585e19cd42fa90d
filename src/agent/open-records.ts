import { resolve } from 'node:path';
import type { ServiceConfig } from '../actors/config/config.ts';
import type { Guardrails } from '../actors/governance/governance.ts';
import type { AuditEvent, Clock, Log } from '../actors/ports.ts';
import {
  type AgentEntity,
  type AuditKeys,
  type AuditSinks,
  agentEntity,
  createAuditSinks,
  keyRotation,
  lastSignedLine,
  logFilesOf,
  openAuditKeys,
  SqliteStore,
  type TaskStore,
} from '../actors/records/records.ts';
import type { Toolbox } from '../actors/tools/tools.ts';
import type { McpToolsSeen } from './mcp-tools-seen.ts';
import { namedTools } from './named-tools.ts';
import { keepCopies, type OpenedShared, openShared } from './open-shared.ts';
import { openTogether } from './open-together.ts';
import { policyEvent } from './policy-event.ts';

/** What an event of the daemon says beside whose it is, and when. */
export type DaemonEvent = Pick<AuditEvent, 'event' | 'fields'>;

/** The store of an agent with its audit log, which is kept inside the same commits. */
export interface AgentRecords {
  store: TaskStore;
  /** How the work on the tasks is shared with other daemons; `null` for the only one. */
  shared: OpenedShared | null;
  /** What time it is for tasks and their log; of several daemons all go by the time of their database. */
  clock: Clock;
  sinks: AuditSinks;
  keys: AuditKeys;
  path: string;
  /** Whose agent the events are about. */
  entity: AgentEntity;
  /** Writes events of the daemon itself, now. Rejects with UnrecordedError. */
  record: (...events: DaemonEvent[]) => Promise<void>;
  /** Records what is to be said at the start: what was mended, a new key, and what governs from now on. */
  recordStart: () => Promise<void>;
}

export interface RecordsParts {
  config: ServiceConfig;
  guardrails: Guardrails | null;
  toolbox: Pick<Toolbox, 'tools'>;
  /** The digest of the policy in force. */
  policySha256: string;
  /** What its MCP servers offered last. */
  seen: McpToolsSeen;
  /** How scripts are kept apart; `null` when there are none. */
  sandbox: string | null;
  directory: string;
  /** True keeps lines of the log that the store does not know, and ends the tasks they name. */
  keepLog: boolean;
  /** The egress policy's own. */
  fetch: typeof globalThis.fetch;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
}

/**
 * Opens the log of an agent with its store: lines are signed as configured, and every sink is given what
 * is on disk. Throws StoreError, StoreBehindError, SigningKeyError or PublicKeyError.
 */
export function openRecords(parts: RecordsParts): Promise<AgentRecords & AsyncDisposable> {
  return openTogether((stack) => openOn(stack, parts));
}

async function openOn(stack: AsyncDisposableStack, parts: RecordsParts): Promise<AgentRecords> {
  const { config, directory, env, clock, log } = parts;
  const { audit } = config;
  const path = resolve(directory, audit.path);
  const keys = openAuditKeys(audit.signing, env);
  // Without a key there is nothing to compare, and the whole log would be read for a line that is signed.
  const rotated =
    keys.signer === null ? null : await keyRotation(await lastSignedLine(logFilesOf(path)), keys);
  const entity = agentEntity(config.agent_id, env);
  // A sink may have something to say before the store is open.
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
  if (shared !== null) keepCopies(shared, { path, sinks, log });
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
  const recordStart = async (): Promise<void> => {
    await record(
      ...(rotated === null ? [] : [rotated]),
      policyEvent(config, parts.guardrails, namedTools(config, parts.toolbox, parts.seen), {
        policySha256: parts.policySha256,
        sandbox: parts.sandbox,
      }),
    );
  };
  return { store, shared, clock: time, sinks, keys, path, entity, record, recordStart };
}

/** Logs what had to be mended. */
function tellOpening({ recovery: { torn, replayed }, opening }: TaskStore, log: Log): void {
  const { behind, lost } = opening;
  if (torn !== null || replayed > 0) {
    log.warn({ ...torn, replayed }, 'audit: the tail of the log was mended');
  }
  if (behind !== null) {
    log.error(
      behind,
      'audit: the task store was older than its log; the log was kept, and the tasks it names were ended',
    );
  }
  if (lost !== null) {
    log.error(
      lost,
      'audit: the log stands and its task store is lost; what waited for a decision waits no more',
    );
  }
}
