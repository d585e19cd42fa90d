import { holding } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { Problem, refusal } from '../wire/problem.ts';
import { readSessionPage } from '../wire/query.ts';
import { presentBrief, presentSession, session, sessionPage } from '../wire/session.ts';
import { badQuery, page, type Routes } from './route.ts';

/** The routes of sessions. */
export const sessionRoutes: Routes = {
  'GET /sessions/:id': {
    id: 'getSession',
    tag: 'tasks',
    says: 'Shows the messages of one session of the caller.',
    answers: {
      200: holding('The session.', session),
      404: holding('The caller has no session with this id.', refusal),
    },
    answer: showSession,
  },
  'GET /sessions': {
    id: 'listSessions',
    tag: 'tasks',
    says: 'Lists the sessions of the caller, the one that changed last first: the tasks of one contextId.',
    parameters: page,
    answers: { 200: holding('One page.', sessionPage), 400: badQuery },
    answer: listSessions,
  },
};

async function listSessions(ctx: RoutedContext): Promise<void> {
  const { sessions, cursor } = await ctx.state.tasks.listSessions(readSessionPage(ctx.query));
  ctx.body = {
    sessions: sessions.map(presentBrief),
    ...(cursor === null ? {} : { next_cursor: cursor }),
  };
}

async function showSession(ctx: RoutedContext): Promise<void> {
  const found = await ctx.state.tasks.findSession(ctx.params['id'] ?? '');
  if (found === undefined) throw new Problem('session_not_found', 'session not found');
  ctx.body = presentSession(found);
}
