import { randomBytes } from 'node:crypto';
import { createActor, fromPromise, waitFor } from 'xstate';
import type { Caller } from '../../../machines/domain/task.ts';
import type { CallerReads } from '../../../machines/governance/caller-reads.ts';
import { signInMachine } from '../../../machines/sign-in/sign-in-machine.ts';
import type { ServiceConfig } from '../../config/config.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Outbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import type { Confirmation, SealedCookie, SignInEnd, WebAccess } from '../../ports/web-access.ts';
import type { OpenSession, WebSession, WebSessions } from '../../ports/web-sessions.ts';
import { callerOfClaims } from '../auth/caller-of-claims.ts';
import {
  type ClaimsGrant,
  type IssuedClaims,
  IssuerClient,
  type SignInSecrets,
} from './issuer-client.ts';
import { SealedCookies } from './sealed-cookies.ts';

type Approvals = NonNullable<ServiceConfig['approvals']>;

/** The settings of a page with a sign-in; durations are in milliseconds. */
export type WebAccessSettings = Pick<Approvals, 'public_url' | 'idle' | 'lifetime'> & {
  sign_in: Omit<Approvals['sign_in'], 'name'>;
};

export interface WebAccessPorts {
  /** Name of the provider of the people who sign in. */
  provider: string;
  /** Where the page is below its origin, and the path of its settings in their file. */
  page: { callback: string; home: string; setting: string };
  env: NodeJS.ProcessEnv;
  sessions: WebSessions;
  /** Returns the random key of a purpose, which all daemons over the store share. */
  key: (purpose: string) => Promise<Buffer>;
  /** Returns what rules read of callers. */
  reads: () => CallerReads;
  clock: Clock;
  log: Log;
  outbound?: Outbound;
}

/** Time for a sign-in at the issuer, in milliseconds; as in `signInMachine`. */
const signInTime = 600_000;

const expired = 'the sign-in has expired, or another browser started it; sign in again';

const unavailable = 'the issuer is not available; try again later';

/** Time for which the issuer's confirmation of a person counts, in milliseconds. */
const confirmedFor = 60_000;

const unconfirmable =
  'sign-in: the issuer gave neither a refresh token nor a userinfo endpoint, so groups and claims count until the session ends';

const leftOut =
  'sign-in: the issuer no longer names the groups of a person, who is in none from now on; if its userinfo endpoint never has them, request a refresh token with the scope offline_access';

