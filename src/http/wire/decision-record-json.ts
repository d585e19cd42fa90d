import type { ArgumentChange, DecisionRecord, Layer } from '../../machines/task/task.ts';

/**
 * The record of a layer of governance about a call (docs/contract/governance.md); `call_id` and `tool` are absent where
 * there is no call.
 */
export interface DecisionRecordJson {
  call_id?: string;
  tool?: string;
  layer: string;
  decision: DecisionRecord['decision'];
  reason: string;
  duration_ms: number;
  /** What MODIFY changed of the arguments, each value as JSON without secrets. */
  changes?: ArgumentChange[];
}

/** The layers as the configuration calls them. */
const names: Record<Layer, string> = {
  prompt: 'prompt',
  alignment: 'intent_alignment',
  assurance: 'step_up',
  modify: 'modify',
  defer: 'defer',
  credentials: 'credentials',
  output: 'output',
};

/** Presents the records of every layer of governance, in their order. */
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
