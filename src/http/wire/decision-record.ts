import { z } from 'zod';
import { layerNames } from '../../machines/domain/layer-names.ts';
import type { DecisionRecord } from '../../machines/domain/task.ts';
import { mostChangesKept } from '../../machines/governance/kept-changes.ts';

/** The schema of changes of arguments. */
export const argumentChanges = z
  .array(
    z.object({
      path: z.string(),
      before: z.string().exactOptional(),
      after: z.string().exactOptional(),
    }),
  )
  .describe(
    `The changed arguments, each value as JSON without secrets; the first ${mostChangesKept}.`,
  );

/** A record without a call has no `call_id` and no `tool` (docs/contract/governance.md). */
export const decisionRecord = z
  .object({
    call_id: z.string().exactOptional(),
    tool: z.string().exactOptional(),
    layer: z.string(),
    decision: z.enum(['allow', 'deny', 'modify', 'step_up', 'defer']),
    reason: z.string(),
    duration_ms: z.number(),
    changes: argumentChanges.exactOptional(),
    rule: z.string().exactOptional(),
  })
  .meta({ id: 'DecisionRecord', description: "A governance layer's decision on a call." });

/** Formats the records of all governance layers, in their order. */
export function presentDecisions(
  records: readonly DecisionRecord[],
): z.input<typeof decisionRecord>[] {
  return records.map(({ callId, tool, layer, decision, reason, duration, changes, rule }) => ({
    ...(callId === null ? {} : { call_id: callId }),
    ...(tool === null ? {} : { tool }),
    layer: layerNames[layer],
    decision,
    reason,
    duration_ms: duration,
    ...(changes === undefined ? {} : { changes }),
    ...(rule === undefined ? {} : { rule }),
  }));
}
