export { type AgentEntity, agentEntity } from './agent-entity.ts';
export { auditEventOf } from './audit-event-of.ts';
export { type Capture, type CaptureSettings, createCapture, longestCapture } from './capture.ts';
export { checkpoint, GENESIS, type Standing } from './chain-format.ts';
export { chainLine } from './chain-line.ts';
export { csvHeader, csvLine } from './csv-line.ts';
export { type DecidedCall, decisionCsv, decisionsOf, isDecision } from './decided-calls.ts';
export { egressWords } from './egress-words.ts';
export { type ExportedLine, type ExportSummary, exportTask, type TakeLine } from './export-task.ts';
export { findLines } from './find-lines.ts';
export { formatBadLine, formatEvent } from './format-event.ts';
export { keyRotation, lastSignedLine } from './key-rotation.ts';
export type { SignatureReason } from './line-signature.ts';
export { type LineSigner, lineSigner } from './line-signer.ts';
export { LogIndexes, LongLineError, type OpenLogFile } from './log-index.ts';
export { LogView, type NumberedLine } from './log-view.ts';
export { manifestFault } from './manifest-fault.ts';
export { nodeKeyRing } from './node-crypto.ts';
export { ocsfEvent } from './ocsf-event.ts';
export {
  type AuditKeySettings,
  type AuditKeys,
  openAuditKeys,
} from './open-audit-keys.ts';
export { prunedAt, standingBefore } from './pruned-at.ts';
export {
  type PublicKey,
  PublicKeyError,
  type PublicKeySet,
  publicKey,
  readPublicKeys,
} from './public-keys.ts';
export { Receipts, type TaskLine } from './receipts.ts';
export type { RecordedEvent } from './recorded-event.ts';
export { signManifest } from './sign-manifest.ts';
export { readSigningKey, SigningKeyError } from './signing-key.ts';
export { type Tailing, type TailOptions, tailLines } from './tail-lines.ts';
export type { TailedLine } from './tailed-line.ts';
export {
  breakSentence,
  type ChainVerdict,
  type IntactLog,
  type LineBreak,
  verdictSentence,
} from './verdict.ts';
export { AuditLogError, type VerifyFilesOptions, verifyFiles } from './verify-files.ts';
export { passkeyFault } from './verify-passkeys.ts';
export { verifyReceipts } from './verify-receipt.ts';
export { verifyLog } from './verify-view.ts';
