import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openWebAccess } from '../../../../src/actors/access/sign-in/open-web-access.ts';
import { SealedCookies } from '../../../../src/actors/access/sign-in/sealed-cookies.ts';
import { serviceSchema } from '../../../../src/actors/config/service-schema.ts';
import type { WebAccess } from '../../../../src/actors/ports/web-access.ts';
import type { WebRecords } from '../../../../src/actors/ports/web-records.ts';
import type { WebSession } from '../../../../src/actors/ports/web-sessions.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import {
  startWebIssuer,
  type WebIssuer,
  type WebIssuerOptions,
  webClient,
} from '../../../helpers/web-issuer.ts';

const origin = 'https://approvals.example.com';
const minute = 60_000;

/** Daemons over one store, at an issuer. */
async function startDaemons(count: number, options: Partial<WebIssuerOptions> = {}) {
  const issuer = await startWebIssuer({
    redirectUri: `${origin}/approvals/callback`,
    people: { ann: { email: 'ann@example.com', email_verified: true } },
    ...options,
  });
  issuer.person = 'ann';
  const { approvals } = serviceSchema.parse({
    agent_id: 'x',
    approvals: {
      public_url: origin,
      sign_in: { issuer: issuer.issuer, client_id: webClient, groups_claim: 'groups' },
      idle: '10m',
      lifetime: '1h',
    },
  });
  if (approvals === undefined) throw new Error('the settings have no approvals');
  const clock = new ManualClock(Date.now());
  const rows = new Map<string, WebSession>();
  const sessions = {
    add: async (id: string, session: WebSession) => void rows.set(id, session),
    find: async (id: string) => rows.get(id),
    replace: async (id: string, session: WebSession) =>
      void (rows.has(id) && rows.set(id, session)),
    delete: async (id: string) => void rows.delete(id),
  };
  const key = randomBytes(32);
  const log = { info() {}, warn() {}, error() {} };
  const daemons = Array.from({ length: count }, () =>
    openWebAccess(approvals, {
      ...{ provider: 'staff', env: {}, sessions, clock, log },
      page: { callback: '/approvals/callback', home: '/approvals/', setting: 'approvals.sign_in' },
      key: async () => key,
      ...{ records: {} as WebRecords, record: () => Promise.resolve() },
      reads: () => ({ groups: true, claims: new Set(['department']) }),
    }),
  );
  return { issuer, clock, daemons, rows };
}

