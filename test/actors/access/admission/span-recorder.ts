import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { onTestFinished } from 'vitest';

/** A span that has ended. */
export interface EndedSpan {
  name: string;
  /** The name of the span around it. */
  parent: string | null;
  attributes: Attributes;
  isFailed: boolean;
}

const names = new WeakMap<Span, string>();

/** Where spans go. */
let recorded: EndedSpan[] = [];

/** Records every span until the test has finished, in the order in which they end. */
export function recordSpans(): EndedSpan[] {
  const ended: EndedSpan[] = [];
  trace.setGlobalTracerProvider({ getTracer: () => recordingTracer });
  context.setGlobalContextManager(asyncContexts());
  recorded = ended;
  onTestFinished(() => {
    recorded = [];
    trace.disable();
    context.disable();
  });
  return ended;
}

const recordingTracer: Tracer = {
  startSpan: (name, options, parent = context.active()) =>
    createSpan(name, options?.attributes ?? {}, parent, recorded),
  startActiveSpan(name: string, ...rest: unknown[]) {
    const run = rest.at(-1) as (span: Span) => any;
    const options = rest.length > 1 ? (rest[0] as { attributes?: Attributes }) : {};
    const span = recordingTracer.startSpan(name, options);
    return context.with(trace.setSpan(context.active(), span), () => run(span));
  },
};

function createSpan(name: string, given: Attributes, parent: Context, ended: EndedSpan[]): Span {
  const around = trace.getSpan(parent);
  const record: EndedSpan = {
    name,
    parent: (around && names.get(around)) ?? null,
    attributes: { ...given },
    isFailed: false,
  };
  const span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  Object.assign(span, {
    setAttributes: (attributes: Attributes) => Object.assign(record.attributes, attributes),
    setStatus: ({ code }: { code: SpanStatusCode }) => {
      record.isFailed = code === SpanStatusCode.ERROR;
    },
    end: () => ended.push(record),
  });
  names.set(span, name);
  return span;
}

function asyncContexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...args) => storage.run(active, () => run.apply(self, args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
