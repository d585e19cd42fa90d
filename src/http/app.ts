import Router from '@koa/router';
import Koa from 'koa';
import type { Authenticator, AuthFailure } from '../actors/ports/authentication.ts';
import type { CardSource } from '../actors/ports/card-source.ts';
import type { Clock } from '../actors/ports/clock.ts';
import type { Ids } from '../actors/ports/ids.ts';
import type { Log } from '../actors/ports/log.ts';
import type { RateLimits } from '../actors/ports/rate-limits.ts';
import type { HoldTimes } from '../machines/domain/hold.ts';
import type { AnswerPlace } from '../machines/domain/task.ts';
import { a2aCalls } from './a2a/a2a-calls.ts';
import { a2aRest } from './a2a/a2a-rest.ts';
import { restRoutes } from './a2a/rest-routes.ts';
import { type ApprovalsPage, approvalsRouter } from './approvals/approvals-router.ts';
import type { AuthLog } from './auth-log.ts';
import type { CallerTasksPorts } from './caller-tasks.ts';
import { type McpPorts, mcpRoutes } from './mcp/mcp-route.ts';
import { type Metrics, metricsOf } from './metrics/metrics.ts';
import type { MetricsPorts } from './metrics/metrics-ports.ts';
import { type AdmitPorts, admit } from './middleware/admit.ts';
import { allowMethods } from './middleware/allow-methods.ts';
import { allowOrigins } from './middleware/allow-origins.ts';
import { type AuthenticatePorts, authenticate } from './middleware/authenticate.ts';
import { bindTasks } from './middleware/bind-tasks.ts';
import { boundTraffic } from './middleware/bound-traffic.ts';
import { correlate } from './middleware/correlate.ts';
import { countSequence } from './middleware/count-sequence.ts';
import { handleErrors, logBrokenResponses } from './middleware/handle-errors.ts';
import { hardenResponse } from './middleware/harden-response.ts';
import { type KeepAlivePorts, keepAlive } from './middleware/keep-alive.ts';
import { limitRate } from './middleware/limit-rate.ts';
import { limitWriting } from './middleware/limit-writing.ts';
import { measureRequests } from './middleware/measure-requests.ts';
import type { PagePorts } from './middleware/page-fault.ts';
import { readJson } from './middleware/read-json.ts';
import { refuseAmbiguous } from './middleware/refuse-ambiguous.ts';
import { tagEvents } from './middleware/tag-events.ts';
import { traceRequest } from './middleware/trace-request.ts';
import type { RequestState } from './request-state.ts';
import { type AcsSettings, acsRoutes } from './routes/acs.ts';
import { cardRoutes, restAgentCard, restCardPath } from './routes/agent-card-routes.ts';
import { type AuditKeysPorts, auditKeyRoutes } from './routes/audit-keys.ts';
import { type DeferralPorts, deferralRoutes } from './routes/deferrals.ts';
import { type DelegationPorts, delegationRoutes } from './routes/delegations.ts';
import { eventRoutes } from './routes/events.ts';
import { grantRoutes } from './routes/grants.ts';
import { type HealthPorts, healthRoutes } from './routes/health.ts';
import { holdRoutes } from './routes/holds.ts';
import { type HookPorts, hookRoutes } from './routes/hooks.ts';
import { rpcRoutes } from './routes/json-rpc-route.ts';
import { limitRoutes } from './routes/limits.ts';
import { type McpServerPorts, mcpServerRoutes, type RecordOf } from './routes/mcp-servers.ts';
import { openApiRoutes } from './routes/openapi.ts';
import { type PolicyReloadPorts, policyRoutes } from './routes/policy-reload.ts';
import { resourceRoutes } from './routes/protected-resource.ts';
import type { ReceiptPorts } from './routes/receipts.ts';
import type { Route, Routes } from './routes/route.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { taskRoutes } from './routes/tasks.ts';
import type { TrafficLimits } from './traffic.ts';
import { messageInvocation } from './wire/admission.ts';
import { requestEnvelope } from './wire/request-envelope.ts';

type AuditPorts = AuditKeysPorts &
  Pick<MetricsPorts, 'auditLag' | 'auditSinks' | 'channels' | 'daemon' | 'shared'>;

