import { isJsonObject, parseJson } from '../json.ts';

/** The platform's answer about new invocations (docs/contract/admission.md). Missing fields are empty. */
export interface AdmissionAnswer {
  decision: 'admit' | 'deny';
  /** The platform's code, unmodified. */
  reason: string;
  scope: string;
  window: string;
  /** The time at which a denial ends, unmodified. */
  resetAt: string;
}

/** The verdict for a request: the answer and its source. */
export interface AdmissionVerdict extends AdmissionAnswer {
  /** False for the request that caused the platform to be asked. */
  cached: boolean;
  /** True if the platform could not be asked and the request is admitted for that reason. */
  fallback: boolean;
}

/** An answer, or a sentence that describes the fault in the platform's response. */
export type AnswerReading =
  | { kind: 'answer'; answer: AdmissionAnswer }
  | { kind: 'fault'; text: string };

/**
 * Reads the body of a platform's answer. A fault never repeats the received text. The decision is required. Any other
 * field that is missing or `null` is empty, and a non-text value is a fault. An invalid `reset_at` is ignored, and the
 * denial still applies (docs/contract/admission.md).
 */
export function readAnswer(body: string): AnswerReading {
  const sent = parseJson(body);
  if (!isJsonObject(sent)) return fault('the answer is not a JSON object');
  const decision = sent['decision'] ?? null;
  if (decision === null) return fault('the answer has no decision');
  if (decision !== 'admit' && decision !== 'deny') {
    return fault('the decision is neither admit nor deny');
  }
  const [reason, scope, window] = ['reason', 'scope', 'window'].map((name) => sent[name] ?? '');
  if (typeof reason !== 'string' || typeof scope !== 'string' || typeof window !== 'string') {
    return fault('the reason, the scope or the window is not a string');
  }
  const resetAt = typeof sent['reset_at'] === 'string' ? sent['reset_at'] : '';
  return { kind: 'answer', answer: { decision, reason, scope, window, resetAt } };
}

function fault(text: string): AnswerReading {
  return { kind: 'fault', text };
}
