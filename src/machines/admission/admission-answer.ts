import { isJsonObject, type JsonValue } from '../json.ts';

/** What the platform says of new invocations (docs/contract/admission.md); what it left out is empty. */
export interface AdmissionAnswer {
  decision: 'admit' | 'deny';
  /** A code of the platform, as it came. */
  reason: string;
  scope: string;
  window: string;
  /** When a denial clears, as it came. */
  resetAt: string;
}

/** What a request is told: the answer, and where it comes from. */
export interface AdmissionVerdict extends AdmissionAnswer {
  /** False for the request for which the platform was asked. */
  cached: boolean;
  /** True when the platform could not be asked, and the request is admitted for that reason. */
  fallback: boolean;
}

/** An answer, or in one sentence why there is none in what the platform sent. */
export type AnswerReading =
  | { kind: 'answer'; answer: AdmissionAnswer }
  | { kind: 'fault'; text: string };

/**
 * Reads the body of a platform's answer; a fault never repeats what was sent. There must be a decision. Another field
 * that is left out or `null` is empty, and one that is no text is a fault; a `reset_at` that is no text is merely
 * unreadable, and a denial stands without it (docs/contract/admission.md).
 */
export function readAnswer(body: string): AnswerReading {
  const sent = parse(body);
  if (!isJsonObject(sent)) return fault('the answer is not a JSON object');
  const decision = sent['decision'] ?? null;
  if (decision === null) return fault('the answer has no decision');
  if (decision !== 'admit' && decision !== 'deny') {
    return fault('the decision is neither admit nor deny');
  }
  const [reason, scope, window] = ['reason', 'scope', 'window'].map((name) => sent[name] ?? '');
  if (typeof reason !== 'string' || typeof scope !== 'string' || typeof window !== 'string') {
    return fault('the reason, the scope or the window is not a text');
  }
  const resetAt = typeof sent['reset_at'] === 'string' ? sent['reset_at'] : '';
  return { kind: 'answer', answer: { decision, reason, scope, window, resetAt } };
}

function parse(body: string): JsonValue {
  try {
    return JSON.parse(body) as JsonValue;
  } catch {
    return null;
  }
}

function fault(text: string): AnswerReading {
  return { kind: 'fault', text };
}
