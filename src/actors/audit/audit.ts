export { checkpoint, GENESIS } from './chain-format.ts';
export { chainLine } from './chain-line.ts';
export { formatEvent } from './format-event.ts';
export type { RecordedEvent } from './recorded-event.ts';
export { type TailOptions, tailLines } from './tail-lines.ts';
export { type AuditEnvelope, auditEventOf } from './task-events.ts';
export { type ChainVerdict, verdictSentence } from './verify-chain.ts';
export { AuditLogError, verifyFiles } from './verify-files.ts';
export { egressWords } from './egress-words.ts';
