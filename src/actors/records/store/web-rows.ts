import type { JsonObject } from '../../../machines/json.ts';
import type { WebRecord, WebRecordKind } from '../../ports/web-records.ts';

/** Returns the columns of a record, in the order of the table. */
export function webRowOf({ kind, id, owner, expiresAt, value }: WebRecord) {
  return [kind, id, owner, expiresAt, JSON.stringify(value)] as const;
}

/** Returns the record of a row that `webRowOf` wrote. */
export function webRecordOf(row: Readonly<Record<string, unknown>>): WebRecord {
  const { kind, id, owner, expires_at: end, value } = row;
  // Safe to cast: the columns contain only values written by `webRowOf`.
  return {
    kind: kind as WebRecordKind,
    id: String(id),
    owner: String(owner),
    expiresAt: end === null ? null : Number(end),
    value: JSON.parse(String(value)) as JsonObject,
  };
}
