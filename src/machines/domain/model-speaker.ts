/** A model at its provider. */
export interface ModelName {
  provider: string;
  model: string;
}

/** The model that produced a turn, and its endpoint. */
export interface ModelSpeaker extends ModelName {
  /** Digest of the endpoint's URL; absent in data of older releases. */
  endpoint?: string;
}
