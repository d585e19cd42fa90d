import type { DecisionRecord, Deferral, ToolCall } from '../task/task.ts';
import type { DeferRule } from './defer-policy.ts';

/** What governance demands of one call of one tool, looked up when the call is made. */
export interface ToolRules {
  /** Why the call can never run (unknown tool, malformed arguments); `null` when it can. */
  refusal: string | null;
  /** The assurance level the caller must have signed in with; `null` when any will do. */
  requiredAcr: string | null;
  /** Assurance levels, lowest first; empty means strict equality. */
  acrHierarchy: string[];
  /** `null` when the tool runs without approval. */
  defer: DeferRule | null;
}

/** What governance decided about one call (document 1 section 1). */
export type Ruling = { records: DecisionRecord[] } & (
  | { kind: 'allow'; call: ToolCall }
  | { kind: 'deny'; layer: DecisionRecord['layer']; text: string }
  | { kind: 'stepUp'; requiredAcr: string; text: string }
  | { kind: 'defer'; call: ToolCall; deferral: Deferral }
);
