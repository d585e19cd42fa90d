import type { Context } from 'koa';
import {
  AddSkillError,
  AgentStateError,
  ConfigFileError,
  type LineAnswer,
  LineError,
  sentenceOf,
  type Workspace,
  type WorkspaceAgent,
} from '../../actors/workspace/workspace.ts';
import { isKebabName } from '../../machines/kebab-case.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';

/** Finds the agent that a path names. Throws a Problem: 400 for what is no id, 404 for one that is not there. */
export function agentOf(ctx: RoutedContext, workspace: Workspace): WorkspaceAgent {
  const { id } = ctx.params;
  if (!isKebabName(id)) {
    throw new Problem(400, { error: 'the id of an agent is lower-case words with hyphens' });
  }
  const agent = workspace.find(id);
  if (agent === undefined) throw new Problem(404, { error: `there is no agent ${id}` });
  return agent;
}

/** Reads a part of a path that goes on to an agent: nothing in it may lead elsewhere. Throws a 404 Problem. */
export function passedPart(ctx: RoutedContext, name: string): string {
  const part = ctx.params[name] ?? '';
  if (isTaskId(part) && part !== '.' && part !== '..') return part;
  throw new Problem(404, { error: 'not found' });
}

/**
 * Gives on what the agent answered. What is no answer, such as a redirect or a defect of the agent, is a 502 Problem: it
 * says nothing of the dashboard itself.
 */
export function pass(ctx: RoutedContext, { status, body }: LineAnswer): void {
  const isAnswer = (status >= 200 && status < 300) || (status >= 400 && status < 500);
  if (!isAnswer && status !== 503) throw new Problem(502, { error: sentenceOf({ status, body }) });
  ctx.status = status;
  ctx.body = JSON.stringify(body);
  ctx.type = 'json';
}

/** Says in which way an error of the workspace reaches the page; any other error stays as it is. */
export function workspaceProblem(error: unknown): unknown {
  if (error instanceof LineError) {
    return new Problem(error.code === 'slow' ? 504 : 502, { error: error.message });
  }
  if (error instanceof AddSkillError) return new Problem(409, { error: error.message });
  if (error instanceof ConfigFileError) return new Problem(409, { error: error.message });
  if (!(error instanceof AgentStateError)) return error;
  const { code, message } = error;
  if (code === 'passphrase_needed') {
    return new Problem(400, { error: message, needs_passphrase: true });
  }
  return new Problem(code === 'not_running' ? 400 : 409, { error: message });
}

/** A signal that aborts when the client leaves, or has left already. */
export function whileAsked({ res }: Pick<Context, 'res'>): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => controller.abort(new Problem(499, { error: 'the client has left' }));
  if (res.destroyed) leave();
  else res.once('close', leave);
  return controller.signal;
}
