import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { AgentClient } from '../../helpers/agent-client.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { rawRequest } from '../../helpers/raw-request.ts';
import { openTeamDesk, type TeamDesk, teamOrigin } from '../../helpers/team-desk.ts';
import { readAudit } from '../../helpers/test-agent.ts';
import type { WebVisitor } from '../../helpers/web-visitor.ts';

const patience = { timeout: 60_000, interval: 50 };

/** Has a program ask for a call that waits; resolves with what a decision on it must name. */
async function park({ agent, page }: TeamDesk, id = 't1') {
  if (agent.pid === null) await agent.start(page);
  const program = new AgentClient(agent.client.url, 'of-the-shop');
  const answered = program.send(id, [{ tool: 'pay', args: { amount: 5 } }, { say: 'It is paid.' }]);
  answered.catch(() => undefined);
  const deferral = await vi.waitUntil(async () => {
    const { body } = await page.get('/api/deferrals');
    return body.deferrals.find(({ task_id }: { task_id: string }) => task_id === id);
  }, patience);
  const pinned = { deferral_id: deferral.id, args_sha256: deferral.args_sha256 };
  return { answered, call: deferral.id as string, pinned };
}

/** Sends a request of the dashboard's page; a POST if there is a body. */
async function ask(
  visitor: WebVisitor,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
) {
  const own = { 'sec-fetch-site': 'same-origin', 'x-holdpoint-csrf': visitor.csrf };
  const response = await visitor.fetch(`${teamOrigin}/api/${path}`, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { ...own, origin: teamOrigin, 'content-type': 'application/json', ...headers },
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

describe('an agent without dashboard people', () => {
  it('has a warning with the setting', async () => {
    const desk = await openTeamDesk();
    const warnings = async () => (await desk.page.get('/api/agents/till')).body.warnings;
    const expected = `service.yaml: people who sign in to the dashboard have no access to this agent; set auth.dashboard_issuer to ${desk.issuer.issuer}`;
    expect(await warnings()).not.toContain(expected);
    const path = join(desk.agent.folder.path, 'service.yaml');
    const service = JSON.parse(readFileSync(path, 'utf8'));
    delete service.auth.dashboard_issuer;
    writeFileSync(path, JSON.stringify(service));
    await vi.waitUntil(async () => (await warnings()).includes(expected), patience);
  });
});

describe('an operator at the public address', () => {
  it('signs in, uses the dashboard, and decides in the verified name', async () => {
    const desk = await openTeamDesk({ rule: { approvers: ['olga@example.com'] } });
    const { answered, call, pinned } = await park(desk);
    const olga = await desk.signedIn('olga');
    expect(olga.visited.at(-1)).toBe(`${teamOrigin}/`);
    expect([...(olga.cookies.get('ops.example.com') ?? [])]).toEqual([
      [
        '__Host-holdpoint',
        expect.stringMatching(
          /^[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=1\d{3};$/,
        ),
      ],
    ]);
    const about = await ask(olga, 'workspace');
    expect(about.body.person).toEqual({
      ...{ name: 'Olga', email: 'olga@example.com', csrf: olga.csrf },
      expires_at: expect.any(String),
    });
    expect((await ask(olga, 'deferrals')).body.deferrals).toMatchObject([{ id: call }]);
    // Neither a name, nor a token, nor a header of the browser makes a decision another person's.
    const body = { decision: 'approve', ...pinned, approver_email: 'ann@example.com', token: 'x' };
    const forged = { 'x-service-person': Buffer.from('{}').toString('base64url') };
    expect(await ask(olga, 'agents/till/tasks/t1/decisions', body, forged)).toMatchObject({
      status: 200,
      body: { approver: 'olga@example.com' },
    });
    await answered;
    const audit = readAudit(`${desk.agent.folder.path}/.service/audit.ndjson`);
    const [decision] = audit.filter(({ event }) => event === 'task_deferred_decision');
    expect(decision?.fields).toMatchObject({
      approver: 'olga@example.com',
      method: 'dashboard',
      user_id: 'olga',
      vouched_by: 'token:dashboard',
    });
    expect((await ask(olga, 'deferrals/decided')).body.decided).toMatchObject([{ id: call }]);
    expect(desk.log).toContainEqual({
      level: 'info',
      fields: {
        person: 'olga@example.com',
        method: 'POST',
        path: '/api/agents/till/tasks/t1/decisions',
      },
      message: 'dashboard: a change by a person',
    });
    expect(JSON.stringify(desk.log)).not.toContain(olga.csrf);
  });

  it('is no approver of a call that lists other people', async () => {
    const desk = await openTeamDesk();
    const { pinned } = await park(desk);
    const olga = await desk.signedIn('olga');
    const body = { decision: 'approve', ...pinned, approver_email: 'ann@example.com' };
    expect((await ask(olga, 'agents/till/tasks/t1/decisions', body)).status).toBe(403);
    const list = { decisions: [{ task_id: 't1', ...body }] };
    expect((await ask(olga, 'agents/till/deferrals/decisions', list)).body).toMatchObject({
      decisions: [{ task_id: 't1', status: 403 }],
    });
    expect(desk.agent.folder.paid).toEqual([]);
  });
});

describe('all other people who sign in', () => {
  it('decide listed calls on an approvals page, and nothing else', async () => {
    const desk = await openTeamDesk();
    const { answered, call, pinned } = await park(desk);
    const ann = await desk.signedIn('ann');
    const refused = {
      status: 403,
      body: {
        error: 'only an operator may use the dashboard; your approvals are at /approvals/',
        code: 'operator_only',
        page: '/approvals/',
      },
    };
    for (const path of ['agents', 'deferrals', 'events', 'agents/till/audit', 'agents/till/config'])
      expect(await ask(ann, path)).toEqual(refused);
    expect(await ask(ann, 'agents/till/stop', {})).toEqual(refused);
    const body = { decision: 'approve', ...pinned };
    expect(await ask(ann, 'agents/till/tasks/t1/decisions', body)).toEqual(refused);

    expect((await ann.api('session')).body).toMatchObject({ agent_id: null, name: 'Ann' });
    const listed = await ann.api('deferrals?order=deadline');
    expect(listed.body).toMatchObject({ deferrals: [{ id: call, agent_id: 'till' }], total: 1 });
    const shown = await ann.api(`deferrals/${call}`);
    expect(shown.body).toMatchObject({ id: call, agent_id: 'till', may_decide: true });
    expect((await ann.api('tasks/t1/decisions', body)).status).toBe(404);
    expect(await ann.api('tasks/t1/decisions?agent=till', body)).toMatchObject({
      status: 200,
      body: { approver: 'ann@example.com' },
    });
    await answered;
    expect((await ann.api('deferrals?decided_by=me')).body.deferrals).toMatchObject([
      { id: call, agent_id: 'till', decision: 'approve' },
    ]);
    expect(desk.agent.folder.paid).toHaveLength(1);
  });

  it('see nothing of the calls of others, also by a link', async () => {
    const desk = await openTeamDesk();
    const { call, pinned } = await park(desk);
    const end = await desk.visit().open('/approvals/sign-in?call=../../x');
    expect(end.status).toBe(400);
    for (const person of ['eve', 'liar']) {
      const other = await desk.signedIn(person);
      expect((await other.api('deferrals')).body).toEqual({ deferrals: [], total: 0, unasked: [] });
      expect((await other.api(`deferrals/${call}`)).status).toBe(404);
      const sent = { decision: 'approve', ...pinned, approver_email: 'ann@example.com' };
      const answer = await other.api('tasks/t1/decisions?agent=till', sent);
      expect([person, answer.status]).toEqual([person, person === 'eve' ? 404 : 403]);
      expect((await ask(other, 'agents')).status).toBe(403);
    }
    expect(desk.agent.folder.paid).toEqual([]);
  });

  it('return from the issuer to the call of a link', async () => {
    const desk = await openTeamDesk();
    desk.issuer.person = 'ann';
    const call = await desk.visit().open('/approvals/sign-in?call=c-1');
    expect(call.url).toBe(`${teamOrigin}/approvals/#/calls/c-1`);
    const place = encodeURIComponent('#/approvals/till/t1?order=new');
    const page = await desk.visit().open(`/sign-in?to=${place}`);
    expect(page.url).toBe(`${teamOrigin}/#/approvals/till/t1?order=new`);
    for (const to of ['https://evil.test/', '//evil.test', '#//evil.test@x"', 'x'.repeat(900)]) {
      const other = await desk.visit().open(`/sign-in?to=${encodeURIComponent(to)}`);
      expect([to, new URL(other.url).origin]).toEqual([to, teamOrigin]);
    }
  });
});

describe('the session of a person', () => {
  it('ends with the sign-out, for every copy of its cookie and for its streams at once', async () => {
    const desk = await openTeamDesk();
    const olga = await desk.signedIn('olga');
    const stream = await olga.fetch(`${teamOrigin}/api/events`, { headers: {} });
    expect(stream.status).toBe(200);
    const cookies = new Map(olga.cookies.get('ops.example.com'));
    const out = await olga.api('sign-out', {});
    expect(out.body.to).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/session\/end\?/);
    await expect(stream.text()).rejects.toThrow();
    olga.cookies.set('ops.example.com', cookies);
    expect(await ask(olga, 'agents')).toEqual({
      status: 401,
      body: {
        error: 'unauthorized',
        code: 'unauthorized',
        message: 'sign in on the page',
        sign_in: '/sign-in',
      },
    });
  });

  it('ends its streams when it is idle or expired', async () => {
    const clock = new ManualClock(Date.now());
    const desk = await openTeamDesk({ clock, settings: { idle: '10m', lifetime: '1h' } });
    const olga = await desk.signedIn('olga');
    const stream = await olga.fetch(`${teamOrigin}/api/events`, { headers: {} });
    let isCut = false;
    const cut = stream.text().catch(() => (isCut = true));
    clock.advance(9 * 60_000);
    expect((await ask(olga, 'agents', undefined, { 'x-holdpoint-active': '1' })).status).toBe(200);
    clock.advance(9 * 60_000);
    expect((await ask(olga, 'agents')).status).toBe(200);
    expect(isCut).toBe(false);
    await vi.waitUntil(() => {
      clock.advance(10_000);
      return isCut;
    }, patience);
    await cut;
    expect((await ask(olga, 'agents')).status).toBe(401);
  });

  it('survives a restart, in files that only this user can read', async () => {
    const desk = await openTeamDesk();
    const olga = await desk.signedIn('olga');
    const folder = join(desk.page.workspace, '.service');
    expect(statSync(join(folder, 'dashboard.db')).mode & 0o077).toBe(0);
    const again = await desk.restart();
    olga.agentUrl = again;
    expect((await ask(olga, 'agents')).status).toBe(200);
  });

  it('needs its own origin and its token for each change', async () => {
    const desk = await openTeamDesk();
    const olga = await desk.signedIn('olga');
    const post = (headers: Record<string, string>) => ask(olga, 'agents/rescan', {}, headers);
    expect((await post({})).status).toBe(200);
    for (const headers of [
      { 'x-holdpoint-csrf': 'guessed' },
      { origin: 'https://evil.test' },
      { origin: `http://127.0.0.1:${desk.page.dashboard.port}` },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      expect([headers, (await post(headers)).status]).toEqual([headers, 403]);
    }
  });

  it('is not started more often than the limit by one address behind a trusted proxy', async () => {
    const desk = await openTeamDesk({ settings: { trusted_proxies: ['loopback'] } });
    const visitor = desk.visit();
    const starts = Array.from({ length: 24 }, () =>
      visitor.fetch(`${teamOrigin}/sign-in`, { headers: {} }).then(({ status }) => status),
    );
    const statuses = await Promise.all(starts);
    expect(statuses.filter((status) => status === 302)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  });
});

describe('a change at the issuer', () => {
  it('applies to operators within a minute, and a request with changes waits for the issuer', async () => {
    const clock = new ManualClock(Date.now());
    const desk = await openTeamDesk({ clock, hasRefreshTokens: true });
    const olga = await desk.signedIn('olga');
    desk.people['olga'] = { ...desk.people['olga'], groups: [] };
    expect((await ask(olga, 'agents/rescan', {})).status).toBe(200);
    clock.advance(60_000);
    desk.issuer.isDown = true;
    expect(await ask(olga, 'agents/rescan', {})).toEqual({
      status: 503,
      body: {
        error: 'your account could not be checked at the issuer, so nothing has changed; try again',
        code: 'issuer_unreachable',
      },
    });
    expect((await ask(olga, 'agents')).status).toBe(200);
    desk.issuer.isDown = false;
    expect((await ask(olga, 'agents')).status).toBe(403);
    expect((await olga.api('session')).status).toBe(200);
    clock.advance(60_000);
    desk.issuer.disabled.add('olga');
    expect((await ask(olga, 'agents')).status).toBe(401);
    expect((await olga.api('session')).status).toBe(401);
  });

  it('ends the streams of an operator who sends no further request', async () => {
    const clock = new ManualClock(Date.now());
    const settings = { idle: '8h', lifetime: '8h' };
    const desk = await openTeamDesk({ clock, settings, hasRefreshTokens: true });
    const olga = await desk.signedIn('olga');
    const stream = await olga.fetch(`${teamOrigin}/api/events`, { headers: {} });
    let isCut = false;
    const cut = stream.text().catch(() => (isCut = true));
    desk.people['olga'] = { ...desk.people['olga'], groups: [] };
    await vi.waitUntil(() => {
      clock.advance(10_000);
      return isCut;
    }, patience);
    await cut;
    expect((await olga.api('session')).status).toBe(200);
  });

  it('prevents a removed person from deciding', async () => {
    const clock = new ManualClock(Date.now());
    const rule = { approvers: ['group:finance'] };
    const desk = await openTeamDesk({ clock, rule, hasRefreshTokens: true });
    const ann = await desk.signedIn('ann');
    const path = 'tasks/t1/decisions?agent=till';
    clock.advance(60_000);
    desk.issuer.isDown = true;
    expect((await ann.api(path, { decision: 'reject' })).status).toBe(503);
    desk.issuer.isDown = false;
    desk.issuer.disabled.add('ann');
    expect((await ann.api(path, { decision: 'reject' })).status).toBe(401);
  });
});

describe('the two addresses', () => {
  it('separate the token of the machine from the public address, and its names from proxies', async () => {
    const desk = await openTeamDesk();
    const { port } = desk.page.dashboard;
    const url = `http://127.0.0.1:${port}`;
    const status = async (...lines: string[]) => {
      const text = ['GET /api/agents HTTP/1.1', ...lines, 'Connection: close', '', ''];
      return (await rawRequest(url, text.join('\r\n'))).status;
    };
    const token = 'Authorization: Bearer of-the-machine';
    expect(await status(`Host: localhost:${port}`, token)).toBe(200);
    expect(await status('Host: ops.example.com', token)).toBe(401);
    expect(await status('Host: ops.example.com:443', token)).toBe(401);
    expect(await status('Host: ops.example.com:8443', token)).toBe(403);
    expect(await status('Host: evil.test', token)).toBe(403);
    expect(await status(`Host: evil.test`, 'X-Forwarded-Host: ops.example.com', token)).toBe(403);
    for (const header of ['X-Forwarded-For: 192.0.2.1', 'Forwarded: for=x', 'Via: 1.1 x'])
      expect(await status(`Host: localhost:${port}`, token, header)).toBe(403);
  });

  it('serve the files of the pages to every client, and people only at the public address', async () => {
    const desk = await openTeamDesk();
    const visitor = desk.visit();
    expect((await visitor.open('/')).body).toContain('<div id="app">');
    expect((await visitor.open('/approvals')).url).toBe(`${teamOrigin}/approvals/`);
    for (const path of ['/sign-in', '/approvals/', '/approvals/api/session'])
      expect((await desk.page.get(path)).status).toBe(404);
  });
});
