export { checkpoint, GENESIS, maximumLineBytes, type Standing } from './chain-format.ts';
export { type ChainedLine, chainLine } from './chain-line.ts';
export { formatEvent } from './format-event.ts';
export { cutToBytes } from './recordable.ts';
export type { RecordedEvent } from './recorded-event.ts';
export { type TailOptions, tailLines } from './tail-lines.ts';
export { type AuditEnvelope, auditEventOf } from './task-events.ts';
export { type BreakReason, type ChainVerdict, verdictSentence } from './verify-chain.ts';
export { AuditLogError, verifyFiles } from './verify-files.ts';
