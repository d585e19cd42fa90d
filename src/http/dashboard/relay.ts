import type { Context } from 'koa';
import {
  AgentStateError,
  ConfigFileError,
  LineError,
  type Workspace,
  type WorkspaceAgent,
} from '../../actors/workspace/workspace.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';

const idPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Finds the agent that a path names. Throws a Problem: 400 for what is no id, 404 for one that is not there. */
export function agentOf(ctx: RoutedContext, workspace: Workspace): WorkspaceAgent {
  const id = ctx.params['id'] ?? '';
  if (id.length > 64 || !idPattern.test(id)) {
    throw new Problem(400, { error: 'the id of an agent is lower-case words with hyphens' });
  }
  const agent = workspace.find(id);
  if (agent === undefined) throw new Problem(404, { error: `there is no agent ${id}` });
  return agent;
}

/** Reads a part of a path that goes on to an agent: nothing in it may lead elsewhere. Throws a 404 Problem. */
export function passedPart(ctx: RoutedContext, name: string): string {
  const part = ctx.params[name] ?? '';
  if (/^[A-Za-z0-9._:-]{1,128}$/.test(part) && part !== '.' && part !== '..') return part;
  throw new Problem(404, { error: 'not found' });
}

/** Says in which way an error of the workspace reaches the page; any other error stays as it is. */
export function workspaceProblem(error: unknown): unknown {
  if (error instanceof LineError) {
    return new Problem(error.code === 'slow' ? 504 : 502, { error: error.message });
  }
  if (error instanceof ConfigFileError) return new Problem(409, { error: error.message });
  if (!(error instanceof AgentStateError)) return error;
  const { code, message } = error;
  if (code === 'passphrase_needed') {
    return new Problem(400, { error: message, needs_passphrase: true });
  }
  return new Problem(code === 'not_running' ? 400 : 409, { error: message });
}

/** A signal that aborts when the client leaves. */
export function whileAsked({ res }: Pick<Context, 'res'>): AbortSignal {
  const controller = new AbortController();
  res.once('close', () => controller.abort(new Problem(499, { error: 'the client has left' })));
  return controller.signal;
}
