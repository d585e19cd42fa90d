import type { CallFault } from '../../machines/domain/call-fault.ts';
import type { HoldState } from '../../machines/domain/hold.ts';
import type { DecisionRecord, SettledDeferral, Task } from '../../machines/domain/task.ts';
import type { EndedWait } from '../telemetry/telemetry.ts';

/** How a wait for a decision ended. */
export type WaitEnd = EndedWait['outcome'] | 'canceled';

/** A measurement of a task, for the metrics. Durations are in milliseconds. */
export type Measured =
  /** `error` is the kind of the failure; `null` for a tool that returned. */
  | { type: 'call'; tool: string; error: string | null; milliseconds: number }
  | {
      type: 'model';
      provider: string;
      model: string;
      /** `null` for a model that answered. */
      error: CallFault | 'other' | null;
      milliseconds: number;
      inputTokens: number;
      outputTokens: number;
    }
  /** Governance has ruled on a call. */
  | ({ type: 'ruling'; tool: string } & Pick<DecisionRecord, 'decision' | 'layer'>)
  /** A person decided; `source` is the chat, or `http`. */
  | {
      type: 'decision';
      decision: SettledDeferral['decision'];
      source: string;
      outcome: 'counted' | 'repeated' | 'refused';
    }
  | { type: 'notice'; notice: 'reminder' | 'escalation' }
  | { type: 'wait'; decision: WaitEnd; kind: 'task' | 'hold'; milliseconds: number }
  | { type: 'grant'; tool: string }
  /** A call would exceed a limit. */
  | { type: 'limit'; limit: string; decision: 'defer' | 'deny' }
  /** A rule in shadow would have decided. */
  | { type: 'shadow'; rule: string; would: DecisionRecord['decision'] }
  /** The granted call of another program has entered a state. */
  | { type: 'hold'; state: HoldState };

/** Returns the measurement of a committed change of the account of a hold; `null` for none. */
export function measuredHold(before: Task | null, { hold }: Task): Measured | null {
  const state = hold?.account?.state;
  return state === undefined || state === before?.hold?.account?.state
    ? null
    : { type: 'hold', state };
}
