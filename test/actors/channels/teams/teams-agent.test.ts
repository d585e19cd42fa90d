import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../../../helpers/agent-folder.ts';
import { FakeTeams, linesOf, type TeamsCard } from '../../../helpers/fake-teams.ts';
import { deferring, reached, startInFolder, textOf } from '../../../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];
const ann = 'ann@example.com';
const token = 'canary-token-of-the-shop-0123456789';

/** An agent that posts held calls of `pay` to Teams. */
async function startPoster(rule: object = {}, settings: object = {}) {
  const teams = await FakeTeams.start();
  const boss = await FakeTeams.start();
  const folder = new AgentFolder({
    ...deferring({ to: 'channel:teams:desk', approvers: [ann, 'group:desk'], ...rule }),
    channels: ['teams'],
    server: { public_url: 'https://agent.example.com' },
    ...settings,
  });
  onTestFinished(() => folder.remove());
  const targets = { desk: { url_env: 'TEAMS_DESK_URL' }, boss: { url_env: 'TEAMS_BOSS_URL' } };
  writeFileSync(join(folder.path, 'teams-config.yaml'), JSON.stringify({ settings: { targets } }));
  const people = { groups: { desk: ['bob@example.com'] } };
  writeFileSync(join(folder.path, 'people.yaml'), JSON.stringify(people));
  const env = { TEAMS_DESK_URL: teams.url, TEAMS_BOSS_URL: boss.url };
  const agent = await startInFolder(folder, env);
  return { teams, boss, agent };
}

const mentionedIn = ({ msteams }: TeamsCard) =>
  msteams.entities.map(({ mentioned }) => mentioned.id);
const pageIn = ({ actions }: TeamsCard) => actions.map(({ url }) => url);

describe('an agent that posts to Teams', () => {
  it('asks with the arguments, links to the page, and posts the decision and the outcome as further cards', async () => {
    const { teams, agent } = await startPoster({ mention: true });
    const answer = agent.send('t1', pay);
    const [asked] = await teams.posted(1);
    if (asked === undefined) throw new Error('no card');
    const { deferral } = (await agent.reached('t1', 'deferred')).metadata;
    const expiry = `${deferral.expires_at.slice(0, 19)}Z`;
    expect(linesOf(asked)).toEqual([
      'Approval needed',
      'Tool: pay',
      'amount: 5',
      'Requested by: unknown',
      'Who can decide: ann@example.com, group:desk',
      '<at>ann@example.com</at> <at>bob@example.com</at>',
      `Denied without a decision on {{DATE(${expiry}, SHORT)}} at {{TIME(${expiry})}}.`,
    ]);
    expect([mentionedIn(asked), pageIn(asked)]).toEqual([
      [ann, 'bob@example.com'],
      ['https://agent.example.com'],
    ]);
    const decision = { decision: 'approve', approver_email: ann, note: 'checked' };
    expect((await agent.post('/tasks/t1/decisions', decision)).status).toBe(200);
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    const [, ...further] = await teams.posted(3);
    expect(further.map(linesOf)).toEqual([
      ['Approval ended', 'Tool: pay', `Approved by ${ann}`, 'Note: checked'],
      ['Outcome of the call', 'Tool: pay', `Approved by ${ann}`, 'Note: checked', 'Outcome: ran'],
    ]);
    expect(further.map(mentionedIn)).toEqual([[], []]);
    const told = inspect(agent.log, { depth: 20 }) + readFileSync(agent.auditPath, 'utf8');
    expect(told).not.toContain('canary');
  });

  it('mentions no one without `mention`, and links to the call on the approvals page', async () => {
    const sign_in = { issuer: 'https://id.example.com', client_id: 'holdpoint' };
    const identity = { user_id: 'shop', email: 'shop@example.com' };
    const provider = { type: 'static_token', name: 'shop', settings: { token, identity } };
    const { teams, agent } = await startPoster(
      {},
      {
        approvals: { public_url: 'https://approvals.example.com', sign_in },
        auth: { providers: [provider] },
      },
    );
    const shop = agent.as(token);
    void shop.send('t1', pay).catch(() => undefined);
    const [asked] = await teams.posted(1);
    if (asked === undefined) throw new Error('no card');
    const { deferral } = (await reached(shop, 't1', 'deferred')).metadata;
    expect(linesOf(asked)).toContain('Requested by: shop@example.com');
    expect([mentionedIn(asked), pageIn(asked)]).toEqual([
      [],
      [`https://approvals.example.com/approvals/#/calls/${deferral.id}`],
    ]);
    expect(JSON.stringify(asked)).not.toContain('<at>');
  });

  it('reminds, asks the next target, and posts the end to both', async () => {
    const { teams, boss, agent } = await startPoster({
      ...{ timeout: '4s', remind: true, mention: true },
      escalate_to: 'channel:teams:boss',
    });
    void agent.send('t1', pay).catch(() => undefined);
    const headings = (cards: TeamsCard[]) => cards.map((card) => linesOf(card)[0]);
    expect(headings(await boss.posted(2))).toEqual(['Approval needed', 'Approval ended']);
    const [, reminder, end, ...others] = await teams.posted(3);
    if (reminder === undefined || end === undefined) throw new Error('no card');
    expect(linesOf(reminder).slice(0, -1)).toEqual([
      'Reminder: approval needed',
      'Tool: pay',
      'Reminder: half of the time is over.',
      'Requested by: unknown',
      'Who can decide: ann@example.com, group:desk',
      '<at>ann@example.com</at> <at>bob@example.com</at>',
    ]);
    expect(linesOf(end)).toEqual([
      'Approval ended',
      'Tool: pay',
      'No decision within 4s, so the call was denied.',
    ]);
    expect(others).toEqual([]);
    expect(linesOf(boss.cards[0] as TeamsCard)).toContain(
      'Escalated: no decision in time, so more approvers are notified.',
    );
  });

  it.each([
    ['a server error', [{ status: 502 }], [502, 202]],
    ['a broken connection', ['reset' as const], ['reset', 202]],
    ['a limit', [{ status: 429, retryAfter: 1 }], [429, 202]],
  ])('posts again after %s', async (_, answers, answered) => {
    const { teams, agent } = await startPoster();
    teams.answers.push(...answers);
    void agent.send('t1', pay).catch(() => undefined);
    await teams.posted(1);
    expect(teams.answered).toEqual(answered);
  });

  it('reports a deleted workflow without its URL, and keeps the call waiting', async () => {
    const { teams, agent } = await startPoster();
    teams.answers.push(...Array(20).fill({ status: 404 }));
    void agent.send('t1', pay).catch(() => undefined);
    await vi.waitUntil(() => agent.log.some(({ level }) => level !== 'info'), { timeout: 5_000 });
    await agent.reached('t1', 'deferred');
    const said = inspect(agent.log, { depth: 20 });
    expect(said).toContain(
      'the webhook of Teams "desk" answered 404; check the workflow and the URL in its variable',
    );
    expect(said).not.toContain('canary');
    expect(teams.cards).toEqual([]);
  });

  it('follows the egress rules, which record only the host of the webhook', async () => {
    const { teams, agent } = await startPoster();
    void agent.send('t1', pay).catch(() => undefined);
    await teams.posted(1);
    const sent = agent.audit('t1').filter(({ event }) => event.startsWith('egress'));
    expect(sent.map(({ event, fields }) => [event, fields])).toEqual([
      ['egress_allowed', { domain: '127.0.0.1', mode: 'allowlist' }],
    ]);
  });
});
