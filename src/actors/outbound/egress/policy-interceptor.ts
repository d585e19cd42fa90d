import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, interceptors } from 'undici';
import type { EgressScope } from '../../ports/egress.ts';
import { outboundTraceHeaders } from '../../telemetry/telemetry.ts';
import { EgressError } from './egress-error.ts';
import { ForwardingHandler } from './forwarding-handler.ts';
import { normaliseHost } from './host-pattern.ts';
import { LimitHandler } from './limit-handler.ts';
import type { EgressLimits } from './limits.ts';
import { type Hop, type HopRuling, isDaemons } from './rule-hop.ts';
import {
  type GivenHeaders,
  headerOf,
  withHeaders,
  withWorkflowHeaders,
} from './workflow-headers.ts';

/**
 * Reports the result of a hop whose name was allowed, once: `null` right before its first byte is sent, or the refusal
 * of its address. If the report throws, the request is not sent.
 */
export class HopHandler extends ForwardingHandler {
  readonly #settle: (refusal: EgressError | null) => void;
  #settled = false;

  constructor(next: Dispatcher.DispatchHandler, settle: (refusal: EgressError | null) => void) {
    super(next);
    this.#settle = settle;
  }

  override onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#say(null);
    super.onRequestStart(controller, context);
  }

  override onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    super.onResponseError(controller, this.#toldOf(error));
  }

  /** If reporting a failure throws, returns that error instead, as nothing would catch it. */
  #toldOf(error: Error): Error {
    try {
      this.#say(error instanceof EgressError ? error : null);
      return error;
    } catch (failure) {
      return failure instanceof Error ? failure : new Error(String(failure));
    }
  }

  #say(refusal: EgressError | null): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#settle(refusal);
  }
}

/** Removes the content coding of an empty response, which a decoder would treat as truncated. */
class EmptyBodyHandler extends ForwardingHandler {
  override onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: IncomingHttpHeaders,
    statusMessage?: string,
  ): void {
    const { 'content-encoding': _, ...bare } = headers;
    const shownHeaders = headers['content-length'] === '0' ? bare : headers;
    super.onResponseStart(controller, statusCode, shownHeaders, statusMessage);
  }
}

/** The scope of a request, and the limits of its response. */
export interface Sending {
  scope: EgressScope;
  limits: EgressLimits;
  /** Overall deadline on the scale of `performance.now()`; `null` if the hop sets it. */
  deadline: number | null;
}

export interface InterceptorPorts {
  sending: () => Sending | null;
  rule: (hop: Hop, scope: EgressScope | null) => HopRuling;
  /** Records a refusal and creates its error. */
  refuse: (host: string, why: string, scope: EgressScope | null) => EgressError;
  /** Records the result of a hop whose name was allowed. */
  settle: (host: string, refusal: EgressError | null, scope: EgressScope | null) => void;
  /** True for hosts that receive the workflow headers. */
  propagatesTo: (host: string) => boolean;
}

/**
 * Creates the interceptor for every hop of every request, including redirects. It rules on the hop, records the ruling
 * once, adds workflow and trace headers and enforces the limits of the scope.
 */
export function policyInterceptor(
  ports: InterceptorPorts,
): Dispatcher.DispatcherComposeInterceptor {
  const decoderFor = memoised((maxSize: number) =>
    interceptors.decompress({ maxSize, skipErrorResponses: false }),
  );
  return (dispatch) => (options, handler) => {
    const sending = ports.sending();
    const scope = sending?.scope ?? null;
    const ruling = ruleRequest(options, scope, ports);
    if (!ruling.ok) {
      // undici's own dispatchers report refusals in the same way.
      handler.onResponseError?.(null as never, ruling.error);
      return false;
    }
    const { host, headers } = ruling;
    const send: Dispatcher.Dispatch = (sent, next) =>
      dispatch(sent, new HopHandler(next, (refusal) => ports.settle(host, refusal, scope)));
    if (sending === null) return send({ ...options, headers }, handler);
    const { limits } = sending;
    const limited = {
      ...options,
      headers,
      headersTimeout: options.headersTimeout ?? limits.headers,
      bodyTimeout: options.bodyTimeout ?? limits.idle,
    };
    const decode = limits.bytes === null ? null : decoderFor(limits.bytes);
    const receiver = new LimitHandler(handler, { host, limits, deadline: deadlineOf(sending) });
    if (decode === null) return send(limited, receiver);
    const sendCoded: Dispatcher.Dispatch = (sent, next) => send(sent, new EmptyBodyHandler(next));
    return decode(sendCoded)(limited, receiver);
  };
}

type RequestRuling =
  | { ok: true; host: string; headers: GivenHeaders }
  | { ok: false; error: Error };

/** Rules on a hop; any failure refuses it. */
function ruleRequest(
  { origin, headers = null }: Dispatcher.DispatchOptions,
  scope: EgressScope | null,
  { rule, refuse, propagatesTo }: InterceptorPorts,
): RequestRuling {
  try {
    const url = URL.parse(String(origin));
    if (url === null) return { ok: false, error: refuse(String(origin), 'is no host', scope) };
    const { host, why } = rule(hopOf(url), scope);
    const fault = why ?? userFault(url) ?? (scope === null ? null : hostHeaderFault(host, headers));
    if (fault !== null) return { ok: false, error: refuse(host, fault, scope) };
    const isTrusted = propagatesTo(host);
    const traced =
      isTrusted || isDaemons(scope)
        ? withHeaders(headers, Object.entries(outboundTraceHeaders({ baggage: isTrusted })))
        : headers;
    const isTagged = scope !== null && isTrusted;
    return {
      ok: true,
      host,
      headers: isTagged ? withWorkflowHeaders(traced, scope.tags) : traced,
    };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** Returns the hop of a URL. */
export function hopOf({ protocol, hostname, port }: URL): Hop {
  return {
    protocol,
    hostname,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
}

/** Returns the fault of a URL with a user name or password; `null` if it has neither. */
export function userFault({ username, password }: URL): string | null {
  return username === '' && password === '' ? null : 'has a user name in its URL';
}

/**
 * Refuses a differing Host header: a server with several virtual hosts would answer for an unlisted one. The daemon
 * itself is exempt, since a signed request may require its own Host.
 */
function hostHeaderFault(host: string, headers: GivenHeaders): string | null {
  const named = headerOf(headers, 'host');
  return named === null || normaliseHost(named) === host
    ? null
    : 'has the Host header of another host';
}

function deadlineOf({ deadline, limits }: Sending): number | null {
  if (deadline !== null || limits.total === null) return deadline;
  return performance.now() + limits.total;
}

function memoised<T>(make: (key: number) => T): (key: number) => T {
  const made = new Map<number, T>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
  };
}
