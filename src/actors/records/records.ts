// Persistence: the task store, the audit log, and the sinks that receive its lines.

export {
  type AgentEntity,
  type AuditKeys,
  AuditLogError,
  agentEntity,
  auditEventOf,
  breakSentence,
  type Capture,
  type ChainVerdict,
  createCapture,
  csvHeader,
  csvLine,
  type DecidedCall,
  decisionCsv,
  decisionsOf,
  type ExportedLine,
  type ExportSummary,
  egressWords,
  exportTask,
  findLines,
  formatBadLine,
  formatEvent,
  type IntactLog,
  isDecision,
  keyRotation,
  type LineBreak,
  type LineSigner,
  LogIndexes,
  LogView,
  LongLineError,
  lastSignedLine,
  longestCapture,
  manifestFault,
  type NumberedLine,
  nodeKeyRing,
  type OpenLogFile,
  ocsfEvent,
  openAuditKeys,
  PublicKeyError,
  type PublicKeySet,
  passkeyFault,
  prunedAt,
  publicKey,
  Receipts,
  type RecordedEvent,
  readPublicKeys,
  type SignatureReason,
  SigningKeyError,
  type Standing,
  signManifest,
  standingBefore,
  type TailedLine,
  type Tailing,
  type TakeLine,
  type TaskLine,
  tailLines,
  type VerifyFilesOptions,
  verdictSentence,
  verifyFiles,
  verifyLog,
  verifyReceipts,
} from './log/audit.ts';
export { finishedFilesOf, finishedPath, logFilesOf } from './log/log-files.ts';
export { type EndOfDuty, HeldDuty } from './postgres/held-duty.ts';
export type { JobCounts } from './postgres/job-engine.ts';
export type { LogAddress, PostgresLog, StoreCopy, StoreReport } from './postgres/postgres.ts';
export type { PostgresStore } from './postgres/postgres-store.ts';
export { type AuditSinks, createAuditSinks } from './sinks/audit-sinks.ts';
export { checkBackup } from './sqlite/check-backup.ts';
export { closeSource } from './sqlite/close-source.ts';
export { compareLog, isContinued, type StoreAndLog } from './sqlite/compare-log.ts';
export { checkPages } from './sqlite/database.ts';
export { hasLogOfBackup, markRestored } from './sqlite/restored-mark.ts';
export { logNameInCopy, SnapshotLog, snapshotStore } from './sqlite/snapshot-store.ts';
export { checkSource } from './sqlite/source-store.ts';
export { readChannelNames } from './sqlite/sqlite-channel-name-rows.ts';
export { SqliteStore } from './sqlite/sqlite-store.ts';
export { ofOtherReleases } from './sqlite/sqlite-task-rows.ts';
export { type StoreStanding, storeStanding } from './sqlite/store-standing.ts';
export type {
  ApprovalBacklog,
  ApprovalRow,
  ApprovalRows,
  ApprovalSlot,
  ApprovalWrite,
} from './store/approval-rows.ts';
export type { RestoredStore } from './store/audit-opening.ts';
export type { ChannelNameRows } from './store/channel-name-rows.ts';
export type { ConversationRows } from './store/conversation-rows.ts';
export { lockDirectory } from './store/directory-lock.ts';
export { lockFile } from './store/file-lock.ts';
export { holdWrite } from './store/hold-write.ts';
export { measureGiven } from './store/measure-call.ts';
export { type MessagePlace, messageKeys, type SentMessage } from './store/message-key.ts';
export type { OpenTarget, PushRows } from './store/push-rows.ts';
export { damagedStore, isDamage, StoreError } from './store/store-error.ts';
export { columnsOfOwner } from './store/task-owners.ts';
export type {
  ChangedQuery,
  PageQuery,
  TaskFilter,
  TaskPage,
  TaskQuery,
} from './store/task-page.ts';
export type {
  Decider,
  MessageRows,
  SessionRows,
  StoredTask,
  TaskRows,
  WaitFigures,
} from './store/task-rows.ts';
export {
  ConflictError,
  type TaskStore,
  type TaskWrite,
  UnreachableError,
  UnrecordedError,
} from './store/task-store.ts';
export { waitedIn } from './store/waited-in.ts';

/** Loads the store of a page's sessions on demand, since only a dashboard with a sign-in needs it. */
export const loadWebSessionStore = () => import('./sqlite/web-session-store.ts');

/** Loads the PostgreSQL store on demand, so that other agents do not load it. */
export const loadSharedStore = () => import('./postgres/postgres.ts');
