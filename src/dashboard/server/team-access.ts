import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadWebAccess } from '../../actors/access/access.ts';
import type { DashboardSettings } from '../../actors/config/config.ts';
import { PeopleDirectory } from '../../actors/people/people.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { WebAccess } from '../../actors/ports/web-access.ts';
import { loadWebSessionStore } from '../../actors/records/records.ts';
import type { Caller } from '../../machines/domain/task.ts';
import { fulfils, readEntry } from '../../machines/governance/standing.ts';

/** The sign-in of the people of a dashboard at its public address. */
export interface TeamAccess {
  access: WebAccess;
  /** Returns whether a person may do all that the dashboard offers. */
  isOperator: (caller: Caller) => boolean;
  /** Time in milliseconds after which a session without an action ends. */
  idle: number;
  trustedProxies: readonly string[];
  close: () => void;
}

/** Paths of the sign-in at the public address. */
export const signInPath = '/sign-in';
export const callbackPath = '/sign-in/callback';

/** Where a dashboard is for its people, and how they sign in. */
export interface TeamOptions {
  /** Origin at which browsers open the page. */
  publicOrigin: string;
  settings: DashboardSettings;
}

/**
 * Opens the sign-in of a dashboard. Sessions and the key of their cookies are in `.service/dashboard.db`, which only
 * this user can read, so that a restart signs nobody out. Throws errors of the file system and of SQLite.
 */
export async function openTeamAccess(
  { publicOrigin, settings }: TeamOptions,
  {
    directory,
    env,
    clock,
    log,
  }: { directory: string; env: NodeJS.ProcessEnv; clock: Clock; log: Log },
): Promise<TeamAccess> {
  const { sign_in: signIn, operators, claims, idle, lifetime, trusted_proxies } = settings;
  const [{ openWebAccess }, { openWebSessionStore }] = await Promise.all([
    loadWebAccess(),
    loadWebSessionStore(),
  ]);
  const folder = join(directory, '.service');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { sessions, keys, close } = openWebSessionStore(join(folder, 'dashboard.db'));
  const own = operators.map(readEntry).flatMap((entry) => (entry?.kind === 'claim' ? [entry] : []));
  const reads = { groups: true, claims: new Set([...claims, ...own.map(({ name }) => name)]) };
  const access = openWebAccess(
    { public_url: publicOrigin, sign_in: signIn, idle, lifetime },
    {
      // The issuer is the name under which the agents know these people.
      provider: signIn.issuer,
      page: { callback: callbackPath, home: '/', setting: 'sign_in' },
      ...{ env, sessions, clock, log },
      key: (purpose) => keys.of(purpose),
      reads: () => reads,
    },
  );
  const people = new PeopleDirectory();
  return {
    access,
    isOperator(caller) {
      const email = caller.email ?? null;
      const { as } = people.standingOf({ email, caller }, clock.now());
      return operators.some((entry) => fulfils({ email, as }, entry));
    },
    idle,
    trustedProxies: trusted_proxies,
    close,
  };
}
