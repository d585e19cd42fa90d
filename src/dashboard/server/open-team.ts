import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { PageFiles } from '../../http/middleware/page-files.ts';
import type { RequestState } from '../../http/request-state.ts';
import { sessionCookies } from '../../http/sign-in/session-cookies.ts';
import type { DashboardPorts } from '../routes/dashboard-ports.ts';
import { guardPublic } from './guard-public.ts';
import { SessionStreams } from './session-streams.ts';
import { openTeamAccess, type TeamAccess, type TeamOptions } from './team-access.ts';
import { teamRouter } from './team-router.ts';

/** The people of a dashboard at its public address. */
export interface Team {
  trustedProxies: readonly string[];
  /** Admits only operators to the routes of the dashboard. */
  guard: Middleware;
  /** Creates the routes of the sign-in and of the approvals page. */
  router: (ports: DashboardPorts) => Router<RequestState>;
  close: () => void;
}

export interface TeamPorts {
  directory: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
  /** The built approvals page; `null` if it does not exist. */
  approvalsPage: PageFiles | null;
}

/** Opens the sign-in of people, their sessions and their pages. Throws errors of the file system and of SQLite. */
export async function openTeam(options: TeamOptions, ports: TeamPorts): Promise<Team> {
  const team = await openTeamAccess(options, ports);
  const cookies = sessionCookies(options.publicOrigin);
  const isAdmitted = (id: string) => isOfOperator(team, id);
  const streams = new SessionStreams({ isAdmitted, idle: team.idle, clock: ports.clock });
  return {
    trustedProxies: team.trustedProxies,
    guard: guardPublic({ team, cookie: cookies.session, streams, log: ports.log }),
    router: (routes) =>
      teamRouter({ team, cookies, streams, approvalsPage: ports.approvalsPage }, routes),
    close() {
      streams.close();
      team.close();
    },
  };
}

/** Returns whether the person of a session is an operator now, or was one before the issuer stopped to answer. */
async function isOfOperator({ access, isOperator }: TeamAccess, id: string): Promise<boolean> {
  const open = await access.read(id);
  const confirmation = open === null ? null : await access.confirm(open);
  if (open === null || confirmation === null || confirmation.kind === 'ended') return false;
  const { session } = confirmation.kind === 'confirmed' ? confirmation.open : open;
  return isOperator(session.caller);
}
