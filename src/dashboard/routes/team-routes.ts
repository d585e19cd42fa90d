import type Router from '@koa/router';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import { sessionOf } from '../../http/sign-in/find-session.ts';
import { presentPerson, type SessionJson } from '../../http/wire/approvals-page.ts';
import { noDecision } from '../../http/wire/decision.ts';
import { Problem } from '../../http/wire/problem.ts';
import type { Caller } from '../../machines/domain/task.ts';
import { isJsonObject, type JsonValue } from '../../machines/json.ts';
import { asPerson } from './as-person.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { pass, passedPart, whileAsked } from './relay.ts';
import { ofRunning } from './tasks/of-running.ts';
import { patienceForMany } from './tasks/order-task.ts';

/** Milliseconds to wait for each agent. */
const patience = 3_000;

/** Maximum number of calls of one agent. */
const mostOfOneAgent = 100;

export interface TeamRoutePorts extends Pick<DashboardPorts, 'workspace'> {
  /** Returns whether a person may do all that the dashboard offers. */
  isOperator: (caller: Caller) => boolean;
}

/**
 * Adds the routes of the approvals page of a team: the calls of all running agents that list the person who has signed
 * in, or that the person requested (docs/contract/dashboard.md). Each agent limits what the person sees and decides.
 */
export function addTeamRoutes(
  router: Router<RequestState>,
  api: string,
  { workspace, isOperator }: TeamRoutePorts,
): void {
  const running = () => workspace.agents().filter(({ state }) => state === 'running');

  router.get(`${api}/session`, (ctx: RoutedContext) => {
    ctx.body = {
      agent_id: null,
      ...presentPerson(sessionOf(ctx).session),
      ...(isOperator(sessionOf(ctx).session.caller) ? { is_operator: true } : {}),
    } satisfies SessionJson;
  });
  router.get(`${api}/deferrals`, async (ctx: RoutedContext) => {
    const isDecided = ctx.query['decided_by'] === 'me';
    const filter = isDecided ? 'decided_by=me' : 'order=deadline';
    const path = `/deferrals?${filter}&limit=${mostOfOneAgent}`;
    const asked = { ...asPerson(ctx), signal: whileAsked(ctx) };
    const { found: pages, unasked } = await ofRunning(workspace, path, pageOf, asked);
    const order = isDecided ? latestFirst : deadlineFirst;
    ctx.body = {
      deferrals: pages.flatMap(({ deferrals }) => deferrals).toSorted(order),
      total: pages.reduce((sum, { total }) => sum + total, 0),
      unasked,
    };
  });
  router.get(`${api}/deferrals/:id`, async (ctx: RoutedContext) => {
    const path = `/deferrals/${passedPart(ctx, 'id')}`;
    const asked = {
      method: 'GET',
      path,
      patience,
      ...asPerson(ctx),
      signal: whileAsked(ctx),
    } as const;
    // A link to a call names no agent.
    const answers = await Promise.all(
      running().map(async (agent) => {
        const answer = await agent
          .line()
          .json(asked)
          .catch(() => null);
        return answer?.status === 200 ? ofAgent(agent.id, answer.body) : null;
      }),
    );
    const found = answers.find((one) => one !== null);
    if (found === undefined)
      throw new Problem('deferral_not_found', 'no pending deferral with this id');
    ctx.body = found;
  });
  router.post(`${api}/tasks/:tid/questions`, (): never => {
    const error =
      'this call needs a passkey, which the approvals page of its agent asks for; decide there';
    throw new Problem('passkey_required', error);
  });
  router.post(
    `${api}/tasks/:tid/decisions`,
    readJson({ malformed: noDecision }),
    async (ctx: RoutedContext) => {
      await order(ctx, `/tasks/${passedPart(ctx, 'tid')}/decisions`);
    },
  );
  router.post(`${api}/deferrals/decisions`, readJson(), async (ctx: RoutedContext) => {
    await order(ctx, '/deferrals/decisions', patienceForMany);
  });

  /** Forwards decisions to the agent that the query names. */
  async function order(ctx: RoutedContext, path: string, patience?: number): Promise<void> {
    const { agent: id } = ctx.query;
    const agent = running().find((one) => one.id === id);
    if (agent === undefined) {
      throw new Problem(
        'agent_not_found',
        'name a running agent in the query, such as ?agent=till',
      );
    }
    const sent = ctx.request.body as JsonValue;
    const body = isJsonObject(sent) ? sent : {};
    const limit = patience === undefined ? {} : { patience };
    pass(ctx, await agent.line().json({ method: 'POST', path, body, ...limit, ...asPerson(ctx) }));
  }
}

interface CallPage {
  deferrals: Record<string, unknown>[];
  total: number;
}

function pageOf(body: unknown, agentId: string): CallPage[] {
  const { deferrals, total } = Object(body) as Record<string, unknown>;
  const listed = Array.isArray(deferrals) ? (deferrals as unknown[]) : [];
  return [
    {
      deferrals: listed.map((one) => ofAgent(agentId, one)),
      total: typeof total === 'number' ? total : listed.length,
    },
  ];
}

function ofAgent(id: string, call: unknown): Record<string, unknown> {
  return { ...(call as object), agent_id: id };
}

function deadlineFirst(one: Record<string, unknown>, other: Record<string, unknown>): number {
  return String(one['expires_at']).localeCompare(String(other['expires_at']));
}

function latestFirst(one: Record<string, unknown>, other: Record<string, unknown>): number {
  return String(other['decided_at']).localeCompare(String(one['decided_at']));
}
