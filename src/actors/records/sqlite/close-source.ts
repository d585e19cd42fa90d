import type { AgentEntity } from '../log/agent-entity.ts';
import { finishedFilesOf, logFilesOf } from '../log/log-files.ts';
import { breakSentence } from '../log/verdict.ts';
import type { AuditHead } from '../store/audit-head.ts';
import { StoreError } from '../store/store-error.ts';
import { AuditRows } from './audit-head.ts';
import { openSource } from './source-store.ts';
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';
import { verifyLogFiles } from './verify-log-files.ts';

/** The verified log of an unused store, consistent with that store. */
export interface ClosedLog {
  files: readonly string[];
  /** Number of its first remaining line, from 1. */
  first: number;
  events: number;
  hash: string;
  checkpointed: number;
}

/** A store to copy, its log, and their agent. */
export interface SourceOptions {
  path: string;
  audit: Required<Pick<SqliteStoreOptions['audit'], 'path' | 'chain' | 'signer' | 'keys'>>;
  entity: AgentEntity;
}

/**
 * Makes an unused store and its log consistent like a start would, and verifies the log. Throws StoreError if either is
 * unusable.
 */
export async function closeSource({ path, audit, entity }: SourceOptions): Promise<ClosedLog> {
  await settleSource({ path, audit, entity });
  const head = headOf(path);
  if (audit.chain) return { ...(await verifyClosed(audit.path, head)), ...head };
  const first = finishedFilesOf(audit.path)[0]?.first ?? 1;
  return { files: logFilesOf(audit.path), first, ...head };
}

/** Opening brings the store and its log together, as a start does. */
async function settleSource({ path, audit, entity }: SourceOptions): Promise<void> {
  const store = await SqliteStore.open({ path, audit: { ...audit, entity } });
  await store.close();
}

async function verifyClosed(
  path: string,
  { events, hash }: Pick<AuditHead, 'events' | 'hash'>,
): Promise<Pick<ClosedLog, 'files' | 'first'>> {
  const { files, first, verdict } = await verifyLogFiles(path);
  if (!verdict.ok) {
    throw new StoreError(
      `${breakSentence(verdict)}; nothing was copied, so restore the log from a copy`,
    );
  }
  const last = first - 1 + verdict.events;
  if (last === events && (verdict.head === hash || events === 0)) return { files, first };
  throw new StoreError(
    `the audit log ends with line ${last}, and its store knows ${events}; restore the log and the store that belong together`,
  );
}

function headOf(path: string): Pick<AuditHead, 'events' | 'hash' | 'checkpointed'> {
  const database = openSource(path);
  try {
    const { events, hash, checkpointed } = new AuditRows(database).read() as AuditHead;
    return { events, hash, checkpointed };
  } finally {
    database.close();
  }
}
