import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Desk,
  origin,
  park,
  script,
  signedIn,
  startDesk,
  team,
  verified,
} from '../helpers/approvals-desk.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, reached } from '../helpers/test-agent.ts';
import { webClient } from '../helpers/web-issuer.ts';

describe('a delegation on the approvals page', () => {
  const until = () => new Date(Date.now() + 3_600_000).toISOString();

  it('lets another person decide, who sees the call from then on, until it is ended', async () => {
    const desk = await startDesk();
    const { answer, call, pinned } = await park(desk.agent);
    const bob = await signedIn(desk, 'bob');
    expect((await bob.api(`deferrals/${call}`)).status).toBe(404);
    const ann = await signedIn(desk, 'ann');
    const given = await ann.api('delegations', { to: 'bob@example.com', until: until() });
    expect([given.status, given.body]).toEqual([
      201,
      {
        ...{ id: expect.any(String), from: 'ann@example.com', to: 'bob@example.com' },
        ...{ since: expect.any(String), until: expect.any(String) },
      },
    ]);
    expect((await bob.api('delegations')).body).toEqual({ delegations: [given.body] });
    expect((await bob.api(`deferrals/${call}`)).body).toMatchObject({ may_decide: true });
    const decided = await bob.api('tasks/t1/decisions', { decision: 'approve', ...pinned });
    expect(decided.status).toBe(200);
    expect((await answer).body.status.state).toBe('completed');
    const [line] = desk.agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
    expect(line?.fields).toMatchObject({ approver: 'bob@example.com', for: 'ann@example.com' });

    const ended = await bob.api(`delegations/${given.body.id}`, undefined, {}, 'DELETE');
    expect(ended.status).toBe(200);
    const second = await park(desk.agent, 't2');
    expect((await bob.api(`deferrals/${second.call}`)).status).toBe(404);
  });

  it('counts the right of one person once, if the delegate changed the call', async () => {
    const approvers = ['ann@example.com', 'group:finance'];
    const rule = { approvers, quorum: 2, edit: true };
    const people = { ...team, ann: verified('ann@example.com') };
    const desk = await startDesk({ rule, people, signIn: { groups_claim: 'groups' } });
    const { answer, pinned } = await park(desk.agent);
    const ann = await signedIn(desk, 'ann');
    await ann.api('delegations', { to: 'eve@example.com', until: until() });
    const eve = await signedIn(desk, 'eve');
    const changed = { decision: 'approve', ...pinned, args: { amount: 4 } };
    expect((await eve.api('tasks/t1/decisions', changed)).status).toBe(200);
    const call = await vi.waitUntil(async () => {
      const [found] = (await ann.api('deferrals')).body.deferrals;
      return found?.id === pinned.deferral_id ? undefined : found;
    }, patient);
    expect(call.approvals).toMatchObject([{ approver: 'eve@example.com', for: 'ann@example.com' }]);
    const { id: deferral_id, args_sha256 } = call;
    const approved = { decision: 'approve', deferral_id, args_sha256 };
    expect((await ann.api('tasks/t1/decisions', approved)).body.status).toBe('recorded');
    const bob = await signedIn(desk, 'bob');
    expect((await bob.api('tasks/t1/decisions', approved)).body.status).toBe('resolved');
    expect((await answer).body.status.state).toBe('completed');
  });

  it('does not let two delegates of one person change and approve a call under four eyes', async () => {
    const rule = { approvers: ['ann@example.com', 'bob@example.com'], four_eyes: true, edit: true };
    const desk = await startDesk({ rule, people: { ...team, cy: verified('cy@example.com') } });
    const { answer, pinned } = await park(desk.agent);
    const ann = await signedIn(desk, 'ann');
    const eve = await signedIn(desk, 'eve');
    const cy = await signedIn(desk, 'cy');
    const bob = await signedIn(desk, 'bob');
    for (const to of ['eve@example.com', 'cy@example.com'])
      await ann.api('delegations', { to, until: until() });
    const changed = { decision: 'approve', ...pinned, args: { amount: 4 } };
    expect((await eve.api('tasks/t1/decisions', changed)).status).toBe(200);
    const call = await vi.waitUntil(async () => {
      const [found] = (await bob.api('deferrals')).body.deferrals;
      return found?.id === pinned.deferral_id ? undefined : found;
    }, patient);
    const { id: deferral_id, args_sha256 } = call;
    const approved = { decision: 'approve', deferral_id, args_sha256 };
    for (const one of [eve, cy, ann])
      expect((await one.api('tasks/t1/decisions', approved)).status).toBe(403);
    expect((await bob.api('tasks/t1/decisions', approved)).body.status).toBe('resolved');
    expect((await answer).body.status.state).toBe('completed');
  });

  it('leaves the first approval of a changed call to a member of a group', async () => {
    const rule = { approvers: ['group:finance'], quorum: 2, edit: true };
    const desk = await startDesk({ rule, people: team, signIn: { groups_claim: 'groups' } });
    const { answer, pinned } = await park(desk.agent);
    const bob = await signedIn(desk, 'bob');
    const changed = { decision: 'approve', ...pinned, args: { amount: 4 } };
    expect((await bob.api('tasks/t1/decisions', changed)).status).toBe(200);
    const ann = await signedIn(desk, 'ann');
    const call = await vi.waitUntil(async () => {
      const [found] = (await ann.api('deferrals')).body.deferrals;
      return found?.id === pinned.deferral_id ? undefined : found;
    }, patient);
    const { id: deferral_id, args_sha256 } = call;
    const approved = { decision: 'approve', deferral_id, args_sha256 };
    expect((await ann.api('tasks/t1/decisions', approved)).body.status).toBe('resolved');
    expect((await answer).body.status.state).toBe('completed');
  });

  it.each([
    ['for another person', { from: 'eve@example.com' }, 403],
    ['to oneself', { to: 'ann@example.com' }, 400],
    ['without an end', { until: 'later' }, 400],
  ])('is refused %s', async (_, change, status) => {
    const desk = await startDesk();
    const ann = await signedIn(desk, 'ann');
    const asked = { to: 'bob@example.com', until: until(), ...change };
    expect((await ann.api('delegations', asked)).status).toBe(status);
    expect((await ann.api('delegations')).body).toEqual({ delegations: [] });
  });

  it('needs a recent sign-in, so a stolen session cannot delegate later', async () => {
    const desk = await startDesk();
    const ann = await signedIn(desk, 'ann');
    const asked = { to: 'bob@example.com', until: until() };
    const real = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => real() + 601_000);
    onTestFinished(() => later.mockRestore());
    const { status, body } = await ann.api('delegations', asked);
    expect([status, body]).toEqual([
      403,
      {
        error: 'your sign-in is older than 10 minutes; sign out, sign in again and retry',
        code: 'recent_sign_in_required',
      },
    ]);
  });

  it('needs the page, a verified email, and the person whose delegation it is', async () => {
    const desk = await startDesk();
    const ann = await signedIn(desk, 'ann');
    const asked = { to: 'bob@example.com', until: until() };
    const foreign = { origin: 'https://evil.example' };
    expect((await ann.api('delegations', asked, foreign)).status).toBe(403);
    expect((await ann.api('delegations', asked, { 'x-holdpoint-csrf': 'x' })).status).toBe(403);
    const liar = await signedIn(desk, 'liar');
    expect((await liar.api('delegations', asked)).status).toBe(403);
    const { body } = await ann.api('delegations', asked);
    const path = `delegations/${body.id}`;
    expect((await ann.api(path, undefined, foreign, 'DELETE')).status).toBe(403);
    expect((await liar.api(path, undefined, {}, 'DELETE')).status).toBe(404);
    expect((await ann.api('delegations')).body).toEqual({ delegations: [body] });
  });
});

