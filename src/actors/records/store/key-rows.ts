/** Random keys of an agent, by their purpose. All daemons over one store have the same ones. */
export interface KeyRows {
  /** Returns the key of a purpose, 32 bytes, and makes it when there is none. Rejects with the error of the store. */
  of(purpose: string): Promise<Buffer>;
}

/** Bytes of a key. */
export const keyLength = 32;
