import type { JsonObject } from '../../machines/json.ts';

/** What one layer says, or why it says nothing. */
export interface ExplainedLayer {
  layer: string;
  decision: 'allow' | 'deny' | 'modify' | 'step_up' | 'defer' | 'not_reached' | 'not_asked';
  /** `null` for a layer that is not reached. */
  reason: string | null;
  /** `null` for a layer that was not asked. */
  duration_ms: number | null;
}

/** Who would be asked for a release, and how. */
export interface ExplainedDeferral {
  to: string;
  /** Such as `5m0s`. */
  timeout: string;
  /** `null` when anyone in the channel may decide. */
  approvers: string[] | null;
  quorum: number;
  four_eyes: boolean;
  /** What approvers read. */
  context: string;
  remind: boolean;
  escalate_to: string | null;
}

/** What would happen to a call, as `policy explain --json` prints it. */
export interface Explanation {
  tool: string;
  outcome: 'run' | 'deny' | 'step_up' | 'defer';
  /** What a denied or challenged caller is told. */
  text?: string;
  /** What would run: the arguments after MODIFY. */
  arguments: JsonObject;
  /** Of `arguments`; a decision can be pinned to it. */
  args_sha256: string;
  layers: ExplainedLayer[];
  deferral?: ExplainedDeferral;
  /** Who makes the credentials of the call. */
  credential?: string;
  /** False when a layer could not be asked that may still deny the call. */
  complete: boolean;
}