describe('an approval in advance on the approvals page', () => {
  it('is listed for its approver only, who ends it', async () => {
    const remember = { max_time: '1h', max_uses: 3 };
    const rule = { approvers: ['ann@example.com'] };
    const { security, ...others } = deferring(rule);
    const defer = { ...(security?.defer as object), remember };
    const desk = await startDesk({ settings: { ...others, security: { ...security, defer } } });
    const { answer, pinned } = await park(desk.agent);
    const ann = await signedIn(desk, 'ann');
    const asked = { scope: 'caller', for: '30m', uses: 2 };
    await ann.api('tasks/t1/decisions', { decision: 'approve', ...pinned, remember: asked });
    await answer;
    const { body } = await ann.api('grants');
    expect(body.grants).toMatchObject([{ approver: 'ann@example.com', uses_left: 2 }]);
    const [{ id }] = body.grants;
    const bob = await signedIn(desk, 'bob');
    expect((await bob.api('grants')).body).toEqual({ grants: [] });
    expect((await bob.api(`grants/${id}`, undefined, {}, 'DELETE')).status).toBe(404);
    expect((await ann.api(`grants/${id}`, undefined, {}, 'DELETE')).status).toBe(200);
    expect((await ann.api('grants')).body).toEqual({ grants: [] });
  });
});

