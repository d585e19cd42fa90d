// What can be watched: logs, traces and the inspector.

export type { Inspector } from './inspector.ts';
export { keptEvents } from './kept-events.ts';
export { createLog } from './log.ts';
export { activeSpanContext, type EndedWait, RunTrace } from './run-trace.ts';
export type { PageFile } from './serve-page.ts';
export { inClientSpan, inSpan, outboundTraceHeaders } from './spans.ts';
export { readTracing, TracingSettingsError } from './tracing-settings.ts';

/** Loads what tracing costs at start, for agents that have it on alone. */
export const loadTracing = () => import('./tracing.ts');

/** Loads the inspector, for agents that open one alone. */
export const loadInspector = () => import('./inspector.ts');
