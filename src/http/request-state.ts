import type { RouterContext } from '@koa/router';
import type { Span } from '@opentelemetry/api';
import type { OpenSession } from '../actors/ports/web-sessions.ts';
import type { Caller } from '../machines/domain/task.ts';
import type { TaskAccess } from '../machines/task/task-access.ts';
import type { CallerTasks } from './caller-tasks.ts';
import type { Heartbeats } from './heartbeats.ts';
import type { Traffic } from './traffic.ts';

/** The heartbeats of long responses. */
export interface KeepAlive {
  comments: Heartbeats;
  /** `null` if a held send must send nothing before its task is final. */
  blanks: Heartbeats | null;
}

/** The state that middleware adds to a request, in the order in which it is added. */
export interface RequestState {
  /** Added by `correlate`. */
  correlationId: string;
  /** Added by `limitRate`: the client address. */
  clientAddress: string;
  /** Added by `countSequence`: numbers the request's events from 1 until a task numbers them. */
  nextSequence: () => number;
  /** Added by `tagEvents`: tags for every audit event of the request. */
  tags: Record<string, string>;
  /** Added by `traceRequest`: the route of a request with a span, such as `/tasks/{id}`. */
  route?: string;
  /** Added by `traceRequest`: the request's span, or the caller's while tracing is off. */
  span: Span;
  /** Added by `authenticate`; `null` if authentication is off and the request has no token. */
  caller: Caller | null;
  /** Added by `authenticate` or `requireSession`: where a person has signed in with a browser; absent for a token. */
  signedInAt?: 'page' | 'dashboard';
  /** Added by `authenticate`: visibility of tasks to a person of the dashboard; absent for that of the agent. */
  taskAccess?: TaskAccess;
  /** Added by `boundTraffic`: the byte limits from and to the caller. */
  traffic: Traffic;
  /** Added by `keepAlive`: the heartbeats of long responses. */
  keepAlive: KeepAlive;
  /** Added by `bindTasks`: the tasks that the caller may see. */
  tasks: CallerTasks;
  /** Added by `bindTasks`: sets the caller of a route whose body is signed. */
  actAs: (caller: Caller) => void;
  /** Added by `requireSession` and `guardPublic`: the session of a person who has signed in with a browser. */
  webSession?: OpenSession;
  /** Added by `guardHost`: the request is one for the public address of a dashboard; absent for its own address. */
  isPublic?: true;
  /** Added by `guardPublic`: the person may do all that the dashboard offers. */
  isOperator?: true;
  /** Added by `handleErrors`: the reason why a response that had begun was cut off; absent otherwise. */
  cutOff?: string;
  /** Set by `failCall`: a JSON-RPC call was refused in its response; absent otherwise. */
  hasFailed?: true;
  /** Set by a route whose response is one in-memory copy for all callers, such as the card; absent otherwise. */
  isShared?: true;
}

/** The request context of a route. */
export type RoutedContext = RouterContext<RequestState>;