describe('the approvals page', () => {
  it('accepts a decision with the current groups, and none while the issuer does not answer', async () => {
    const people = { ann: verified('ann@example.com', { groups: ['finance'] }) };
    const rule = { approvers: ['group:finance'] };
    const signIn = { groups_claim: 'groups' };
    const desk = await startDesk({ rule, signIn, people, hasRefreshTokens: true });
    const { pinned } = await park(desk.agent);
    const ann = await signedIn(desk);
    // The clock of the daemon.
    const now = performance.now.bind(performance);
    let ahead = 61_000;
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
    onTestFinished(() => spy.mockRestore());
    const approve = () => ann.api('tasks/t1/decisions', { decision: 'approve', ...pinned });
    desk.issuer.isDown = true;
    expect(await approve()).toMatchObject({
      status: 503,
      body: {
        error: 'your account could not be checked at the issuer, so nothing has changed; try again',
        code: 'issuer_unreachable',
      },
    });
    desk.issuer.isDown = false;
    Object.assign(people.ann, { groups: ['sales'] });
    expect((await approve()).status).toBe(404);
    ahead += 61_000;
    desk.issuer.disabled.add('ann');
    expect((await approve()).status).toBe(401);
    expect((await ann.api('session')).status).toBe(401);
    expect(desk.agent.folder.paid).toEqual([]);
  });

  it('signs a person in, lists the call, and records the decision with its method', async () => {
    const desk = await startDesk();
    const { answer, call, pinned } = await park(desk.agent);
    desk.issuer.person = 'ann';
    const ann = desk.visit();
    const end = await ann.signIn(`/approvals/sign-in?call=${call}`);
    expect(end.url).toBe(`${origin}/approvals/#/calls/${call}`);
    expect([...(ann.cookies.get('approvals.example.com') ?? [])]).toEqual([
      [
        '__Host-holdpoint',
        expect.stringMatching(
          /^[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=1\d{3};$/,
        ),
      ],
    ]);
    expect((await ann.api('session')).body).toEqual({
      agent_id: 'till',
      name: 'Ann',
      email: 'ann@example.com',
      csrf: expect.stringMatching(/^[\w-]{32}$/),
      expires_at: expect.any(String),
    });
    const { body } = await ann.api('deferrals');
    expect(body.deferrals.map((one: { id: string }) => one.id)).toEqual([call]);
    expect((await ann.api(`deferrals/${call}`)).body).toMatchObject({
      args: { amount: 5 },
      may_decide: true,
    });
    const decision = { decision: 'approve', ...pinned, approver_email: 'eve@example.com' };
    expect(await ann.api('tasks/t1/decisions', decision)).toMatchObject({
      status: 200,
      body: { approver: 'ann@example.com', status: 'resolved' },
    });
    expect((await answer).body.status.state).toBe('completed');
    const [line] = desk.agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
    expect(line?.fields).toMatchObject({
      approver: 'ann@example.com',
      method: 'oidc',
      provider: 'sign_in',
      user_id: 'ann',
      vouched_by: 'token:sign_in',
    });
    const decided = await ann.api('deferrals?decided_by=me');
    expect(decided.body.deferrals).toMatchObject([{ id: call, decision: 'approve' }]);
  });

  it('shows a person no call of others, and refuses decisions on them', async () => {
    const desk = await startDesk();
    const { call, pinned } = await park(desk.agent);
    const bob = await signedIn(desk, 'bob');
    expect((await bob.api('deferrals')).body).toEqual({ deferrals: [], total: 0 });
    expect((await bob.api(`deferrals/${call}`)).status).toBe(404);
    const sent = { decision: 'approve', ...pinned, approver_email: 'ann@example.com' };
    expect((await bob.api('tasks/t1/decisions', sent)).status).toBe(404);
    const list = { decisions: [{ task_id: 't1', ...sent }] };
    expect((await bob.api('deferrals/decisions', list)).body).toMatchObject({
      decisions: [{ task_id: 't1', status: 404 }],
    });
    expect(desk.agent.folder.paid).toEqual([]);
  });

  it('decides nothing when a mail program opens the link to a call, even with a session', async () => {
    const desk = await startDesk();
    const { call } = await park(desk.agent);
    const ann = await signedIn(desk);
    const links = [
      '/approvals/',
      '/approvals/sign-in',
      '/approvals/sign-in?call=',
      '/approvals/api/tasks/t1/decisions?decision=approve&deferral_id=',
    ].map((path) => `${origin}${path}${path.endsWith('=') ? call : ''}`);
    for (const visitor of [desk.visit(), ann]) {
      for (const method of ['GET', 'HEAD']) {
        for (const link of links) {
          const answer = await visitor.fetch(link, {
            ...{ method, headers: { 'sec-fetch-site': 'none', 'sec-purpose': 'prefetch' } },
          });
          await answer.body?.cancel();
        }
      }
    }
    const { body } = await ann.api('deferrals');
    expect(body.deferrals.map(({ id }: { id: string }) => id)).toEqual([call]);
    const events = desk.agent.audit('t1').map(({ event }) => event);
    expect(events).not.toContain('task_deferred_decision');
  });

  it('accepts no email that the issuer has not verified', async () => {
    const desk = await startDesk();
    const { call, pinned } = await park(desk.agent);
    const liar = await signedIn(desk, 'liar');
    expect((await liar.api('session')).body.email).toBeNull();
    expect((await liar.api(`deferrals/${call}`)).status).toBe(404);
    const answer = await liar.api('tasks/t1/decisions', { decision: 'approve', ...pinned });
    expect(answer.status).toBe(403);
  });

  it('accepts only an approval that names the call, and answers each decision of a list separately', async () => {
    const desk = await startDesk();
    const { pinned } = await park(desk.agent);
    const ann = await signedIn(desk);
    expect((await ann.api('tasks/t1/decisions', { decision: 'approve' })).status).toBe(400);
    const decisions = [
      { task_id: 't1', decision: 'approve', ...pinned, args_sha256: '0'.repeat(64) },
      { task_id: 't1', decision: 'reject', ...pinned, note: 'no' },
    ];
    const { body } = await ann.api('deferrals/decisions', { decisions });
    expect(body.decisions.map((one: { status: number }) => one.status)).toEqual([409, 200]);
  });

  it('shows no more under task_access any, which lets tokens see all', async () => {
    const desk = await startDesk({ settings: { server: { task_access: 'any' } } });
    await park(desk.agent);
    const bob = await signedIn(desk, 'bob');
    expect((await bob.api('deferrals')).body).toEqual({ deferrals: [], total: 0 });
  });

  it('applies four eyes to a person who made the request with a token of the same issuer', async () => {
    const approvers = ['ann@example.com', 'bob@example.com'];
    const desk = await startDesk({
      rule: { approvers, four_eyes: true },
      auth: ({ issuer }) => [{ type: 'oidc', name: 'staff', settings: { issuer, audience: 'x' } }],
    });
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: desk.issuer.issuer, aud: 'x', sub: 'ann', iat: now, exp: now + 300 };
    const program = desk.agent.as(await desk.issuer.sign(claims));
    const answer = program.send('t1', script);
    const { metadata } = await reached(program, 't1', 'deferred');
    const { id, args_sha256 } = metadata.deferral;
    const approve = { decision: 'approve', deferral_id: id, args_sha256 };
    const ann = await signedIn(desk, 'ann');
    expect((await ann.api(`deferrals/${id}`)).body).toMatchObject({ id, may_decide: false });
    expect((await ann.api('tasks/t1/decisions', approve)).status).toBe(403);
    const bob = await signedIn(desk, 'bob');
    expect((await bob.api('tasks/t1/decisions', approve)).status).toBe(200);
    expect((await answer).body.status.state).toBe('completed');
  });

  it('counts one person once in a quorum, and no member of another group', async () => {
    const rule = { approvers: ['group:finance'], quorum: 2 };
    const desk = await startDesk({ rule, people: team, signIn: { groups_claim: 'groups' } });
    const { answer, pinned } = await park(desk.agent);
    const approve = { decision: 'approve', ...pinned };
    const ann = await signedIn(desk, 'ann');
    expect((await ann.api('tasks/t1/decisions', approve)).body.status).toBe('recorded');
    const again = await signedIn(desk, 'ann');
    expect((await again.api('tasks/t1/decisions', approve)).body.status).not.toBe('resolved');
    const eve = await signedIn(desk, 'eve');
    expect((await eve.api('tasks/t1/decisions', approve)).status).toBe(404);
    const bob = await signedIn(desk, 'bob');
    expect((await bob.api('tasks/t1/decisions', approve)).body.status).toBe('resolved');
    expect((await answer).body.status.state).toBe('completed');
  });
});

