import type { Refusal } from '../domain/finding.ts';
import type { DecisionRecord } from '../domain/task.ts';
import type { MintOutcome, ToolOutcome } from './task-events.ts';
import { currentCall, type TaskContext } from './task-input.ts';

/** Records the denial of the message itself, with the duration in milliseconds. */
export function prompt(refusal: Refusal | null, duration: number): DecisionRecord {
  const reason = refusal?.text ?? '';
  return { callId: null, tool: null, layer: 'prompt', decision: 'deny', reason, duration };
}

/** Records whether the current call's credentials could be issued. */
export function credentials(context: TaskContext, outcome: MintOutcome): DecisionRecord {
  const said =
    outcome.kind === 'issued'
      ? ({ decision: 'allow', reason: `issued by ${outcome.provider}` } as const)
      : ({ decision: 'deny', reason: outcome.error } as const);
  return { ...ofCall(context), layer: 'credentials', ...said, duration: outcome.duration };
}

/** Records the effect of the output rules on the current call's output. */
export function output(context: TaskContext, outcome: ToolOutcome): DecisionRecord {
  return { ...ofCall(context), layer: 'output', ...saidOf(outcome), duration: outcome.checking };
}

function saidOf(outcome: ToolOutcome): Pick<DecisionRecord, 'decision' | 'reason'> {
  if (outcome.kind === 'withheld') return { decision: 'deny', reason: outcome.error };
  const rules = [
    ...outcome.findings.map(({ rule }) => rule),
    ...outcome.rewrites.map((number) => `modify output ${number}`),
  ];
  return rules.length === 0
    ? { decision: 'allow', reason: 'no rule changes it' }
    : { decision: 'modify', reason: `rewritten by ${rules.join(', ')}` };
}

function ofCall(context: TaskContext): Pick<DecisionRecord, 'callId' | 'tool'> {
  const { id, tool } = currentCall(context);
  return { callId: id, tool };
}
