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
import { mcpPath } from './mcp/mcp-path.ts';
import { type McpPorts, mcpRoute } from './mcp/mcp-route.ts';
import { readMcpBody } from './mcp/read-mcp-body.ts';
import { offersTaskResult } from './mcp/task-result-tool.ts';
import { type Metrics, metricsOf } from './metrics/metrics.ts';
import type { MetricsPorts } from './metrics/metrics-ports.ts';
import { type AdmitPorts, admit } from './middleware/admit.ts';
import { allowMethods } from './middleware/allow-methods.ts';
import { allowOrigins } from './middleware/allow-origins.ts';
import {
  type AuthenticatePorts,
  acsPath,
  authenticate,
  metricsPath,
} from './middleware/authenticate.ts';
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
import { nameSpan, traceRequest } from './middleware/trace-request.ts';
import type { RequestState } from './request-state.ts';
import { type AcsSettings, acsAnswer, acsErrors, longestAcsBody } from './routes/acs.ts';
import {
  agentCard,
  cardPath,
  legacyAgentCard,
  legacyCardPath,
  restAgentCard,
  restCardPath,
} from './routes/agent-card-routes.ts';
import {
  type AuditKeysPorts,
  auditKeys,
  auditKeysPath,
  cachedAuditKeys,
} from './routes/audit-keys.ts';
import { decisionList, decisions } from './routes/decisions.ts';
import { type DeferralPorts, deferralsGet, deferralsList } from './routes/deferrals.ts';
import {
  type DelegationPorts,
  delegationsEnd,
  delegationsGive,
  delegationsList,
  delegationsPath,
} from './routes/delegations.ts';
import { eventsFollow } from './routes/events.ts';
import { serveFrontPage } from './routes/front-page-route.ts';
import { grantsList, grantsPath, grantsRevoke } from './routes/grants.ts';
import { type HealthPorts, healthz, readyz } from './routes/health.ts';
import { holdsAsk, holdsCancel, holdsGet, holdsOutcome, holdsPath } from './routes/holds.ts';
import { type HookPorts, hooksAnswer, hooksDeny, hooksPath } from './routes/hooks.ts';
import { answerParseError, jsonRpc } from './routes/json-rpc-route.ts';
import {
  type McpServerPorts,
  mcpLoginFinish,
  mcpLoginStart,
  mcpLogout,
  mcpServersList,
  mcpServersPath,
  mcpToolsAccept,
  type RecordOf,
} from './routes/mcp-servers.ts';
import { openApi, openApiPath } from './routes/openapi.ts';
import { type PolicyReloadPorts, policyReload } from './routes/policy-reload.ts';
import { protectedResource } from './routes/protected-resource.ts';
import { type ReceiptPorts, receiptsGet } from './routes/receipts.ts';
import { sessionsGet, sessionsList } from './routes/sessions.ts';
import { tasksCancel } from './routes/tasks-cancel.ts';
import { tasksEvents } from './routes/tasks-events.ts';
import { tasksGet, tasksList } from './routes/tasks-get.ts';
import { tasksInspection } from './routes/tasks-inspection.ts';
import { tasksSend } from './routes/tasks-send.ts';
import { tasksSubscribe } from './routes/tasks-subscribe.ts';
import type { TrafficLimits } from './traffic.ts';
import {
  calledInvocation,
  heldInvocation,
  mcpInvocation,
  messageInvocation,
  sentInvocation,
} from './wire/admission.ts';
import { noDecision } from './wire/decision.ts';
import { metadataPath } from './wire/protected-resource.ts';
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
  const router = createRouter(ports, metrics.route);
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
  metrics: Metrics['route'],
): Router<RequestState> {
  const a2a = a2aCalls(ports);
  const rest = a2aRest(ports);
  const router = new Router<RequestState>({ sensitive: true });
  router.post('/tasks/send', readJson(), admit(ports, sentInvocation), tasksSend(ports));
  router.post(
    '/tasks/sendSubscribe',
    readJson(),
    admit(ports, sentInvocation),
    tasksSubscribe(ports),
  );
  router.post('/tasks/:id/decisions', readJson({ malformed: noDecision }), decisions(ports));
  router.post('/tasks/:id/cancel', readJson(), tasksCancel());
  router.get('/tasks/:id/events', tasksEvents());
  router.get('/tasks/:id/inspection', tasksInspection());
  router.get('/tasks/:id/calls/:call_id/receipt', receiptsGet(ports));
  router.get('/tasks/:id', tasksGet());
  router.get('/tasks', tasksList(ports));
  router.get('/events', eventsFollow());
  router.get('/sessions/:id', sessionsGet());
  router.get('/sessions', sessionsList());
  router.post('/deferrals/decisions', readJson(), decisionList(ports));
  router.get('/deferrals/:id', deferralsGet(ports));
  router.get('/deferrals', deferralsList());
  router.post('/policy/reload', policyReload(ports));
  router.get(grantsPath, grantsList());
  router.delete(`${grantsPath}/:id`, readJson(), grantsRevoke());
  router.get(delegationsPath, delegationsList(ports));
  router.post(delegationsPath, readJson(), delegationsGive(ports));
  router.delete(`${delegationsPath}/:id`, readJson(), delegationsEnd(ports));
  if (ports.gate !== null) {
    const gate = { ...ports.gate, clock: ports.clock };
    router.post(holdsPath, readJson(), admit(ports, heldInvocation), holdsAsk(gate));
    router.get(`${holdsPath}/:id`, holdsGet(gate));
    router.post(`${holdsPath}/:id/outcome`, readJson(), holdsOutcome());
    router.post(
      `${holdsPath}/:id/decisions`,
      readJson({ malformed: noDecision }),
      decisions(ports),
    );
    router.delete(`${holdsPath}/:id`, readJson(), holdsCancel());
    const hook = { ...ports, ...ports.gate };
    if (ports.gate.acs !== null) {
      const acs = { ...hook, ...ports.gate.acs };
      const read = readJson({ longest: longestAcsBody });
      router.post(acsPath, acsErrors(ports), read, acsAnswer(acs));
    }
    router.post(`${hooksPath}/:dialect`, hooksDeny(hook), readJson(), hooksAnswer(hook));
  }
  router.post(
    '/',
    answerParseError(),
    readJson(),
    nameSpan(),
    admit(ports, calledInvocation),
    jsonRpc({ ...ports, a2a }),
  );
  if (ports.mcp !== null) {
    const face = ports.mcp;
    const mcp = mcpRoute(face, ports);
    const invocation = (body: unknown) => mcpInvocation(body, offersTaskResult(face));
    router.post(mcpPath, readMcpBody(), admit(ports, invocation), mcp);
    router.get(mcpPath, mcp);
    router.delete(mcpPath, mcp);
  }
  for (const { verb, path, isSend } of restRoutes) {
    const admitted = isSend ? [admit(ports, messageInvocation)] : [];
    router[verb](path, readJson(a2aBody), ...admitted, rest);
  }
  if (ports.mcpServers !== undefined) {
    const servers = ports.mcpServers;
    const record: RecordOf = (state, event) =>
      ports.record({ ...requestEnvelope(ports, state, state.caller), ...event });
    const one = `${mcpServersPath}/:name`;
    router.get(mcpServersPath, mcpServersList(servers));
    router.post(`${one}/accept`, readJson(), mcpToolsAccept(servers));
    router.post(`${one}/login`, readJson(), mcpLoginStart(servers));
    router.post(`${one}/login/finish`, readJson(), mcpLoginFinish(servers, record));
    router.post(`${one}/logout`, readJson(), mcpLogout(servers, record));
  }
  if (ports.resource !== undefined && ports.resource !== null) {
    const publish = protectedResource(ports.resource);
    router.get(metadataPath, publish);
    router.get(`${metadataPath}${mcpPath}`, publish);
  }
  router.get('/healthz', healthz(ports));
  router.get('/readyz', readyz({ system }));
  router.get(metricsPath, metrics);
  router.get('/.well-known/service-audit-keys', auditKeys(ports));
  router.get(auditKeysPath, cachedAuditKeys(ports));
  router.get(restCardPath, restAgentCard(ports));
  router.get(cardPath, agentCard(ports));
  router.get(legacyCardPath, legacyAgentCard(ports));
  router.get('/', serveFrontPage(ports));
  router.get(openApiPath, openApi(ports, router));
  return router;
}
