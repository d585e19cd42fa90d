/** The outcome that a recorded call would have now: `POST /api/agents/{id}/tasks/{tid}/calls/{call}/explain`. */
export interface CallExplanationJson {
  task: string;
  call: string;
  tool: string;
  /** The evaluated arguments; `null` if they were not recorded, in which case no argument rules were evaluated. */
  arguments: unknown;
  before: RulingJson;
  now: RulingJson & {
    /** The message to the caller or the model. */
    text?: string;
    /** The approver of the deferral. */
    to?: string;
    /** False if a layer was not evaluated. */
    complete: boolean;
  };
  /** True if the outcome or a layer's decision differs. */
  changed: boolean;
}

/** A call's outcome and each layer's decision. */
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

/**
 * The effect that another `service.yaml` would have had on the latest calls: `POST /api/agents/{id}/policy/preview`.
 */
export interface PolicyPreviewJson {
  /** Newest first. */
  calls: CallExplanationJson[];
  /** Number of calls with a changed outcome, by keys such as `run → defer`. */
  counts: Record<string, number>;
  /** Tools whose calls would no longer be held, denied or challenged. */
  weaker: string[];
  /** The reason why calls are missing; `null` if all requested calls are included. */
  unread: string | null;
}
