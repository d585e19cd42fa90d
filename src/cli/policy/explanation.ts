import type { JsonObject } from '../../machines/json.ts';

/** The decision of one layer, or the reason why there is none. */
export interface ExplainedLayer {
  layer: string;
  decision: 'allow' | 'deny' | 'modify' | 'step_up' | 'defer' | 'not_reached' | 'not_asked';
  /** `null` for a layer that is not reached. */
  reason: string | null;
  /** `null` for a layer that was not asked. */
  duration_ms: number | null;
}

/** The approvers that would be asked, and how. */
export interface ExplainedDeferral {
  to: string;
  /** Such as `5m0s`. */
  timeout: string;
  /** `null` when anyone in the channel may decide. */
  approvers: string[] | null;
  quorum: number;
  four_eyes: boolean;
  /** The text for approvers. */
  context: string;
  remind: boolean;
  escalate_to: string | null;
}

/** The outcome of a call, as `policy explain --json` prints it. */
export interface Explanation {
  tool: string;
  outcome: 'run' | 'deny' | 'step_up' | 'defer';
  /** The answer to a denied or challenged caller. */
  text?: string;
  /** The arguments after MODIFY. */
  arguments: JsonObject;
  /** The digest of `arguments`; a decision can be pinned to it. */
  args_sha256: string;
  layers: ExplainedLayer[];
  deferral?: ExplainedDeferral;
  /** The issuer of the call's credentials. */
  credential?: string;
  /** False when a layer could not be asked that may still deny the call. */
  complete: boolean;
}
