/** Source of new identifiers. */
export interface Ids {
  /** A UUIDv7 in lower case. */
  next(): string;
}