/** Follows a sign-in through the issuer; resolves with the query of the callback. */
async function confirm(issuer: WebIssuer, start: string): Promise<string> {
  const jar = new Map<string, string>();
  let url = start;
  for (let steps = 0; !url.startsWith(origin); steps += 1) {
    if (steps === 10) throw new Error(`the redirects of ${issuer.issuer} do not end`);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { headers: { cookie }, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    url = new URL(answer.headers.get('location') ?? '', url).href;
  }
  return new URL(url).search.slice(1);
}

async function started(access: WebAccess, place: string | null = null) {
  const start = await access.start(place, null);
  if (start.kind === 'refused') throw new Error(start.problem);
  return start;
}

async function signedIn(issuer: WebIssuer, access: WebAccess) {
  const { url, cookie } = await started(access);
  const end = await access.finish(await confirm(issuer, url), cookie.value);
  if (end.kind === 'refused') throw new Error(end.problem);
  return end;
}

describe('several daemons', () => {
  it("continue each other's sign-ins, and a sign-out on one ends the session on all", async () => {
    const { issuer, daemons } = await startDaemons(2);
    const [one, other] = daemons as [WebAccess, WebAccess];
    const { url, cookie } = await started(one, 'call-1');
    const end = await other.finish(await confirm(issuer, url), cookie.value);
    if (end.kind === 'refused') throw new Error(end.problem);
    expect([end.place, end.session.caller]).toEqual([
      'call-1',
      { provider: 'staff', userId: 'ann', email: 'ann@example.com' },
    ]);
    const open = await one.find(end.cookie.value);
    expect(open?.session).toEqual(end.session);
    if (open === null) throw new Error('there is no session');
    await one.end(open);
    expect(await other.find(end.cookie.value)).toBeNull();
  });
});

describe('a session', () => {
  it('expires after its idle time, which each renewal restarts, and after its lifetime', async () => {
    const { issuer, clock, daemons, rows } = await startDaemons(1);
    const [access] = daemons as [WebAccess];
    let { cookie } = await signedIn(issuer, access);
    expect(cookie.seconds).toBe(600);
    for (let minutes = 0; minutes < 54; minutes += 9) {
      clock.advance(9 * minute);
      const open = await access.find(cookie.value);
      if (open === null) throw new Error(`it has ended after ${minutes} minutes`);
      cookie = await access.renew(open);
    }
    expect(cookie.seconds).toBe(360);
    clock.advance(6 * minute + 1);
    expect(await access.find(cookie.value)).toBeNull();
    const idle = await signedIn(issuer, access);
    clock.advance(10 * minute + 1_000);
    expect(await access.find(idle.cookie.value)).toBeNull();
    expect(rows.size).toBe(2);
  });

  it('starts new with each sign-in', async () => {
    const { issuer, daemons } = await startDaemons(1);
    const [access] = daemons as [WebAccess];
    const [one, other] = [await signedIn(issuer, access), await signedIn(issuer, access)];
    expect(one.session.csrf).not.toBe(other.session.csrf);
    const ids = await Promise.all([one, other].map(({ cookie }) => access.find(cookie.value)));
    expect(ids[0]?.id).not.toBe(ids[1]?.id);
  });
});

describe('a sign-in', () => {
  it('expires after ten minutes', async () => {
    const { issuer, clock, daemons } = await startDaemons(1);
    const [access] = daemons as [WebAccess];
    const { url, cookie } = await started(access);
    const query = await confirm(issuer, url);
    clock.advance(10 * minute + 1_000);
    expect(await access.finish(query, cookie.value)).toEqual({
      kind: 'refused',
      problem: 'the sign-in has expired, or another browser started it; sign in again',
    });
  });
});

describe('a sealed cookie', () => {
  const day = 86_400_000;

  it('opens only for its purpose, origin and time, also after a key rotation', async () => {
    const clock = new ManualClock(20_001 * day - minute);
    const key = randomBytes(32);
    const cookies = new SealedCookies(origin, async () => key, clock);
    const sealed = await cookies.seal('session', { sid: 's' }, 5 * minute);
    clock.advance(2 * minute);
    expect(await cookies.open('session', sealed, 5 * minute)).toMatchObject({ sid: 's' });
    expect(await cookies.open('sign-in', sealed, 5 * minute)).toBeNull();
    const elsewhere = new SealedCookies('https://other.example.com', async () => key, clock);
    expect(await elsewhere.open('session', sealed, 5 * minute)).toBeNull();
    const stranger = new SealedCookies(origin, async () => randomBytes(32), clock);
    expect(await stranger.open('session', sealed, 5 * minute)).toBeNull();
    clock.advance(4 * minute);
    expect(await cookies.open('session', sealed, 5 * minute)).toBeNull();
  });
});

describe('the confirmation of a person', () => {
  const staff = () => ({
    ann: { email: 'ann@example.com', email_verified: true, groups: ['finance'] },
  });

  it.each([
    ['a refresh token', { hasRefreshTokens: true }],
    ['the userinfo endpoint', { isThin: true }],
  ])('has the current groups by %s, once a minute', async (_, options) => {
    const people = staff();
    const { issuer, clock, daemons, rows } = await startDaemons(1, { ...options, people });
    const [access] = daemons as [WebAccess];
    const { cookie, session } = await signedIn(issuer, access);
    expect(session.caller.groups).toEqual(['finance']);
    const open = async () => {
      const found = await access.find(cookie.value);
      if (found === null) throw new Error('there is no session');
      return found;
    };
    people.ann.groups = ['sales'];
    clock.advance(59_000);
    expect(await access.confirm(await open())).toEqual({ kind: 'confirmed', open: await open() });
    expect((await open()).session.caller.groups).toEqual(['finance']);
    clock.advance(1_000);
    const both = await Promise.all([access.confirm(await open()), access.confirm(await open())]);
    for (const one of both)
      expect(one).toMatchObject({
        kind: 'confirmed',
        open: { session: { caller: { groups: ['sales'] } } },
      });
    expect((await open()).session.caller).toMatchObject({
      email: 'ann@example.com',
      groups: ['sales'],
    });
    // Neither a token nor a claim is readable in the store.
    const [row] = rows.values();
    expect(row?.renewal).toMatch(/^eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    clock.advance(minute);
    issuer.isDown = true;
    expect(await access.confirm(await open())).toEqual({ kind: 'unchecked' });
    issuer.isDown = false;
    issuer.disabled.add('ann');
    expect(await access.confirm(await open())).toEqual({ kind: 'ended' });
    expect(rows.size).toBe(0);
    expect(await access.find(cookie.value)).toBeNull();
  });

  it.each([
    ['a refresh token', { hasRefreshTokens: true }],
    ['the userinfo endpoint', {}],
    ['the userinfo endpoint, which alone returns the groups', { isThin: true }],
  ])('has no groups and claims that the issuer omits, by %s', async (_, options) => {
    const ann: Record<string, unknown> = {
      ...{ email: 'ann@example.com', email_verified: true, groups: ['finance'] },
      department: 'legal',
    };
    const { issuer, clock, daemons } = await startDaemons(1, {
      ...options,
      people: { ann } as never,
    });
    const [access] = daemons as [WebAccess];
    const { cookie, session } = await signedIn(issuer, access);
    expect([session.caller.groups, session.caller.claims]).toEqual([
      ['finance'],
      { department: 'legal' },
    ]);
    delete ann['groups'];
    delete ann['department'];
    clock.advance(minute);
    const open = await access.find(cookie.value);
    if (open === null) throw new Error('there is no session');
    const confirmed = await access.confirm(open);
    if (confirmed.kind !== 'confirmed') throw new Error(confirmed.kind);
    const { caller } = confirmed.open.session;
    expect([caller.userId, caller.email, caller.groups, caller.claims]).toEqual([
      ...[session.caller.userId, 'ann@example.com'],
      ...[undefined, undefined],
    ]);
  });

  it('accepts that another daemon has used the refresh token first', async () => {
    const { issuer, clock, daemons } = await startDaemons(2, { hasRefreshTokens: true });
    const [one, other] = daemons as [WebAccess, WebAccess];
    const { cookie } = await signedIn(issuer, one);
    const open = await other.find(cookie.value);
    if (open === null) throw new Error('there is no session');
    clock.advance(minute);
    expect((await one.confirm(open)).kind).toBe('confirmed');
    expect((await other.confirm(open)).kind).toBe('confirmed');
    expect(await other.find(cookie.value)).not.toBeNull();
  });

  it("keeps the sign-in's claims where the issuer offers no way to read them again", async () => {
    const { issuer, clock, daemons } = await startDaemons(1, { hasUserInfo: false });
    const [access] = daemons as [WebAccess];
    const { cookie } = await signedIn(issuer, access);
    clock.advance(5 * minute);
    issuer.disabled.add('ann');
    const open = await access.find(cookie.value);
    if (open === null) throw new Error('there is no session');
    expect(await access.confirm(open)).toEqual({ kind: 'confirmed', open });
  });
});