describe('a session of the approvals page', () => {
  it('ends at every daemon at once when its person signs out, also for a copy of its cookie', async () => {
    const desk = await startDesk();
    const ann = await signedIn(desk);
    const thief = desk.visit();
    thief.cookies.set('approvals.example.com', new Map(ann.cookies.get('approvals.example.com')));
    expect((await thief.api('session')).status).toBe(200);
    const { body } = await ann.api('sign-out', {});
    const to = new URL(body.to);
    expect(to.origin + to.pathname).toBe(`${desk.issuer.issuer}/session/end`);
    expect(Object.fromEntries(to.searchParams)).toEqual({
      client_id: webClient,
      post_logout_redirect_uri: `${origin}/approvals/`,
    });
    expect(ann.cookies.get('approvals.example.com')).toEqual(new Map());
    expect((await thief.api('session')).status).toBe(401);
  });

  it('ends when its browser signs in again, also for a copy of its cookie', async () => {
    const desk = await startDesk();
    const ann = await signedIn(desk);
    const thief = desk.visit();
    thief.cookies.set('approvals.example.com', new Map(ann.cookies.get('approvals.example.com')));
    const elsewhere = await signedIn(desk);
    await ann.signIn();
    const statuses = [ann, thief, elsewhere].map(async (one) => (await one.api('session')).status);
    expect(await Promise.all(statuses)).toEqual([200, 401, 200]);
  });

  it('is not accepted by the other routes of the agent', async () => {
    const desk = await startDesk();
    await park(desk.agent);
    const ann = await signedIn(desk);
    for (const path of ['/tasks', '/tasks/t1', '/deferrals', '/events']) {
      const answer = await ann.fetch(origin + path, { headers: {} });
      await answer.body?.cancel();
      expect([path, answer.status]).toEqual([path, 401]);
    }
  });

  it('does not lead to other routes, which are not below the page', async () => {
    const desk = await startDesk();
    await park(desk.agent);
    for (const path of ['tasks', 'deferrals', 'events', 'grants', 'metrics', 'assets/tasks']) {
      const answer = await fetch(`${desk.agent.url}/approvals/${path}`);
      const isRefused = answer.status === 404 || answer.status === 405;
      await answer.body?.cancel();
      expect([path, isRefused]).toEqual([path, true]);
    }
  });

  it('accepts a change only from the page itself', async () => {
    const desk = await startDesk();
    const { pinned } = await park(desk.agent);
    const ann = await signedIn(desk);
    const approve = { decision: 'approve', ...pinned };
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example.com' },
      { origin: 'null' },
      { origin: '' },
      { 'x-holdpoint-csrf': '' },
      { 'x-holdpoint-csrf': 'x'.repeat(32) },
    ];
    for (const headers of foreign) {
      expect((await ann.api('tasks/t1/decisions', approve, headers)).status).toBe(403);
    }
    const read = await ann.api('deferrals', undefined, { 'sec-fetch-site': 'cross-site' });
    expect(read.status).toBe(403);
    const asked = await ann.fetch(`${origin}/approvals/api/tasks/t1/decisions?decision=approve`, {
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect([asked.status, desk.agent.folder.paid]).toEqual([405, []]);
  });

  it('refuses a forged cookie, and the cookie of a sign-in', async () => {
    const desk = await startDesk();
    const ann = await signedIn(desk);
    const jar = ann.cookies.get('approvals.example.com') ?? new Map<string, string>();
    const [value = ''] = (jar.get('__Host-holdpoint') ?? '').split(';');
    await ann.open('/approvals/sign-in', (url) => url.startsWith(desk.issuer.issuer));
    const [other = ''] = (jar.get('__Host-holdpoint-sign-in') ?? '').split(';');
    for (const forged of [`${value.slice(0, -2)}AA`, other, 'x', `${value}.x`]) {
      jar.set('__Host-holdpoint', `${forged};`);
      expect((await ann.api('session')).status).toBe(401);
    }
    expect(desk.agent.audit().filter(({ event }) => event === 'auth_fail')).toMatchObject([
      { fields: { reason: 'invalid', token_kind: 'session', path: '/approvals/api/session' } },
    ]);
  });

  it('is in no address and no log', async () => {
    const desk = await startDesk();
    const ann = await signedIn(desk);
    const jar = ann.cookies.get('approvals.example.com') ?? new Map<string, string>();
    const [value = ''] = (jar.get('__Host-holdpoint') ?? '').split(';');
    const written = JSON.stringify([ann.visited, desk.agent.log, desk.agent.audit()]);
    expect(value.length).toBeGreaterThan(100);
    expect(written).not.toContain(value.slice(0, 60));
    expect(written).not.toContain(ann.csrf);
  });
});

describe('a sign-in on the approvals page', () => {
  it('is refused for a browser that did not start it, and for a used code', async () => {
    const desk = await startDesk();
    desk.issuer.person = 'ann';
    const attacker = desk.visit();
    const stop = (url: string) => url.startsWith(`${origin}/approvals/callback`);
    const { url } = await attacker.open('/approvals/sign-in', stop);
    const victim = desk.visit();
    const refused = await victim.open(url);
    expect([refused.status, refused.body]).toEqual([
      400,
      expect.stringContaining(
        'The sign-in has expired, or another browser started it; sign in again.',
      ),
    ]);
    await victim.open('/approvals/sign-in', (next) => next.startsWith(desk.issuer.issuer));
    expect((await victim.open(url)).status).toBe(400);
    expect((await victim.api('session')).status).toBe(401);
    const jar = new Map(attacker.cookies.get('approvals.example.com'));
    expect((await attacker.open(url)).status).toBe(200);
    const again = desk.visit();
    again.cookies.set('approvals.example.com', jar);
    expect((await again.open(url)).status).toBe(400);
    expect((await again.api('session')).status).toBe(401);
  });

  it.each<[string, (claims: Record<string, unknown>) => Record<string, unknown>]>([
    ['another audience', (claims) => ({ ...claims, aud: 'another-client' })],
    ['another issuer', (claims) => ({ ...claims, iss: 'https://evil.example.com' })],
    ['another nonce', (claims) => ({ ...claims, nonce: 'x' })],
    ['no nonce', ({ nonce: _, ...claims }) => claims],
    ['the past', (claims) => ({ ...claims, exp: 1_700_000_000 })],
  ])('is refused with a token of %s', async (_, forged) => {
    const desk = await startDesk();
    desk.issuer.person = 'ann';
    desk.issuer.forged = forged;
    const visitor = desk.visit();
    const { status, body } = await visitor.open('/approvals/sign-in');
    expect([status, body]).toEqual([
      400,
      expect.stringContaining('The issuer did not confirm the sign-in; sign in again.'),
    ]);
    expect((await visitor.api('session')).status).toBe(401);
  });

  it('is refused with a response of another issuer, and one that the issuer refused', async () => {
    const desk = await startDesk();
    desk.issuer.person = 'ann';
    const visitor = desk.visit();
    const stop = (url: string) => url.startsWith(`${origin}/approvals/callback`);
    const { url } = await visitor.open('/approvals/sign-in', stop);
    const mixedUp = new URL(url);
    mixedUp.searchParams.set('iss', 'https://evil.example.com');
    expect((await visitor.open(mixedUp.href)).status).toBe(400);
    desk.issuer.person = null;
    const denied = await desk.visit().open('/approvals/sign-in');
    expect([denied.status, denied.body]).toEqual([
      400,
      expect.stringContaining('The provider was not allowed to sign you in.'),
    ]);
  });

  it('returns to a call of the page only', async () => {
    const desk = await startDesk();
    desk.issuer.person = 'ann';
    for (const call of [
      'https://evil.example.com',
      '//evil.example.com',
      '../x',
      'a/b',
      '%0d%0ax',
    ]) {
      const visitor = desk.visit();
      const { url } = await visitor.open(`/approvals/sign-in?call=${call}`);
      expect(url).toBe(`${origin}/approvals/`);
    }
  });

  it('is limited for one address', async () => {
    const desk = await startDesk();
    const visitor = desk.visit();
    const stop = (url: string) => url.startsWith(desk.issuer.issuer);
    const answers = [];
    for (let count = 0; count < 22; count += 1)
      answers.push(await visitor.open('/approvals/sign-in', stop));
    expect(answers.map(({ status }) => status).indexOf(429)).toBe(20);
    expect(answers.at(-1)?.headers.get('retry-after')).toBe('3');
  });

  it('reports that the issuer is not available', async () => {
    const desk = await startDesk({ signIn: { issuer: 'http://127.0.0.1:9' } });
    const { status, body } = await desk.visit().open('/approvals/sign-in');
    expect([status, body]).toEqual([
      502,
      expect.stringContaining('The issuer is not available; try again later.'),
    ]);
  });
});

describe('an issuer like', () => {
  const group = { approvers: ['group:finance'] };

  async function decides(desk: Desk, person: string): Promise<number> {
    const { pinned } = await park(desk.agent);
    const visitor = await signedIn(desk, person);
    const answer = await visitor.api('tasks/t1/decisions', { decision: 'approve', ...pinned });
    return answer.status;
  }

  it('Keycloak: roles in a nested claim, a confidential client', async () => {
    const desk = await startDesk({
      rule: group,
      secret: 'a-secret-of-the-client-that-is-long',
      signIn: {
        client_secret_env: 'APPROVALS_SECRET',
        groups_claim: 'realm_access.roles',
      },
      people: { k1: verified('kim@example.com', { realm_access: { roles: ['finance'] } }) },
    });
    expect(await decides(desk, 'k1')).toBe(200);
  });

  const entra = {
    e1: {
      oid: 'o-1',
      tid: 't-1',
      email: 'eva@example.com',
      preferred_username: 'eva@example.com',
      groups: ['finance'],
      xms_edov: true,
    },
    e2: { oid: 'o-2', tid: 't-1', email: 'eve@example.com', groups: ['finance'] },
  };
  const entraSignIn = {
    client_secret_env: 'APPROVALS_SECRET',
    groups_claim: 'groups',
    claim_map: { user_id: 'oid', org_id: 'tid' },
  };
  const entraClient = {
    secret: 'a-secret-of-the-client-that-is-long',
    clientAuth: 'client_secret_post',
  } as const;

  it('Entra ID: the object id as user id, and xms_edov in place of email_verified', async () => {
    const desk = await startDesk({
      rule: group,
      ...entraClient,
      signIn: entraSignIn,
      people: entra,
    });
    expect(await decides(desk, 'e1')).toBe(200);
    const [line] = desk.agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
    expect(line?.fields).toMatchObject({ user_id: 'o-1' });
  });

  it('Entra ID without xms_edov: the email does not count, unless the operator trusts the tenant', async () => {
    const strict = await startDesk({
      rule: group,
      ...entraClient,
      signIn: entraSignIn,
      people: entra,
    });
    expect(await decides(strict, 'e2')).toBe(403);
    const trusting = { ...entraSignIn, require_email_verified: false };
    const desk = await startDesk({ rule: group, ...entraClient, signIn: trusting, people: entra });
    expect(await decides(desk, 'e2')).toBe(200);
  });

  it('Okta: email and groups only at the userinfo endpoint, for their own scope', async () => {
    const desk = await startDesk({
      rule: group,
      isThin: true,
      signIn: { scopes: ['openid', 'profile', 'email', 'groups'], groups_claim: 'groups' },
      people: { o1: verified('oda@example.com', { groups: ['Everyone', 'finance'] }) },
    });
    expect(await decides(desk, 'o1')).toBe(200);
  });

  it('Google: no groups and no sign-out, the domain as organisation and as a claim', async () => {
    const desk = await startDesk({
      rule: { approvers: ['claim:hd=example.com'] },
      hasLogout: false,
      signIn: { claim_map: { org_id: 'hd' } },
      people: { g1: verified('gil@example.com', { hd: 'example.com' }) },
    });
    expect(await decides(desk, 'g1')).toBe(200);
    const gil = await signedIn(desk, 'g1');
    expect((await gil.api('sign-out', {})).body).toEqual({ to: null });
  });
});
