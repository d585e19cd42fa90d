import type { TaskFact } from '../task/facts.ts';
import type { ArgumentChange, DecisionRecord, Deferral, Layer, ToolCall } from '../task/task.ts';
import type { DeferRule } from './defer-policy.ts';
import type { Refusal } from './finding.ts';
import type { DriftRule } from './intent-alignment.ts';

/** What makes the credentials of a call (docs/contract/configuration.md). */
export type CredentialProvider = 'static' | 'sts_assume_role';

/** A deferral whose call is ruled on again: after its release, or while it waits. */
export interface HeldCall {
  deferral: Deferral;
  /** True when its approvers released the call. */
  isReleased: boolean;
}

/** What a port answered, and in how many milliseconds. */
export type Timed<Answer> = Answer & { took: number };

/** What governance demands of one call of one tool, looked up when the call is made. */
export interface ToolRules {
  /** Why the call can never run (unknown tool, malformed arguments, a guardrail); `null` when it can. */
  refusal: Refusal | null;
  /** True when the call must fit what the caller asked for. */
  judgesIntent: boolean;
  /** When a task counts as drifting from what was asked; `null` when nobody looks. */
  drift: DriftRule | null;
  /** The assurance level the caller must have signed in with; `null` when any will do. */
  requiredAcr: string | null;
  /** Assurance levels, lowest first; empty means strict equality. */
  acrHierarchy: string[];
  /** `null` when the tool runs without approval. */
  defer: DeferRule | null;
  /** Who makes the credentials of the call; `null` when it needs none. */
  credential: CredentialProvider | null;
}

/** What governance demands of a call that nothing stands in the way of. */
export const ungoverned: ToolRules = {
  refusal: null,
  judgesIntent: false,
  drift: null,
  requiredAcr: null,
  acrHierarchy: [],
  defer: null,
  credential: null,
};

/** What the comparison of a call with the caller's words came to. */
export interface IntentVerdict {
  decision: 'allow' | 'warn' | 'deny';
  /** Cosine; `null` when none could be computed. */
  score: number | null;
  reason: string;
}

/** What MODIFY made of a call; `rules` are the numbers of those that changed something, from 1. */
export type Modification =
  | { kind: 'unchanged' }
  | { kind: 'modified'; call: ToolCall; rules: number[]; changes: ArgumentChange[] }
  | { kind: 'refused'; refusal: Refusal };

/** What governance decided about one call (docs/contract/governance.md). */
export type Verdict =
  | { kind: 'allow'; call: ToolCall; credential: CredentialProvider | null }
  | { kind: 'deny'; layer: Layer; text: string }
  /** The call cannot be run as it was asked: its tool is not known, or its arguments do not fit. */
  | { kind: 'misfit'; layer: Layer; text: string }
  | { kind: 'stepUp'; requiredAcr: string; text: string }
  | { kind: 'defer'; call: ToolCall; deferral: Deferral; credential: CredentialProvider | null };

/** A verdict with what every layer that was asked said on the way to it. */
export type Ruling = Verdict & {
  records: DecisionRecord[];
  /** What the layers have to report, in the order in which it happened. */
  facts: TaskFact[];
  /** How well the call fits what was asked; `null` when nothing scored it. */
  score: number | null;
};
