// Loaded only for a store that several daemons share.

export { copyStore, type StoreCopy } from './copy-store.ts';
export { DatabaseError } from './database-error.ts';
export { examineStore, type StoreReport } from './examine-store.ts';
export { copyLog } from './log-copy.ts';
export { type Migration, migrateStore } from './migrate-store.ts';
export { offerLines } from './offer-lines.ts';
export { openSharedStore } from './open-shared-store.ts';
export { type LogAddress, PostgresLog } from './postgres-log.ts';
export { settleCopy } from './settle-copy.ts';
export { tailDatabase } from './tail-database.ts';
