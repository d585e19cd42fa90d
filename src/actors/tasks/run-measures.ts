import type { TaskFact } from '../../machines/domain/facts.ts';
import type { Task } from '../../machines/domain/task.ts';
import { activeSpanContext, type EndedWait, type RunTrace } from '../telemetry/telemetry.ts';
import { type Measured, measuredHold, type WaitEnd } from './measured.ts';

/** The end of the current wait, as the facts reported it. */
interface WaitEnding {
  outcome: WaitEnd;
  decidedIn: EndedWait['decidedIn'];
}

/** Measures the calls, rulings and waits of one run, and traces the waits. */
export class RunMeasures {
  readonly #trace: RunTrace;
  readonly #onMeasured: (measured: Measured) => void;
  #waitEnd: WaitEnding | null = null;

  constructor(trace: RunTrace, onMeasured: (measured: Measured) => void) {
    this.#trace = trace;
    this.#onMeasured = onMeasured;
  }

  /** Processes a fact about a call or the end of a wait. */
  noted(fact: TaskFact): void {
    this.#waitEnd = waitEndOf(fact) ?? this.#waitEnd;
    const measured = measuredFact(fact);
    if (measured !== null) this.#onMeasured(measured);
  }

  /**
   * Processes a committed change. A wait ends when its deferral is gone; an approval below the quorum does not end it.
   */
  committed(before: Task | null, task: Task): void {
    const hold = measuredHold(before, task);
    if (hold !== null) this.#onMeasured(hold);
    const waited = before?.deferral ?? null;
    if (waited === null || waited.id === task.deferral?.id) return;
    const { outcome, decidedIn } = this.#waitEnd ?? { outcome: 'abandoned', decidedIn: null };
    const { id: callId, tool, requestedAt: from } = waited;
    const traced = outcome === 'canceled' ? 'abandoned' : outcome;
    const to = task.changedAt;
    this.#trace.waited({ outcome: traced, decidedIn, tool, callId, from, to });
    const kind = task.hold === undefined ? 'task' : 'hold';
    this.#onMeasured({ type: 'wait', decision: outcome, kind, milliseconds: to - from });
  }
}

function waitEndOf(fact: TaskFact): WaitEnding | null {
  switch (fact.type) {
    case 'deferral.decided':
      return { outcome: fact.decision, decidedIn: activeSpanContext() };
    case 'deferral.timedOut':
      return { outcome: 'timeout', decidedIn: null };
    case 'deferral.abandoned':
      return { outcome: fact.reason === 'canceled' ? 'canceled' : 'abandoned', decidedIn: null };
    default:
      return null;
  }
}

function measuredFact(fact: TaskFact): Measured | null {
  switch (fact.type) {
    case 'tool.ended': {
      const { tool, error = null, duration: milliseconds } = fact;
      return { type: 'call', tool, error, milliseconds };
    }
    case 'model.called': {
      const { provider, model, duration: milliseconds, inputTokens, outputTokens } = fact;
      const error = fact.error === undefined ? null : (fact.fault ?? 'other');
      return { type: 'model', error, provider, model, milliseconds, inputTokens, outputTokens };
    }
    case 'call.ruled': {
      const { tool, decision, layer } = fact;
      return { type: 'ruling', tool, decision, layer };
    }
    case 'deferral.decided':
    case 'deferral.refused': {
      const { decision, source = 'http' } = fact;
      const counted = fact.isRepeated === true ? 'repeated' : 'counted';
      const outcome = fact.type === 'deferral.decided' ? counted : 'refused';
      return { type: 'decision', decision, source, outcome };
    }
    case 'deferral.reminded':
      return { type: 'notice', notice: 'reminder' };
    case 'deferral.escalated':
      return { type: 'notice', notice: 'escalation' };
    case 'grant.used':
      return { type: 'grant', tool: fact.tool };
    case 'limit.reached': {
      const { limit, decision } = fact;
      return { type: 'limit', limit: limit.name, decision };
    }
    case 'rule.shadowed':
      return { type: 'shadow', rule: fact.rule, would: fact.would };
    default:
      return null;
  }
}
