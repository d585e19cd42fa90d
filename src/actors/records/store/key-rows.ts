/** Random keys of an agent by purpose, shared by all daemons over one store. */
export interface KeyRows {
  /** Returns the 32-byte key for a purpose; creates it if there is none. Rejects with the store's error. */
  of(purpose: string): Promise<Buffer>;
}

/** Length of a key, in bytes. */
export const keyLength = 32;
