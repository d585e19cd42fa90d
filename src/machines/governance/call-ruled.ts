import { markOfCall } from '../domain/call-mark.ts';
import type { TaskFact } from '../domain/facts.ts';
import type { DecisionRecord } from '../domain/task.ts';
import { callToRun, type ToolCallContext } from './tool-call-setup.ts';

/**
 * Reports the ruling on a call. A held call is reported again only if it may not run after all, if it is held as another
 * call, or if its approver has changed it.
 */
export function callRuled(context: ToolCallContext): TaskFact[] {
  const { verdict, held } = context;
  const { kind } = verdict ?? { kind: 'deny' };
  const isKnown = kind === 'allow' || (verdict?.kind === 'defer' && isHeldCall(context));
  if (held !== null && held.edited === undefined && isKnown) return [];
  const { decision, layer, rule, reason } = decisive(context);
  const named = rule === undefined ? {} : { rule };
  const call = verdict !== null && 'call' in verdict ? verdict.call : callToRun(context);
  const mark = markOfCall(call);
  return [{ type: 'call.ruled', call: mark, tool: call.tool, decision, layer, ...named, reason }];
}

function isHeldCall({ verdict, held }: ToolCallContext): boolean {
  return verdict?.kind === 'defer' && verdict.deferral.id === held?.deferral.id;
}

/** Returns the record of the layer that decided; a call that only MODIFY changed is reported as modified. */
function decisive({ records, verdict }: ToolCallContext): Omit<DecisionRecord, 'callId' | 'tool'> {
  const last = records.at(-1);
  if (last === undefined || verdict === null) return unruled;
  if (last.decision !== 'allow') return last;
  return records.find(({ decision }) => decision === 'modify') ?? last;
}

const unruled = {
  layer: 'alignment',
  decision: 'deny',
  reason: 'governance ended without a ruling',
  duration: 0,
} as const;
