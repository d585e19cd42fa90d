import type { JsonObject } from '../../machines/json.ts';

/**
 * The kinds of records: of the approvals page passkeys, challenges that wait for one, and devices with notifications; of
 * MCP servers the agent's tokens, the right of one daemon to renew them, and the accepted tools.
 */
export type WebRecordKind =
  | 'passkey'
  | 'challenge'
  | 'device'
  | 'mcp_token'
  | 'mcp_lease'
  | 'mcp_pin';

/** A record that belongs to one person, or to the agent. */
export interface WebRecord {
  kind: WebRecordKind;
  id: string;
  /** The person, as returned by `webOwner`. */
  owner: string;
  /** Epoch milliseconds; `null` for never. */
  expiresAt: number | null;
  value: JsonObject;
}

/** Records of the approvals page and of MCP servers, shared by all daemons over one store. */
export interface WebRecords {
  /**
   * Stores a record, or replaces the one of the same person with its kind and id. Returns false if another person has a
   * record with that id. Deletes records that have expired at `now`, in epoch milliseconds.
   */
  put(record: WebRecord, now: number): Promise<boolean>;
  /** Stores a new record. Returns false if there is one with its kind and id. Deletes expired records as `put` does. */
  add(record: WebRecord, now: number): Promise<boolean>;
  /** Changes a record that exists; returns false if it does not, or belongs to another person. */
  change(record: WebRecord): Promise<boolean>;
  find(kind: WebRecordKind, id: string): Promise<WebRecord | undefined>;
  /** Lists the records of a kind, by id; those of one person if `owner` is given. */
  list(kind: WebRecordKind, owner?: string): Promise<WebRecord[]>;
  /** Deletes a record and returns it. Of several callers at the same time, one receives it. */
  take(kind: WebRecordKind, id: string): Promise<WebRecord | undefined>;
}
