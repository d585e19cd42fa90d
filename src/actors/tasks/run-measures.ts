import type { TaskFact } from '../../machines/domain/facts.ts';
import type { Task } from '../../machines/domain/task.ts';
import { activeSpanContext, type EndedWait, type RunTrace } from '../telemetry/telemetry.ts';

/** A finished part of a task, for the metrics. */
export type Measured =
  | { type: 'call'; tool: string; outcome: 'returned' | 'failed' }
  | {
      type: 'model';
      provider: string;
      model: string;
      outcome: 'answered' | 'failed';
      milliseconds: number;
      inputTokens: number;
      outputTokens: number;
    }
  | { type: 'wait'; decision: EndedWait['outcome']; milliseconds: number };

/** Measures the calls and waits of one run, and traces the waits. */
export class RunMeasures {
  readonly #trace: RunTrace;
  readonly #onMeasured: (measured: Measured) => void;
  #waitEnd: Pick<EndedWait, 'outcome' | 'decidedIn'> | null = null;

  constructor(trace: RunTrace, onMeasured: (measured: Measured) => void) {
    this.#trace = trace;
    this.#onMeasured = onMeasured;
  }

  /** Processes a fact about a call or the end of a wait. */
  noted(fact: TaskFact): void {
    switch (fact.type) {
      case 'deferral.decided':
        this.#waitEnd = { outcome: fact.decision, decidedIn: activeSpanContext() };
        break;
      case 'deferral.timedOut':
        this.#waitEnd = { outcome: 'timeout', decidedIn: null };
        break;
      case 'deferral.abandoned':
        this.#waitEnd = { outcome: 'abandoned', decidedIn: null };
        break;
      case 'tool.ended': {
        const outcome = fact.error === undefined ? 'returned' : 'failed';
        this.#onMeasured({ type: 'call', tool: fact.tool, outcome });
        break;
      }
      case 'model.called': {
        const { provider, model, duration: milliseconds, inputTokens, outputTokens } = fact;
        const outcome = fact.error === undefined ? 'answered' : 'failed';
        const counted = { provider, model, milliseconds, inputTokens, outputTokens };
        this.#onMeasured({ type: 'model', outcome, ...counted });
        break;
      }
      default:
    }
  }

  /**
   * Processes a committed change. A wait ends when its deferral is gone; an approval below the quorum does not end it.
   */
  committed(before: Task | null, { deferral, changedAt: to }: Task): void {
    const waited = before?.deferral ?? null;
    if (waited === null || waited.id === deferral?.id) return;
    const end = this.#waitEnd ?? { outcome: 'abandoned', decidedIn: null };
    const { id: callId, tool, requestedAt: from } = waited;
    this.#trace.waited({ ...end, tool, callId, from, to });
    const milliseconds = to - waited.requestedAt;
    this.#onMeasured({ type: 'wait', decision: end.outcome, milliseconds });
  }
}