export interface AppPorts
  extends AdmitPorts,
    AuditPorts,
    Pick<AuthenticatePorts, 'dashboard' | 'resource' | 'hasMetricsToken'>,
    HealthPorts,
    ReceiptPorts,
    CallerTasksPorts,
    DeferralPorts,
    KeepAlivePorts,
    McpPorts,
    Pick<McpServerPorts, 'mcpServers'>,
    PagePorts,
    DelegationPorts,
    PolicyReloadPorts {
  admission: (NonNullable<AdmitPorts['admission']> & NonNullable<MetricsPorts['admission']>) | null;
  authenticator: Authenticator;
  authLog: Pick<AuthLog, 'letIn' | 'letInToRead' | 'refused'>;
  card: CardSource;
  clock: Clock;
  ids: Ids;
  log: Log;
  limits: RateLimits;
  /** Milliseconds after which an unfinished response is cut off; 0 for never. */
  writeTimeout: number;
  /** Limits of unread bytes from and to callers. Defaults to the limits of docs/contract/transports.md. */
  traffic?: Partial<TrafficLimits>;
  /** If true, a send of A2A 0.3.0 and 1.0 waits for the end of its task, like a legacy send (docs/contract/a2a.md). */
  a2aHold: boolean;
  /** Where A2A 0.3.0 and 1.0 responses carry the answer of a completed task. */
  a2aAnswer: AnswerPlace;
  /** Settings of a gate; `null` for an agent that runs its tools itself. */
  gate: (HoldTimes & Pick<HookPorts, 'onHookAsked'> & { acs: AcsSettings | null }) | null;
  /** The approvals page; absent if it is not configured. */
  approvals?: ApprovalsPage;
  /** The policy for a wait whose stream breaks (docs/contract/transports.md). */
  onDisconnect: 'abandon' | 'keep';
}

/** The A2A 1.0 REST surface has its own media type. */
const a2aBody = { types: ['application/json', 'application/a2a+json'] };

/** Creates the agent's HTTP API without listening (docs/contract/transports.md). */
export function createApp(ports: AppPorts): Koa<RequestState> {
  const app = new Koa<RequestState>();
  logBrokenResponses(app, ports.log, 'http: response failed');
  const metrics = metricsOf(ports);
  const onRejected = (reason: AuthFailure) => metrics.hear({ type: 'authFailure', reason });
  app.use(correlate(ports));
  app.use(measureRequests(metrics));
  app.use(hardenResponse());
  app.use(handleErrors(ports));
  app.use(allowOrigins(ports));
  app.use(refuseAmbiguous());
  app.use(limitWriting(ports));
  // Fixed order: rate limit, sequence counter, authentication, admission, dispatcher (docs/contract/transports.md).
  app.use(limitRate({ ...ports, onLimited: () => metrics.hear({ type: 'rateLimited' }) }));
  app.use(countSequence());
  app.use(tagEvents(ports));
  // Requests rejected by the rate limit create no span; all later steps belong to one.
  app.use(traceRequest());
  app.use(authenticate({ ...ports, onRejected }));
  app.use(boundTraffic(ports.traffic));
  app.use(keepAlive(ports));
  app.use(bindTasks(ports));
  const router = createRouter(ports, metrics);
  if (ports.approvals !== undefined) {
    app.use(approvalsRouter(ports.approvals, { ...ports, onRejected }).routes());
  }
  app.use(allowMethods(router));
  app.use(router.routes());
  return app;
}

/** Routes access tasks only through `ctx.state`, which is restricted to the caller's tasks. */
function createRouter(
  { system, push: _, approvals: __, ...ports }: AppPorts,
  metrics: Metrics,
): Router<RequestState> {
  const a2a = a2aCalls(ports);
  const rest = a2aRest(ports);
  const router = new Router<RequestState>({ sensitive: true });
  const served: Record<string, Route> = {};
  const serve = (routes: Routes): void => {
    Object.assign(served, routes);
    for (const [way, { body, admits, answer, ...route }] of Object.entries(routes)) {
      const [verb = '', path = ''] = way.split(' ');
      const { before = body === undefined ? [] : [readJson()] } = route;
      const admitted = admits === undefined ? [] : [admit(ports, admits)];
      router[verb.toLowerCase() as 'get' | 'post' | 'delete'](path, ...before, ...admitted, answer);
    }
  };
  serve(taskRoutes(ports));
  serve(eventRoutes);
  serve(sessionRoutes);
  serve(deferralRoutes(ports));
  serve(policyRoutes(ports));
  serve(grantRoutes);
  serve(limitRoutes(ports));
  serve(delegationRoutes(ports));
  if (ports.gate !== null) {
    const hook = { ...ports, ...ports.gate };
    serve(holdRoutes({ ...ports.gate, clock: ports.clock }));
    if (ports.gate.acs !== null) serve(acsRoutes({ ...hook, ...ports.gate.acs }));
    serve(hookRoutes(hook));
  }
  serve(rpcRoutes({ ...ports, a2a }));
  if (ports.mcp !== null) serve(mcpRoutes(ports.mcp, ports));
  for (const { verb, path, isSend } of restRoutes) {
    const admitted = isSend ? [admit(ports, messageInvocation)] : [];
    router[verb](path, readJson(a2aBody), ...admitted, rest);
  }
  if (ports.mcpServers !== undefined) {
    const record: RecordOf = (state, event) =>
      ports.record({ ...requestEnvelope(ports, state, state.caller), ...event });
    serve(mcpServerRoutes(ports.mcpServers, record));
  }
  if (ports.resource !== undefined && ports.resource !== null) {
    serve(resourceRoutes(ports.resource));
  }
  serve(healthRoutes({ ...ports, system }));
  serve(metrics.routes);
  serve(auditKeyRoutes(ports));
  router.get(restCardPath, restAgentCard(ports));
  serve(cardRoutes(ports));
  serve(openApiRoutes({ ...ports, router, routes: served }));
  return router;
}
