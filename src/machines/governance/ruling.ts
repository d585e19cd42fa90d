import type { TaskFact } from '../domain/facts.ts';
import type { Refusal } from '../domain/finding.ts';
import type { RepeatedCall } from '../domain/ledger.ts';
import type { ArgumentChange, DecisionRecord, Deferral, Layer, ToolCall } from '../domain/task.ts';
import type { Bounds, CallLimit } from './bounds.ts';
import type { DeferRule } from './defer-policy.ts';
import type { DriftRule } from './intent-alignment.ts';

/** The provider of a call's credentials (docs/contract/configuration.md). */
export type CredentialProvider = 'static' | 'sts_assume_role';

/** A deferral whose call is evaluated again: after its release, or while it waits. */
export interface HeldCall {
  deferral: Deferral;
  /** True if the approvers released the call. */
  isReleased: boolean;
  /** Present while the arguments that the approver has changed are ruled on. */
  edited?: EditRuling;
}

/** The rule that applies to a call, with its name in the configuration; both `null` for none. */
export interface AppliedRule {
  rule: DeferRule | null;
  /** `null` for the only rule of its tool, without a condition. */
  name: string | null;
}

/** The facts that rule on a changed call. */
export interface EditRuling {
  /** The rule in force for the call as its approver saw it. */
  before: AppliedRule;
  /** The id under which the call is held if it needs other approvals. */
  heldAs: string;
}

/** A port's answer with its duration in milliseconds. */
export type Timed<Answer> = Answer & { took: number };

/** The governance requirements for one call of one tool, looked up at the time of the call. */
export interface ToolRules {
  /** The reason why the call can never run (unknown tool, malformed arguments, a guardrail); `null` if it can. */
  refusal: Refusal | null;
  /** True if the call must match the caller's request. */
  judgesIntent: boolean;
  /** The drift conditions; `null` if drift is not checked. */
  drift: DriftRule | null;
  /** Assurance level required from the caller; `null` if any is sufficient. */
  requiredAcr: string | null;
  /** Assurance levels, lowest first; an empty list means strict equality. */
  acrHierarchy: string[];
  /** `null` if the tool runs without approval. */
  defer: DeferRule | null;
  /** The credential provider of the call; `null` if the call needs no credentials. */
  credential: CredentialProvider | null;
  /** True if MODIFY has rules for the tool. */
  modifies: boolean;
  /** The limits and the effect of the call; absent for none. */
  bounds?: Bounds;
  /** Present while the calls of the session, which a condition reads, are not read yet. */
  readsHistory?: true;
  /** The limits that a condition reads and that are not read yet; absent for none. */
  readsLimits?: readonly CallLimit[];
  /** The rules of the configuration that apply, by layer; absent for none. */
  names?: { assurance?: string; defer?: string };
  /** Rules that only report and would have applied; absent for none. */
  shadows?: readonly ShadowedRule[];
}

/** A rule that decided nothing, with the decision that it would have made. */
export interface ShadowedRule {
  /** Its name, such as `defer.tools.pay[1]`. */
  rule: string;
  would: DecisionRecord['decision'];
}

/** The requirements for an ungoverned call: none. */
export const ungoverned: ToolRules = {
  refusal: null,
  judgesIntent: false,
  drift: null,
  requiredAcr: null,
  acrHierarchy: [],
  defer: null,
  credential: null,
  modifies: false,
};

/** The result of comparing a call with the caller's request. */
export interface IntentVerdict {
  decision: 'allow' | 'warn' | 'deny';
  /** Cosine similarity; `null` if it could not be computed. */
  score: number | null;
  reason: string;
}

/** The result of MODIFY; `rules` are the numbers, from 1, of the rules that changed something. */
export type Modification =
  | { kind: 'unchanged' }
  | { kind: 'modified'; call: ToolCall; rules: number[]; changes: ArgumentChange[] }
  | { kind: 'refused'; refusal: Refusal };

/** The governance decision on one call (docs/contract/governance.md). */
export type Verdict =
  | { kind: 'allow'; call: ToolCall; credential: CredentialProvider | null }
  /** `repeats` is the earlier call with the same effect; absent unless the call is denied for it. */
  | { kind: 'deny'; layer: Layer; text: string; repeats?: RepeatedCall }
  /** The call cannot run as requested: its tool is unknown, or its arguments do not match the schema. */
  | { kind: 'misfit'; layer: Layer; text: string }
  | { kind: 'stepUp'; requiredAcr: string; text: string }
  /** The call does not run, because an earlier one had the same effect: the caller receives the result of that one. */
  | { kind: 'joined'; call: ToolCall; credential: null; result: string; text: string }
  | { kind: 'defer'; call: ToolCall; deferral: Deferral; credential: CredentialProvider | null };

/** A verdict with the decisions of every evaluated layer. */
export type Ruling = Verdict & {
  records: DecisionRecord[];
  /** The facts reported by the layers, in order of occurrence. */
  facts: TaskFact[];
  /** Intent score of the call; `null` if it was not scored. */
  score: number | null;
};
