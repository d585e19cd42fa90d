import type Router from '@koa/router';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import {
  presentDecisionsOf,
  presentRow,
  presentStatechart,
  readAgentTask,
  readAgentTasks,
  readDeferral,
  readInspection,
  titleOf,
} from '../../http/wire/dashboard/agent-task.ts';
import type { DeferralsJson } from '../../http/wire/dashboard/held-call-json.ts';
import type { InspectionJson } from '../../http/wire/dashboard/inspection-json.ts';
import type { TaskDetailJson } from '../../http/wire/dashboard/task-detail-json.ts';
import type { TaskRowJson } from '../../http/wire/dashboard/task-row-json.ts';
import { Problem } from '../../http/wire/problem.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { wholeTaskPath } from '../reading/agent-tasks.ts';
import { HeldCalls } from '../workspace/held-calls.ts';
import type { HeldLooks } from '../workspace/held-looks.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { agentOf, pass, passedPart, whileAsked } from './relay.ts';

/** Maximum number of one agent's calls shown on a page. */
const mostOfOneAgent = 10_000;

/** Maximum number of an agent's result pages searched for tasks that match a filter unknown to the agent. */
const mostPages = 10;

/** Adds the routes for tasks, their waiting calls, and decisions on these calls. */
export function addTaskRoutes(
  router: Router<RequestState>,
  ports: DashboardPorts,
  looks: HeldLooks,
): void {
  const { workspace, audit, operator, clock } = ports;
  const held = new HeldCalls(ports, looks);

  router.get('/api/agents/:id/tasks', async (ctx: RoutedContext) => {
    const agent = agentOf(ctx, workspace);
    const signal = whileAsked(ctx);
    const isWanted = filterOf(ctx);
    const tasks: TaskRowJson[] = [];
    let next = textOf(ctx, 'cursor');
    const limit = limitOf(ctx);
    for (let page = 0; page < mostPages && tasks.length < limit; page += 1) {
      const query = new URLSearchParams({ limit: String(limit), include: 'artifacts,origin' });
      if (next !== null) query.set('cursor', next);
      const state = textOf(ctx, 'state');
      if (state !== null) query.set('state', state);
      const path = `/tasks?${query.toString()}`;
      const { status, body } = await agent.line().json({ method: 'GET', path, signal });
      if (status !== 200) return pass(ctx, { status, body });
      const found = readAgentTasks(body);
      tasks.push(...found.tasks.map(presentRow).filter(isWanted));
      next = found.next;
      if (next === null) break;
    }
    ctx.body = { tasks, ...(next === null ? {} : { next_cursor: next }) };
  });

  router.get('/api/agents/:id/tasks/:tid', async (ctx: RoutedContext) => {
    const agent = agentOf(ctx, workspace);
    const id = passedPart(ctx, 'tid');
    const signal = whileAsked(ctx);
    const line = agent.line();
    const [{ status, body }, timeline] = await Promise.all([
      line.json({ method: 'GET', path: wholeTaskPath(id), signal }),
      // The audit page reports an unreadable log.
      audit.timeline(agent.directory, id, signal).catch(() => []),
    ]);
    if (status !== 200) return pass(ctx, { status, body });
    const task = readAgentTask(body);
    if (task === null) throw new Problem(502, { error: 'the agent answered with what is no task' });
    const deferral = task.metadata?.deferral?.id;
    const waiting = isTaskId(deferral)
      ? await line.json({ method: 'GET', path: `/deferrals/${deferral}`, signal })
      : null;
    ctx.body = {
      ...presentRow(task),
      task: body,
      statechart: presentStatechart(task),
      decisions: presentDecisionsOf(task),
      deferral: readDeferral(waiting?.body, agent.id, titleOf(task)),
      timeline,
    } satisfies TaskDetailJson;
  });

  router.get('/api/agents/:id/tasks/:tid/inspection', async (ctx: RoutedContext) => {
    const line = agentOf(ctx, workspace).line();
    const path = `/tasks/${passedPart(ctx, 'tid')}/inspection`;
    const { status, body } = await line.json({ method: 'GET', path, signal: whileAsked(ctx) });
    if (status !== 200) return pass(ctx, { status, body });
    const events = readInspection(body);
    if (events === null) {
      throw new Problem(502, { error: 'the agent answered with what is no inspection' });
    }
    ctx.body = { events } satisfies InspectionJson;
  });

  router.get('/api/deferrals', async (ctx: RoutedContext) => {
    const running = workspace.agents().filter(({ state }) => state === 'running');
    const most = mostOf(ctx);
    if (most !== null) for (const { id } of running) looks.deepen(id, most);
    const { deferrals, total, unasked } = await held.of(running);
    ctx.body = {
      deferrals: deferrals.toSorted((one, other) => one.expires_at.localeCompare(other.expires_at)),
      total,
      unasked,
      now: new Date(clock.now()).toISOString(),
    } satisfies DeferralsJson;
  });

  for (const action of ['decisions', 'cancel'] as const) {
    router.post(`/api/agents/:id/tasks/:tid/${action}`, readJson(), async (ctx: RoutedContext) => {
      const agent = agentOf(ctx, workspace);
      const path = `/tasks/${passedPart(ctx, 'tid')}/${action}`;
      const { token, body } = readDecision(ctx.request.body);
      const given = token === null ? {} : { token };
      // A token or an email determines the approver's name.
      const isNamed = token !== null || typeof body['approver_email'] === 'string';
      const approver = action === 'decisions' && !isNamed ? { approver: operator } : {};
      const sent = { ...approver, ...body };
      pass(ctx, await agent.line().json({ method: 'POST', path, body: sent, ...given }));
    });
  }
}

/**
 * Separates the token from a decision. The token is sent to the agent as a credential and is not part of the decision.
 */
function readDecision(sent: unknown): { token: string | null; body: JsonObject } {
  if (!isJsonObject(sent as JsonValue)) return { token: null, body: {} };
  const { token = null, ...body } = sent as JsonObject;
  if (token === null) return { token, body };
  if (typeof token === 'string' && /^[\x21-\x7e]{1,16384}$/.test(token)) return { token, body };
  throw new Problem(400, { error: 'token must be a bearer token without spaces' });
}

/** Reads `most`, the number of calls requested per agent. Throws a 400 Problem. */
function mostOf(ctx: RoutedContext): number | null {
  const text = textOf(ctx, 'most');
  if (text === null) return null;
  const most = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (most >= 1 && most <= mostOfOneAgent) return most;
  throw new Problem(400, { error: `most must be a whole number from 1 to ${mostOfOneAgent}` });
}

function filterOf(ctx: RoutedContext): (row: TaskRowJson) => boolean {
  const tool = textOf(ctx, 'tool');
  const execution = textOf(ctx, 'workflow_execution_id');
  return (row) =>
    (tool === null || row.tool === tool) &&
    (execution === null || row.workflow?.workflow_execution_id === execution);
}

function limitOf(ctx: RoutedContext): number {
  const text = textOf(ctx, 'limit') ?? '100';
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 500) return limit;
  throw new Problem(400, { error: 'limit must be a whole number from 1 to 500' });
}

function textOf(ctx: RoutedContext, name: string): string | null {
  const value = ctx.query[name];
  if (value === undefined || value === '') return null;
  if (typeof value === 'string' && value.length <= 256) return value;
  throw new Problem(400, { error: `${name} must be one text of at most 256 characters` });
}
