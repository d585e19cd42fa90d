/** Channels to which chat names first resolved. */
export interface ChannelNameRows {
  /** Returns the id to which a name of an adapter first resolved. */
  find(adapter: string, name: string): Promise<string | undefined>;
  /** Stores the id of a name that has none. */
  keep(adapter: string, name: string, id: string): Promise<void>;
}
