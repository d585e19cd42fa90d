/** The agent to ask: an agent of the workspace, or any other by URL. */
export interface A2aTargetJson {
  agent?: string;
  url?: string;
  /** True if the user allowed the URL to be on this machine. */
  loopback?: boolean;
  /** Sent only to the URL's origin; neither stored nor logged. */
  token?: string;
}

/** One request and its response, unmodified. */
export interface ExchangeJson {
  method: string;
  url: string;
  /** Headers in addition to those that every client sends; a token is masked. */
  headers: Record<string, string>;
  /** `null` if there was no response. */
  answer: { status: number; headers: Record<string, string>; body: string; ms: number } | null;
  /** The reason why there was no response. */
  problem?: string;
}

/** A card in the requested format. */
export interface CardJson {
  /** The `A2A-Version` of the request; empty for none. */
  asked: string;
  form: 'hybrid' | '0.3' | '1.0' | 'unknown';
  /** SHA-256 of the card's bytes; `null` if there is no card. */
  card_sha256: string | null;
  findings: { severity: 'error' | 'warning'; path: string; message: string }[];
  schemes: { key: string; says: string }[];
  exchange: ExchangeJson;
}

/** Answer of `POST /api/a2a/card`. */
export interface CardInspectionJson {
  url: string;
  cards: CardJson[];
  /** The legacy path, and the problems of its response. */
  legacy: { exchange: ExchangeJson; findings: CardJson['findings'] };
}

/** Body of `POST /api/a2a/send`. */
export interface A2aSendJson extends A2aTargetJson {
  method: 'GET' | 'POST';
  /** Path relative to the URL, such as `/`. */
  path: string;
  /** The `A2A-Version` to send; empty for none. */
  version?: string;
  body?: string;
}

/** A line of the response of `POST /api/a2a/send`, streamed as one JSON document per line. */
export type A2aLineJson =
  | { status: number; headers: Record<string, string> }
  | { text: string }
  | { end: { bytes: number; ms: number } }
  | { problem: string };
