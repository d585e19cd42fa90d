import type { IncomingHttpHeaders } from 'node:http';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { RequestHandler } from 'express';
import { SystemError } from '../../actors/system-error.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import type { RoutedContext } from '../request-state.ts';
import { presentRefusal } from '../wire/present-refusal.ts';
import { Problem } from '../wire/problem.ts';
import { EventStream } from '../wire/sse.ts';
import { readVersion } from './a2a-versions.ts';
import { type CallRequest, callContext, callRequest, transportRefusal } from './call-context.ts';
import { type Captured, capturedResponse, type StreamListener } from './captured-response.ts';
import { compatParams } from './compat-params.ts';
import { guardedHandler } from './guarded-handler.ts';
import { partFault } from './part-fault.ts';
import { RestList } from './rest-list.ts';
import { restPushConfig } from './rest-push-config.ts';
import { restBases, restVersionOf } from './rest-routes.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { numberer } from './stream-events.ts';
import { TaskHandler, type TaskHandlerPorts } from './task-handler.ts';

/** Response media types by surface, as the SDK sets them. */
const mediaTypes = {
  '0.3': 'application/json; charset=utf-8',
  '1.0': 'application/a2a+json; charset=utf-8',
} as const;

/** Answers a REST request whose body has been read. Resolves once the response is complete or its stream has begun. */
export type A2aRest = (ctx: RoutedContext) => Promise<void>;

/** A request being processed by the SDK. */
interface RestCall {
  request: CallRequest;
  /** The version in the path. */
  version: keyof typeof restBases;
  /** The header `A2A-Version`; empty when absent. */
  said: string;
}

interface Loaded {
  sdk: Sdk;
  route: RequestHandler;
  list: RestList;
}

const starting = 'service is starting; try again';

/** The status with which the SDK answers a deletion. */
const noContent = 204;

const listPath = new RegExp(`^${restBases['0.3']}/tasks/?$`);

/**
 * Answers the HTTP+JSON routes of A2A 0.3.0 and 1.0 through the SDK's router (docs/contract/a2a.md). The router
 * requires Express, which is loaded at the first REST request. The surrounding middleware is Koa's.
 */
export function a2aRest(ports: TaskHandlerPorts): A2aRest {
  const calls = new WeakMap<IncomingHttpHeaders, RestCall>();
  let loading: Promise<Loaded> | null = null;
  return async function answerRest(ctx) {
    // Express's router would answer a malformed path in its own format.
    decodeURIComponent(ctx.path);
    // The card lists the supported versions.
    if (ports.card.current('1.0') === null) throw new SystemError('starting', starting);
    loading ??= load(ports, calls);
    const loaded = await loading;
    const { req } = ctx;
    const version = restVersionOf(ctx.path);
    const call = {
      request: { ...callRequest(ctx, mediaTypes[version]), losesAppend: version === '0.3' },
      version,
      said: readVersion(ctx.get('A2A-Version')),
    };
    if (listPath.test(ctx.path)) return await presentList(ctx, loaded, call);
    calls.set(req.headers, call);
    req.headers['a2a-version'] = version;
    const body = ctx.request.body ?? {};
    const fault = partFault(body);
    if (fault !== null) throw new Problem('invalid_body', fault);
    // This surface omits false values in JSON, so a configuration without `blocking` means not to wait.
    const read = version === '0.3' ? compatParams(restBody(ctx, body), false) : body;
    Object.assign(req, { body: read, _body: true });
    const captured = capturedResponse(req, () => restStream(ctx, loaded.sdk, call));
    const unmatched = new Promise<never>((_, reject) => {
      loaded.route(req as never, captured.response as never, (error?: unknown) =>
        reject((error as Error | undefined) ?? new Problem('not_found', 'not found')),
      );
    });
    const answer = await Promise.race([captured.answered, unmatched, left(call)]);
    present(ctx, loaded.sdk, call, answer);
  };
}