/** Opens the sign-in of a page. Sends no request before the first sign-in. */
export function openWebAccess(settings: WebAccessSettings, ports: WebAccessPorts): WebAccess {
  const { public_url: origin, sign_in: signIn, idle, lifetime } = settings;
  const { clock, log, page, sessions } = ports;
  const cookies = new SealedCookies(origin, () => ports.key('approvals-cookies'), clock);
  const client = new IssuerClient(
    {
      issuer: signIn.issuer,
      clientId: signIn.client_id,
      clientSecret: secretOf(signIn.client_secret_env, ports.env),
      scopes: signIn.scopes,
      redirectUri: `${origin}${page.callback}`,
      signedOutUri: `${origin}${page.home}`,
      setting: page.setting,
      wantedClaims: [signIn.claim_map.email, signIn.groups_claim ?? []].flat(),
      identityClaims: [signIn.claim_map.user_id, signIn.claim_map.email],
      skew: signIn.clock_skew,
    },
    ports.outbound,
    () => clock.now(),
  );

  async function cookieOf(id: string, { expiresAt }: WebSession): Promise<SealedCookie> {
    const left = Math.min(idle, expiresAt - clock.now());
    return { value: await cookies.seal('session', { sid: id }, left), seconds: toSeconds(left) };
  }

  async function signedIn(
    { claims, grant }: IssuedClaims,
    place: string | null,
  ): Promise<SignInEnd> {
    const caller = callerOf(claims);
    if (caller === null) {
      const problem = `your account has no claim ${signIn.claim_map.user_id}; ask the operator`;
      return { kind: 'refused', problem };
    }
    const now = clock.now();
    const session: WebSession = {
      caller,
      name: nameOf(claims) ?? caller.email ?? caller.userId,
      csrf: randomBytes(24).toString('base64url'),
      signedInAt: now,
      expiresAt: now + lifetime,
      ...(await renewalOf(claims, grant)),
    };
    if (grant === null) log.warn({}, unconfirmable);
    const id = randomBytes(24).toString('base64url');
    await sessions.add(id, session, now);
    return { kind: 'signedIn', session, cookie: await cookieOf(id, session), place };
  }

  async function renewalOf(claims: Record<string, unknown>, grant: ClaimsGrant | null) {
    if (grant === null) return {};
    return { renewal: await cookies.seal('claims', { grant, claims }, lifetime) };
  }

  const confirming = new Map<string, Promise<Confirmation>>();

  async function readAgain({ id, session }: OpenSession): Promise<Confirmation> {
    const { renewal = '' } = session;
    const kept = await cookies.open('claims', renewal, lifetime);
    if (kept === null) return endedSession(id);
    const { grant, claims } = kept as unknown as IssuedClaims & { grant: ClaimsGrant };
    try {
      const read = await client.readAgain(grant, claims);
      if (read === null) return await refused(id, session);
      const caller = callerOf(read.claims);
      if (caller?.userId !== session.caller.userId) return await endedSession(id);
      if (session.caller.groups !== undefined && caller.groups === undefined) {
        log.warn({}, leftOut);
      }
      const checked = { caller, checkedAt: clock.now() };
      const replaced = { ...session, ...checked, ...(await renewalOf(read.claims, read.grant)) };
      await sessions.replace(id, replaced);
      return { kind: 'confirmed', open: { id, session: replaced } };
    } catch (error) {
      log.warn({ error: causeOf(error) }, 'sign-in: a person could not be checked at the issuer');
      return { kind: 'unchecked' };
    }
  }

  /** Another daemon may have used the refresh token first, which is valid once at some issuers. */
  async function refused(id: string, { renewal }: WebSession): Promise<Confirmation> {
    const session = await sessions.find(id);
    if (session === undefined || session.renewal === renewal) return endedSession(id);
    return { kind: 'confirmed', open: { id, session } };
  }

  async function endedSession(id: string): Promise<Confirmation> {
    await sessions.delete(id);
    return { kind: 'ended' };
  }

  function callerOf(claims: Record<string, unknown>): Caller | null {
    return callerOfClaims(ports.provider, withDomainProof(claims), signIn.claim_map, {
      needsProof: signIn.require_email_verified,
      groupsClaim: signIn.groups_claim,
      reads: ports.reads(),
      others: claims,
    });
  }

  async function sessionIdIn(cookie: string | null): Promise<string | null> {
    const kept = cookie === null ? null : await cookies.open('session', cookie, idle);
    const id = kept?.['sid'];
    return typeof id === 'string' ? id : null;
  }

  async function read(id: string): Promise<OpenSession | null> {
    const session = await sessions.find(id);
    if (session === undefined || session.expiresAt <= clock.now()) return null;
    return { id, session };
  }

  return {
    origin,
    async start(place, session) {
      try {
        const before = await sessionIdIn(session);
        const { url, secrets } = await client.authorize();
        const value = await cookies.seal('sign-in', { ...secrets, place, before }, signInTime);
        return { kind: 'started', url, cookie: { value, seconds: toSeconds(signInTime) } };
      } catch (error) {
        log.warn({ error: causeOf(error) }, 'sign-in: the issuer is not available');
        return { kind: 'refused', problem: unavailable };
      }
    },
    async finish(query, cookie) {
      const kept = cookie === null ? null : await cookies.open('sign-in', cookie, signInTime);
      if (kept === null) return { kind: 'refused', problem: expired };
      const secrets = kept as unknown as SignInSecrets & {
        place: string | null;
        before: string | null;
      };
      const parameters = new URLSearchParams(query);
      // Before the chart, because an error of a foreign callback must not end the sign-in of this browser.
      if (parameters.get('state') !== secrets.state) return { kind: 'refused', problem: expired };
      const run = await runSignIn(parameters, clock, async () => {
        try {
          return await client.exchange(query, secrets);
        } catch (error) {
          log.warn({ error: causeOf(error) }, 'sign-in: the issuer did not confirm it');
          throw new Error('the issuer did not confirm the sign-in; sign in again');
        }
      });
      if (run.issued === null) return { kind: 'refused', problem: run.problem };
      const ended = await signedIn(run.issued, secrets.place);
      // The callback comes from the issuer, so it lacks the strict cookie of the session.
      if (ended.kind === 'signedIn' && secrets.before !== null)
        await sessions.delete(secrets.before);
      return ended;
    },
    async find(cookie) {
      const id = await sessionIdIn(cookie);
      return id === null ? null : read(id);
    },
    confirm(open) {
      const { id, session } = open;
      const age = clock.now() - (session.checkedAt ?? session.signedInAt);
      if (session.renewal === undefined || age < confirmedFor)
        return Promise.resolve({ kind: 'confirmed', open });
      const running = confirming.get(id) ?? readAgain(open).finally(() => confirming.delete(id));
      confirming.set(id, running);
      return running;
    },
    read,
    renew: ({ id, session }: OpenSession) => cookieOf(id, session),
    async end({ id }) {
      await sessions.delete(id);
      return client.signOutUrl();
    },
  };
}

