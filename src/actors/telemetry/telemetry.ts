// Observability: logs, traces and the inspector.

export type { Inspector } from './inspector.ts';
export { keptEvents } from './kept-events.ts';
export { createLog } from './log.ts';
export { activeSpanContext, type EndedWait, RunTrace } from './run-trace.ts';
export { inClientSpan, inSpan, outboundTraceHeaders } from './spans.ts';
export { readTracing, TracingSettingsError } from './tracing-settings.ts';

/** Loads tracing on demand, since it slows down start-up. */
export const loadTracing = () => import('./tracing.ts');

/** Loads the inspector on demand. */
export const loadInspector = () => import('./inspector.ts');
