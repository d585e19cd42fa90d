/** A2A versions of the agent card; `hybrid` is for clients that name no version (docs/contract/agent-card.md). */
export type CardVersion = 'hybrid' | '0.3.0' | '1.0';

/** An encoded agent card. */
export interface PublishedCard {
  /** JSON in UTF-8. */
  body: Buffer;
  /** Strong ETag, including the quotes. */
  etag: string;
}

/** Source of the agent card. */
export interface CardSource {
  /**
   * The current card; `null` until the agent's URL is known. Some clients of the 0.3.0 REST surface know security
   * schemes only by their 1.0 names, so with `forRest` each scheme has both names.
   */
  current(version: CardVersion, forRest?: boolean): PublishedCard | null;
}
