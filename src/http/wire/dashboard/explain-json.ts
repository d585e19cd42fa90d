/** What would become of a recorded call now: `POST /api/agents/{id}/tasks/{tid}/calls/{call}/explain`. */
export interface CallExplanationJson {
  task: string;
  call: string;
  tool: string;
  /** The arguments that were looked at; `null` when they were not kept, and no rule for arguments was asked then. */
  arguments: unknown;
  before: RulingJson;
  now: RulingJson & {
    /** What the caller or the model would be told. */
    text?: string;
    /** Who would be asked. */
    to?: string;
    /** False when a layer was not evaluated. */
    complete: boolean;
  };
  /** True when the outcome, or what a layer says, is another one. */
  changed: boolean;
}

/** What a call came to, and what each layer said. */
export interface RulingJson {
  /** `run`, `deny`, `step_up` or `defer`. */
  outcome: string;
  layers: {
    layer: string;
    /** `allow`, `deny`, `modify`, `step_up`, `defer`, `not_reached` or `not_evaluated`. */
    decision: string;
    reason: string;
  }[];
}

/** What another `service.yaml` would have done to the last calls: `POST /api/agents/{id}/policy/preview`. */
export interface PolicyPreviewJson {
  /** Newest first. */
  calls: CallExplanationJson[];
  /** How many calls have another outcome, by `run → defer` and its like. */
  counts: Record<string, number>;
  /** Calls that would no longer be held, denied or challenged, by their tool. */
  weaker: string[];
  /** Why calls are missing; `null` when all that were looked for are there. */
  unread: string | null;
}
