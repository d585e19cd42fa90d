/** Whom to ask: an agent of the workspace, or any other by its URL. */
export interface A2aTargetJson {
  agent?: string;
  url?: string;
  /** The person says that the URL may lead to this machine. */
  loopback?: boolean;
  /** Shown to the origin of the URL alone; neither kept nor logged. */
  token?: string;
}

/** One request and its answer, as they were. */
export interface ExchangeJson {
  method: string;
  url: string;
  /** What was sent beside what every client sends; a token is masked. */
  headers: Record<string, string>;
  /** `null` when there was no answer. */
  answer: { status: number; headers: Record<string, string>; body: string; ms: number } | null;
  /** Why there was none. */
  problem?: string;
}

/** A card in the form in which it was asked for. */
export interface CardJson {
  /** `A2A-Version` that was sent; empty for none. */
  asked: string;
  form: 'hybrid' | '0.3' | '1.0' | 'unknown';
  /** SHA-256 of its bytes; `null` without a card. */
  card_sha256: string | null;
  findings: { severity: 'error' | 'warning'; path: string; message: string }[];
  schemes: { key: string; says: string }[];
  exchange: ExchangeJson;
}

/** Answer of `POST /api/a2a/card`. */
export interface CardInspectionJson {
  url: string;
  cards: CardJson[];
  /** The path of old, and what is wrong with how it is answered. */
  legacy: { exchange: ExchangeJson; findings: CardJson['findings'] };
}

/** Body of `POST /api/a2a/send`. */
export interface A2aSendJson extends A2aTargetJson {
  method: 'GET' | 'POST';
  /** Below the URL, such as `/`. */
  path: string;
  /** `A2A-Version` to send; empty for none. */
  version?: string;
  body?: string;
}

/** A line of the answer of `POST /api/a2a/send`, one JSON document a line, each as it comes. */
export type A2aLineJson =
  | { status: number; headers: Record<string, string> }
  | { text: string }
  | { end: { bytes: number; ms: number } }
  | { problem: string };