async function load(
  ports: TaskHandlerPorts,
  calls: WeakMap<IncomingHttpHeaders, RestCall>,
): Promise<Loaded> {
  const [sdk, { restHandler, UserBuilder }, { legacyRestRouter }, { default: express }] =
    await Promise.all([
      loadSdk(),
      import('@a2a-js/sdk/server/express'),
      import('@a2a-js/sdk/compat/v0_3/server/express'),
      import('express'),
    ]);
  const requestHandler = guardedHandler(sdk, new TaskHandler(sdk, ports));
  const options = {
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    contextBuilder: ({ headers }: { headers: object }) =>
      contextOf(sdk, calls.get(headers as IncomingHttpHeaders) as RestCall),
  };
  const app = express();
  app.disable('x-powered-by').disable('etag');
  app.use(restBases['1.0'], restHandler(options));
  app.use(legacyRestRouter(options));
  const list = new RestList(sdk, requestHandler, ports.a2aAnswer, (handler, contextOf) =>
    express().use(
      legacyRestRouter({
        requestHandler: handler,
        userBuilder: UserBuilder.noAuthentication,
        contextBuilder: ({ headers }) => contextOf(headers as object),
      }),
    ),
  );
  return { sdk, route: app, list };
}

async function presentList(ctx: RoutedContext, loaded: Loaded, call: RestCall): Promise<void> {
  const { sdk, list } = loaded;
  try {
    contextOf(sdk, call);
    ctx.body = await list.page(ctx.state.tasks, ctx.query, ctx.req);
  } catch (error) {
    if (!(error instanceof sdk.A2AError)) throw error;
    ctx.body = errorBody(sdk, call.version, error, 400);
    ctx.status = 400;
  }
}

/** The path determines the version. A version in the header must match it. */
function contextOf(sdk: Sdk, { request, version, said }: RestCall): ServerCallContext {
  if (said === '' || said === version) return callContext(sdk, request, version);
  throw new sdk.VersionNotSupportedError(
    `this path speaks A2A ${version}; send A2A-Version: ${version} or leave it out`,
  );
}

function left({ request: { gone } }: RestCall): Promise<null> {
  return new Promise((resolve) => {
    gone.addEventListener('abort', () => resolve(null), { once: true });
  });
}

function present(
  ctx: RoutedContext,
  sdk: Sdk,
  { request, version }: RestCall,
  captured: Captured | null,
): void {
  const { refusal, isRead } = request;
  if (captured === null) ctx.respond = false;
  if (captured === null || captured.kind === 'stream') return;
  const refused = refusal && 'rest' in refusal ? refusal.rest : transportRefusal(request);
  if (refused !== null) throw refused;
  const isDefect = captured.status >= 500;
  if ((isDefect && isRead) || (captured.status >= 400 && ctx.headerSent))
    throw new Error('the A2A SDK could not write its answer');
  ctx.set('Content-Type', captured.type);
  if (captured.status === noContent) {
    // A2A clients parse every response as JSON.
    ctx.body = {};
    return;
  }
  // The SDK reports an invalid body as its own defect.
  ctx.body = isDefect ? errorBody(sdk, version, unreadable(sdk), 400) : (captured.body ?? '');
  ctx.status = isDefect ? 400 : captured.status;
}

/** Each library of the protocol has its own format for push notification configs. */
function restBody({ path, params }: RoutedContext, body: unknown): unknown {
  if (!path.replace(/\/$/, '').endsWith('/pushNotificationConfigs')) return body;
  return restPushConfig(body, params['taskId'] ?? '');
}

function unreadable({ RequestMalformedError }: Sdk): Error {
  return new RequestMalformedError('the body does not match the method');
}

function errorBody(sdk: Sdk, version: RestCall['version'], error: Error, status: number): object {
  return version === '1.0' ? sdk.toRestErrorBody(error, status) : sdk.toCompatError(error);
}

/** Sends the SDK's events, each with an ID, with backpressure for slow readers. */
function restStream(ctx: RoutedContext, sdk: Sdk, { request, version }: RestCall): StreamListener {
  const stream = new EventStream(ctx, () => undefined);
  const next = numberer();
  return {
    onWritten(text) {
      const [, data] = /^data: (.*)\n\n$/s.exec(text) ?? [];
      if (data !== undefined) stream.send(next(JSON.parse(data) as object));
    },
    onEnded() {
      const { lost } = request;
      if (lost === undefined) return stream.finish([]);
      const { status, body } = problemOf(lost);
      const data =
        version === '1.0'
          ? presentRefusal({ status, body }, { method: 'POST', path: restBases['1.0'] })
          : sdk.toCompatError(new Error(body.error));
      stream.finish([{ ...next(data), event: 'error' }]);
    },
  };
}
