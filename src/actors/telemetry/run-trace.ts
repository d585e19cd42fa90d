import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { TaskState } from '../../machines/domain/task.ts';
import { readTraceParent, writeTraceParent } from '../../machines/trace-parent.ts';
import { tracer } from './spans.ts';

/** A finished wait for a decision. */
export interface EndedWait {
  tool: string;
  callId: string;
  outcome: 'approve' | 'reject' | 'timeout' | 'abandoned';
  /** Epoch milliseconds. */
  from: number;
  to: number;
  /** Span of the request with the decision; `null` without a decision. */
  decidedIn: SpanContext | null;
}

/**
 * Trace of one run while its task has an actor: an `invoke_agent` span and its children. A resumed run gets another
 * such span in the same trace.
 */
export class RunTrace {
  readonly #own: Attributes;
  readonly #span: Span;
  /** Context with the span, for its child spans. */
  readonly context: Context;
  /** Trace ids for every audit event of the run; empty without a trace. */
  readonly ids: { trace_id?: string; span_id?: string };
  #hasEnded = false;

  /** `parent` is a W3C `traceparent`; `null` starts a new trace if tracing is on. */
  constructor({ taskId, agent }: { taskId: string; agent: string }, parent: string | null) {
    const above = contextOf(parent);
    this.#own = { 'a2a.task.id': taskId };
    const attributes = {
      ...this.#own,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
    };
    this.#span = tracer().startSpan(`invoke_agent ${agent}`, { attributes }, above);
    this.context = trace.setSpan(above, this.#span);
    const at = this.#span.spanContext();
    this.ids = isSpanContextValid(at) ? { trace_id: at.traceId, span_id: at.spanId } : {};
  }

  /** The run's span as a W3C `traceparent`; `null` without a trace. */
  get traceParent(): string | null {
    const at = this.#span.spanContext();
    return isSpanContextValid(at) ? writeTraceParent(at) : null;
  }

  /** Adds the `approval.wait` span of a finished wait, which may have lasted longer than the process. */
  waited({ tool, callId, outcome, from, to, decidedIn }: EndedWait): void {
    const span = tracer().startSpan(
      'approval.wait',
      {
        attributes: {
          ...this.#own,
          'gen_ai.tool.name': tool,
          'gen_ai.tool.call.id': callId,
          'holdpoint.approval.outcome': outcome,
        },
        links: decidedIn === null ? [] : [{ context: decidedIn }],
        startTime: from,
      },
      this.context,
    );
    if (outcome !== 'approve') span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(to);
  }

  /** Ends the span with the state of the task; a failed run gets the status Error. */
  end(state: TaskState): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#span.setAttribute('a2a.task.state', state);
    if (state === 'failed') this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }
}

/** Returns the active span of the current request, if it is traced. */
export function activeSpanContext(): SpanContext | null {
  const active = trace.getSpanContext(context.active());
  return active !== undefined && isSpanContextValid(active) ? active : null;
}

/** A request that opens a task is still active, with its baggage; any other active request is not the parent. */
function contextOf(parent: string | null): Context {
  const named = parent === null ? null : readTraceParent(parent);
  if (named === null) return ROOT_CONTEXT;
  const active = context.active();
  return trace.getSpanContext(active)?.spanId === named.spanId
    ? active
    : trace.setSpanContext(ROOT_CONTEXT, { ...named, isRemote: true });
}
