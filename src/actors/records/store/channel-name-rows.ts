/** Which channel of a chat a name stands for, as it was first found. */
export interface ChannelNameRows {
  /** Returns the id that a name of an adapter was first found to stand for. */
  find(adapter: string, name: string): Promise<string | undefined>;
  /** Keeps the id of a name that has none. */
  keep(adapter: string, name: string, id: string): Promise<void>;
}
