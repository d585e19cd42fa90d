import type { ServerResponse } from 'node:http';
import {
  context,
  createContextKey,
  createTraceState,
  INVALID_SPAN_CONTEXT,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Context as TraceContext,
  trace,
} from '@opentelemetry/api';
import type { Context, Middleware, Next } from 'koa';
import { isTaskId } from '../../machines/task/task-id.ts';
import { readTraceParent } from '../../machines/trace-parent.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';

/**
 * Requests with a span, and their A2A method names. A JSON-RPC call has its method in the body. A path captures the
 * task ID.
 */
const traced = [
  { verb: 'POST', path: /^\/$/, method: 'unknown' },
  { verb: 'POST', path: /^\/tasks\/send$/, method: 'tasks/send' },
  { verb: 'POST', path: /^\/tasks\/sendSubscribe$/, method: 'tasks/sendSubscribe' },
  { verb: 'POST', path: /^\/tasks\/([^/]+)\/decisions$/, method: 'tasks/decisions' },
  { verb: 'POST', path: /^\/tasks\/([^/]+)\/cancel$/, method: 'tasks/cancel' },
  { verb: 'GET', path: /^\/tasks\/([^/]+)\/events$/, method: 'tasks/events' },
  { verb: 'GET', path: /^\/tasks\/([^/]+)$/, method: 'tasks/get' },
  { verb: 'GET', path: /^\/tasks$/, method: 'tasks/list' },
  { verb: 'GET', path: /^\/events$/, method: 'events' },
  { verb: 'GET', path: /^\/sessions\/[^/]+$/, method: 'sessions/get' },
  { verb: 'GET', path: /^\/sessions$/, method: 'sessions/list' },
  { verb: 'GET', path: /^\/deferrals\/[^/]+$/, method: 'deferrals/get' },
  { verb: 'GET', path: /^\/deferrals$/, method: 'deferrals/list' },
  { verb: 'POST', path: /^\/v1\/message:send$/, method: 'message/send' },
  { verb: 'POST', path: /^\/v1\/message:stream$/, method: 'message/stream' },
  { verb: 'POST', path: /^\/v1\/tasks\/([^/]+):cancel$/, method: 'tasks/cancel' },
  { verb: 'GET', path: /^\/v1\/tasks\/([^/]+):subscribe$/, method: 'tasks/resubscribe' },
  { verb: 'POST', path: /^\/v1\/tasks\/([^/]+):subscribe$/, method: 'tasks/resubscribe' },
  { verb: 'GET', path: /^\/v1\/tasks$/, method: 'tasks/list' },
  { verb: 'GET', path: /^\/v1\/tasks\/([^/]+)$/, method: 'tasks/get' },
  { verb: 'POST', path: /^\/a2a\/message:send$/, method: 'SendMessage' },
  { verb: 'POST', path: /^\/a2a\/message:stream$/, method: 'SendStreamingMessage' },
  { verb: 'GET', path: /^\/a2a\/tasks$/, method: 'ListTasks' },
  { verb: 'POST', path: /^\/a2a\/tasks\/([^/]+):cancel$/, method: 'CancelTask' },
  { verb: 'GET', path: /^\/a2a\/tasks\/([^/]+):subscribe$/, method: 'SubscribeToTask' },
  { verb: 'POST', path: /^\/a2a\/tasks\/([^/]+):subscribe$/, method: 'SubscribeToTask' },
  { verb: 'GET', path: /^\/a2a\/tasks\/([^/]+)$/, method: 'GetTask' },
].map((one) => ({ ...one, route: routeOf(one.path) }));

/** Converts a path of the table to an OpenTelemetry route, such as `/tasks/{id}`. */
function routeOf({ source }: RegExp): string {
  return source
    .slice(1, -1)
    .replaceAll('\\/', '/')
    .replaceAll(/\(?\[\^\/\]\+\)?/g, '{id}');
}

/** The context key with which OpenTelemetry suppresses tracing, copied here because its package is large. */
const suppressed = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Valid method names. Other text must not become the name of a span. */
const methodName = /^[A-Za-z]{1,32}(\/[A-Za-z]{1,32}){0,2}$/;

/**
 * Starts a request's span, `a2a.<method>`, as a child of the caller's span if `traceparent` is well-formed, and ends it
 * with the response (docs/contract/transports.md). While tracing is off, the span only carries the caller's
 * identifiers. Requests for health, metrics and similar routes have no span.
 */
export function traceRequest(): Middleware<RequestState> {
  return function requestTracer(ctx: Context, next: Next) {
    const { method: verb, path, res } = ctx;
    const above = callersContext(ctx);
    const route = traced.find((one) => one.verb === verb && one.path.test(path));
    if (route === undefined) {
      ctx.state.span = trace.wrapSpanContext(trace.getSpanContext(above) ?? INVALID_SPAN_CONTEXT);
      return context.with(above.setValue(suppressed, true), next);
    }
    ctx.state.route = route.route;
    const taskId = route.path.exec(path)?.[1];
    const attributes = {
      'a2a.method': route.method,
      'http.request.method': verb,
      'http.route': route.route,
      'url.path': path,
      'url.scheme': ctx.protocol,
      'server.address': ctx.hostname,
      ...(ctx.socket.localPort === undefined ? {} : { 'server.port': ctx.socket.localPort }),
      'holdpoint.correlation_id': (ctx.state as RequestState).correlationId,
      ...(isTaskId(taskId) ? { 'a2a.task.id': taskId } : {}),
    };
    const options = { kind: SpanKind.SERVER, attributes };
    const span = trace.getTracer('holdpoint').startSpan(`a2a.${route.method}`, options, above);
    ctx.state.span = span;
    res.once('close', () => endWith(span, res, ctx.state as RequestState));
    return context.with(trace.setSpan(above, span), next);
  };
}

/** Names the span of a JSON-RPC request after its body has been read. */
export function nameSpan() {
  return function spanNamer({ state: { span }, request }: RoutedContext, next: Next) {
    const method = fieldOf(request.body, 'method');
    if (typeof method === 'string' && methodName.test(method)) setSpanName(span, method);
    return next();
  };
}

/**
 * Marks the span of a JSON-RPC request that is refused in its response. The span of an unknown method loses its name.
 */
export function failCall({ state }: RoutedContext, isUnknown: boolean): void {
  const { span } = state;
  state.hasFailed = true;
  if (isUnknown) setSpanName(span, 'unknown');
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function setSpanName(span: Span, method: string): void {
  span.updateName(`a2a.${method}`).setAttribute('a2a.method', method);
}

/** Reads `traceparent` even with tracing off, because the audit log records it. */
function callersContext(ctx: Context): TraceContext {
  const extracted = propagation.extract(ROOT_CONTEXT, ctx.headers);
  if (trace.getSpanContext(extracted) !== undefined) return extracted;
  const parent = readTraceParent(ctx.get('traceparent'));
  if (parent === null) return extracted;
  const traceState = createTraceState(ctx.get('tracestate'));
  return trace.setSpanContext(extracted, { ...parent, traceState, isRemote: true });
}

function endWith(
  span: Span,
  { headersSent, statusCode, writableFinished }: ServerResponse,
  { cutOff }: RequestState,
): void {
  if (cutOff !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: cutOff });
  else if (!writableFinished) span.setAttribute('holdpoint.caller_left', true);
  if (headersSent) {
    span.setAttribute('http.response.status_code', statusCode);
    if (statusCode >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
