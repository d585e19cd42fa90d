import type { RouterContext } from '@koa/router';
import type { Span } from '@opentelemetry/api';
import type { Caller } from '../machines/task/task.ts';
import type { CallerTasks } from './caller-tasks.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { Traffic } from './traffic.ts';

/** Settings that keep long answers open. */
export interface KeepAlive {
  comments: Heartbeats;
  /** `null` when a held send is to say nothing before its task is final. */
  blanks: Heartbeats | null;
}

/** The state that middleware adds to a request, in order of addition. */
export interface RequestState {
  /** Added by `correlate`. */
  correlationId: string;
  /** Added by `limitRate`: where the request comes from. */
  clientAddress: string;
  /** Added by `countSequence`; numbers the events of the request, from 1, until a task does. */
  nextSequence: () => number;
  /** Added by `tagEvents`: the tags of every audit event of the request. */
  tags: Record<string, string>;
  /** Added by `traceRequest`: the route of a request that has a span, such as `/tasks/{id}`. */
  route?: string;
  /** Added by `traceRequest`: the span of the request, or the caller's while tracing is off. */
  span: Span;
  /** Added by `authenticate`; `null` while authentication is off and no token was shown. */
  caller: Caller | null;
  /** Added by `boundTraffic`: how much may be on its way from and to the caller. */
  traffic: Traffic;
  /** Added by `keepAlive`: keeps long answers open. */
  keepAlive: KeepAlive;
  /** Added by `bindTasks`: the tasks that the caller may know of. */
  tasks: CallerTasks;
  /** Added by `handleErrors`: why an answer was cut off that had begun; absent otherwise. */
  cutOff?: string;
  /** Set by `failCall`: a call of JSON-RPC was refused inside its answer; absent otherwise. */
  hasFailed?: true;
  /** Set by a route whose answer is in memory once for all callers, such as the card; absent otherwise. */
  isShared?: true;
}

/** A request as a route sees it. */
export type RoutedContext = RouterContext<RequestState>;
