import type { RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';
import { readSessionPage } from '../wire/query.ts';
import { presentBrief, presentSession } from '../wire/session.ts';

/** `GET /sessions`: the caller's own sessions, most recently changed first. */
export function sessionsList() {
  return async function list(ctx: RoutedContext) {
    const { sessions, cursor } = await ctx.state.tasks.listSessions(readSessionPage(ctx.query));
    ctx.body = {
      sessions: sessions.map(presentBrief),
      ...(cursor === null ? {} : { next_cursor: cursor }),
    };
  };
}

/** `GET /sessions/{id}`: one of the caller's own sessions, with its messages. */
export function sessionsGet() {
  return async function get(ctx: RoutedContext) {
    const session = await ctx.state.tasks.findSession(ctx.params['id'] ?? '');
    if (session === undefined) throw new Problem('session_not_found', 'session not found');
    ctx.body = presentSession(session);
  };
}