/**
 * Continues a sign-in at its callback. While the person is at the issuer, the browser keeps the sign-in, so that any of
 * several daemons can continue it.
 */
async function runSignIn(
  parameters: URLSearchParams,
  clock: Clock,
  exchange: () => Promise<IssuedClaims>,
): Promise<{ issued: IssuedClaims } | { issued: null; problem: string }> {
  let issued: IssuedClaims | null = null;
  const chart = signInMachine.provide({
    actors: {
      exchange: fromPromise<void, { parameters: string }>(async () => {
        issued = await exchange();
      }),
    },
  });
  const actor = createActor(chart, { clock });
  actor.start();
  const error = parameters.get('error');
  if (error === null && parameters.has('code')) {
    actor.send({ type: 'callback.code', parameters: parameters.toString() });
  } else actor.send({ type: 'callback.refused', error: error ?? '' });
  const ended = await waitFor(
    actor,
    (snapshot) => snapshot.matches('done') || snapshot.matches('failed'),
  );
  actor.stop();
  if (ended.matches('done') && issued !== null) return { issued };
  return { issued: null, problem: ended.context.error ?? expired };
}

/** Entra ID sends no `email_verified`; its optional claim `xms_edov` states that it verified the domain of the email. */
function withDomainProof(claims: Record<string, unknown>): Record<string, unknown> {
  const isVerified = ['1', 'true'].includes(String(claims['xms_edov']));
  return isVerified && claims['email_verified'] === undefined
    ? { ...claims, email_verified: true }
    : claims;
}

function secretOf(variable: string | undefined, env: NodeJS.ProcessEnv): string | null {
  return variable === undefined ? null : (env[variable] ?? null);
}

function nameOf({ name }: Record<string, unknown>): string | null {
  return typeof name === 'string' && name.trim() !== '' ? name.slice(0, 200) : null;
}

/** The message of a provider library without the values that it refused. */
function causeOf(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: unknown; message?: string };
  return [name, code, message]
    .filter((part) => typeof part === 'string')
    .join(': ')
    .slice(0, 300);
}

function toSeconds(milliseconds: number): number {
  return Math.max(0, Math.floor(milliseconds / 1_000));
}
