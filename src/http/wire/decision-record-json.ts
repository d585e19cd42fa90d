import type { ArgumentChange, DecisionRecord, Layer } from '../../machines/task/task.ts';

/**
 * A governance layer's record of a call (docs/contract/governance.md). `call_id` and `tool` are absent if there is no
 * call.
 */
export interface DecisionRecordJson {
  call_id?: string;
  tool?: string;
  layer: string;
  decision: DecisionRecord['decision'];
  reason: string;
  duration_ms: number;
  /** The argument changes of MODIFY, each value as JSON without secrets. */
  changes?: ArgumentChange[];
}

/** The layer names in the configuration. */
const names: Record<Layer, string> = {
  prompt: 'prompt',
  alignment: 'intent_alignment',
  assurance: 'step_up',
  modify: 'modify',
  defer: 'defer',
  credentials: 'credentials',
  output: 'output',
};

/** Formats the records of all governance layers, in their order. */
export function presentDecisions(records: readonly DecisionRecord[]): DecisionRecordJson[] {
  return records.map(({ callId, tool, layer, decision, reason, duration, changes }) => ({
    ...(callId === null ? {} : { call_id: callId }),
    ...(tool === null ? {} : { tool }),
    layer: names[layer],
    decision,
    reason,
    duration_ms: duration,
    ...(changes === undefined ? {} : { changes }),
  }));
}
