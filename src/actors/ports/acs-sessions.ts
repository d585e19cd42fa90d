/** The state of a session of the Agent Control Standard between its steps (docs/contract/acs.md). */
export interface AcsSession {
  agentId: string;
  /** Name of the secret whose key signs the session. */
  keyId: string;
  /** Methods that the handshake negotiated. */
  methods: string[];
  /** Latest heads of the chain, newest first. */
  heads: string[];
  /** Number of entries of the chain. */
  entries: number;
  /** True after `steps/sessionEnd`, until another `steps/sessionStart`. */
  isEnded: boolean;
  /** The question whose hold answers a step, by digest of the step; only steps whose decision was not sent yet. */
  open: { [step: string]: string };
}

/** Stored sessions of the Agent Control Standard, shared by all daemons over one store. */
export interface AcsSessions {
  find(id: string): Promise<{ session: AcsSession; version: number } | undefined>;
  /**
   * Stores a session at a time in epoch milliseconds. `version` is the version that it replaces, 0 for a new session.
   * Returns false if another writer stored it first.
   */
  put(id: string, session: AcsSession, at: { version: number; now: number }): Promise<boolean>;
  /** Stores ids that a session may use once. Returns false if one of them was stored before. */
  reserve(id: string, used: readonly string[]): Promise<boolean>;
  /** Stores the key of the hold of a call; replaces an earlier one. */
  link(id: string, call: string, key: string): Promise<void>;
  /** Returns the key of the hold of a call. */
  linked(id: string, call: string): Promise<string | undefined>;
}
