import type { Context } from 'koa';
import {
  type LineAnswer,
  sentenceOf,
  type Workspace,
  type WorkspaceAgent,
} from '../../actors/workspace/workspace.ts';
import type { RoutedContext } from '../../http/request-state.ts';
import { Problem } from '../../http/wire/problem.ts';
import { isKebabName } from '../../machines/kebab-case.ts';
import { isTaskId } from '../../machines/task/task-id.ts';

/** Finds the agent named in a path. Throws a 400 Problem for an invalid ID and a 404 Problem for an unknown one. */
export function agentOf(ctx: RoutedContext, workspace: Workspace): WorkspaceAgent {
  const { id } = ctx.params;
  if (!isKebabName(id)) {
    throw new Problem('invalid_path', 'the id of an agent is lower-case words with hyphens');
  }
  const agent = workspace.find(id);
  if (agent === undefined) throw new Problem('agent_not_found', `there is no agent ${id}`);
  return agent;
}

/** Returns a path part to forward to an agent. Throws a 404 Problem for a part that could change the path's target. */
export function passedPart(ctx: RoutedContext, name: string): string {
  const part = ctx.params[name] ?? '';
  if (isTaskId(part) && part !== '.' && part !== '..') return part;
  throw new Problem('not_found', 'not found');
}

/**
 * Forwards an agent's response. A response that is not usable, such as a redirect or a server error of the agent,
 * becomes a 502 Problem, because it is not an error of the dashboard.
 */
export function pass(ctx: RoutedContext, { status, body }: LineAnswer): void {
  const isAnswer = (status >= 200 && status < 300) || (status >= 400 && status < 500);
  if (!isAnswer && status !== 503) throw new Problem('bad_gateway', sentenceOf({ status, body }));
  ctx.status = status;
  ctx.body = JSON.stringify(body);
  ctx.type = 'json';
}

/** Returns a signal that aborts when the client disconnects or has already disconnected. */
export function whileAsked({ res }: Pick<Context, 'res'>): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => controller.abort(new Problem('client_left', 'the client has left'));
  if (res.destroyed) leave();
  else res.once('close', leave);
  return controller.signal;
}
