import type { z } from 'zod';
import type { deferral } from '../../http/wire/deferral.ts';
import type { MeasuredLimit } from '../../machines/domain/ledger.ts';
import type { OptionsJson } from '../../machines/domain/rule-options.ts';
import type { JsonObject } from '../../machines/json.ts';

/** A layer's decision, or the reason why there is none. */
export interface ExplainedLayer {
  layer: string;
  decision: 'allow' | 'deny' | 'modify' | 'step_up' | 'defer' | 'not_reached' | 'not_asked';
  /** `null` for a layer that is not reached. */
  reason: string | null;
  /** `null` for a layer that was not evaluated. */
  duration_ms: number | null;
  /** The rule of the configuration that decided; absent for none. */
  rule?: string;
}

/** The approvers and the channel of a deferral. */
export interface ExplainedDeferral
  extends Omit<OptionsJson, 'four_eyes'>,
    Pick<
      z.input<typeof deferral>,
      'to' | 'timeout' | 'approvers' | 'also_by' | 'quorum' | 'quorum_of' | 'context'
    > {
  four_eyes: boolean;
  remind: boolean;
  escalate_to: string | null;
  /** The stages of the escalation; absent for a single target. */
  escalations?: { to: string; after: string }[];
}

/** A limit that counts a call. Amounts are exact decimals. */
export interface ExplainedLimit extends Pick<MeasuredLimit, 'name' | 'max'> {
  by: MeasuredLimit['by'];
  /** The given amount; `null` if none is given, and the limit is explained as unused. */
  used: string | null;
  /** What the call adds; `null` if it cannot be measured. */
  amount: string | null;
  over: boolean;
}

/** The outcome of a call in the format of `policy explain --json`. */
export interface Explanation {
  tool: string;
  outcome: 'run' | 'deny' | 'step_up' | 'defer';
  /** The message to the caller of a denied or challenged call. */
  text?: string;
  /** The arguments after MODIFY. */
  arguments: JsonObject;
  /** The digest of `arguments`. A decision can be pinned to it. */
  args_sha256: string;
  layers: ExplainedLayer[];
  deferral?: ExplainedDeferral;
  /** The limits that count the call; absent for none. */
  limits?: ExplainedLimit[];
  /** The effect of the call, which is compared with no other call; absent for none. */
  effect?: string;
  /** The rules in shadow that would have decided; absent for none. */
  shadow?: { rule: string; would: ExplainedLayer['decision'] }[];
  /** The issuer of the call's credentials. */
  credential?: string;
  /** False if a layer that could not be evaluated might still deny the call. */
  complete: boolean;
}
