// What is kept: the store of the tasks, the audit log, and the sinks that get its lines.

export {
  type AgentEntity,
  type AuditKeys,
  agentEntity,
  auditEventOf,
  breakSentence,
  type Capture,
  type ChainVerdict,
  createCapture,
  type ExportedLine,
  type ExportSummary,
  egressWords,
  exportTask,
  formatBadLine,
  formatEvent,
  type IntactLog,
  keyRotation,
  type LineBreak,
  LogIndexes,
  LogView,
  LongLineError,
  lastSignedLine,
  longestCapture,
  type NumberedLine,
  type OpenLogFile,
  openAuditKeys,
  PublicKeyError,
  type PublicKeySet,
  prunedAt,
  publicKey,
  type RecordedEvent,
  readPublicKeys,
  SigningKeyError,
  type Standing,
  tailLines,
  verdictSentence,
  verifyFiles,
  verifyLog,
} from './log/audit.ts';
export { logFilesOf } from './log/log-files.ts';
export { type AuditSinks, createAuditSinks } from './sinks/audit-sinks.ts';
export type {
  ApprovalBacklog,
  ApprovalRow,
  ApprovalRows,
  ApprovalSlot,
  ApprovalWrite,
} from './store/approval-rows.ts';
export { type ChannelNameRows, readChannelNames } from './store/channel-name-rows.ts';
export { compareLog, type StoreAndLog } from './store/compare-log.ts';
export type { ConversationRows } from './store/conversation-rows.ts';
export { checkPages } from './store/database.ts';
export { lockDirectory } from './store/directory-lock.ts';
export { lockFile } from './store/file-lock.ts';
export { type MessageRows, messageKey, type SentMessage } from './store/message-rows.ts';
export type { PushRows } from './store/push-rows.ts';
export type { SessionRows } from './store/session-rows.ts';
export { damagedStore, isDamage, StoreError } from './store/store-error.ts';
export type { ChangedQuery, TaskFilter, TaskPage, TaskQuery } from './store/task-listing.ts';
export { ofOtherReleases, type StoredTask, type TaskRows } from './store/task-rows.ts';
export { ConflictError, TaskStore, type TaskWrite, UnrecordedError } from './store/task-store.ts';
