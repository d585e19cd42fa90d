import type Router from '@koa/router';
import { z } from 'zod';
import type { WorkspaceAgent } from '../../actors/workspace/workspace.ts';
import { readJson } from '../../http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../http/request-state.ts';
import { Problem } from '../../http/wire/problem.ts';
import { EventStream } from '../../http/wire/sse.ts';
import { idForm, isTaskId } from '../../machines/task/task-id.ts';
import { asPerson } from './as-person.ts';
import { bodyOf } from './body-of.ts';
import type { DashboardPorts } from './dashboard-ports.ts';
import { dashboardProblem } from './dashboard-problem.ts';
import { agentOf, pass, passedPart, whileAsked } from './relay.ts';

const chatBody = z.object({
  message: z.string().trim().min(1),
  session_id: z.string().regex(idForm).optional(),
});

const told: ReadonlySet<string> = new Set(['status', 'progress', 'result']);

/** Adds the routes of conversations with an agent. */
export function addChatRoutes(router: Router<RequestState>, ports: DashboardPorts): void {
  const { workspace, ids } = ports;

  router.post('/api/agents/:id/chat', readJson(), async (ctx: RoutedContext) => {
    const agent = agentOf(ctx, workspace);
    const wrong = 'message must be a string that is not empty';
    const { message, session_id: sessionId } = bodyOf(ctx, chatBody, wrong);
    const said = {
      kind: 'message',
      role: 'user',
      messageId: ids.next(),
      parts: [{ kind: 'text', text: message }],
      ...(sessionId === undefined ? {} : { contextId: sessionId }),
    };
    // From here on the task runs independently of this connection. Closing the page cancels no waiting call.
    const params = { message: said, configuration: { blocking: false } };
    const call = { jsonrpc: '2.0', id: 1, method: 'message/send', params };
    const { status, body: answer } = await agent
      .line()
      .json({ method: 'POST', path: '/', body: call, ...asPerson(ctx) });
    const { result, error } = Object(answer) as { result?: unknown; error?: { message?: unknown } };
    const { id, contextId } = Object(result) as { id?: unknown; contextId?: unknown };
    if (status !== 200) return pass(ctx, { status, body: answer });
    if (!isTaskId(id) || typeof contextId !== 'string') {
      const reason =
        typeof error?.message === 'string' ? error.message : 'the agent took no message';
      throw new Problem('bad_gateway', reason.slice(0, 1_000));
    }
    await relayTask(ctx, agent, { taskId: id, sessionId: contextId });
  });

  router.get('/api/agents/:id/tasks/:tid/events', async (ctx: RoutedContext) => {
    const agent = agentOf(ctx, workspace);
    const taskId = passedPart(ctx, 'tid');
    const { status, body } = await agent.line().json({ method: 'GET', path: `/tasks/${taskId}` });
    if (status !== 200) return pass(ctx, { status, body });
    const { contextId } = Object(body) as { contextId?: unknown };
    await relayTask(ctx, agent, { taskId, sessionId: String(contextId) });
  });

  router.get('/api/agents/:id/sessions', async (ctx: RoutedContext) => {
    const line = agentOf(ctx, workspace).line();
    const signal = whileAsked(ctx);
    const { status, body } = await line.json({
      method: 'GET',
      path: '/sessions?limit=200',
      signal,
      ...asPerson(ctx),
    });
    const { sessions } = Object(body) as { sessions?: unknown };
    if (status !== 200) return pass(ctx, { status, body });
    ctx.body = JSON.stringify(Array.isArray(sessions) ? sessions : []);
    ctx.type = 'json';
  });

  router.get('/api/agents/:id/sessions/:sid', async (ctx: RoutedContext) => {
    const line = agentOf(ctx, workspace).line();
    const path = `/sessions/${passedPart(ctx, 'sid')}`;
    const signal = whileAsked(ctx);
    pass(ctx, await line.json({ method: 'GET', path, signal, ...asPerson(ctx) }));
  });
}

/** Streams an agent's task to a page until it ends, then sends the ID of its session. */
async function relayTask(
  ctx: RoutedContext,
  agent: WorkspaceAgent,
  { taskId, sessionId }: { taskId: string; sessionId: string },
): Promise<void> {
  const controller = new AbortController();
  const stream = new EventStream(ctx, () => controller.abort());
  const done = { event: 'done', data: { session_id: sessionId, task_id: taskId } };
  try {
    const path = `/tasks/${taskId}/events`;
    const { signal } = controller;
    for await (const message of agent.line().events({ method: 'GET', path, signal })) {
      const { event = '', data } = message;
      if (told.has(event)) stream.send({ event, data });
    }
    stream.finish([done]);
  } catch (error) {
    const problem = dashboardProblem(error);
    const text = problem instanceof Problem ? problem.message : 'the answer of the agent broke off';
    stream.finish([{ event: 'error', data: { error: text } }, done]);
  }
}
