import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appScopes } from '../../packages/fake-slack/workspace/app-scopes.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { type SlackAgent, startSlackAgent } from '../helpers/slack-agent.ts';
import { reached, textOf } from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];

const [ann, bob, eve] = ['U0ANN00001', 'U0BOB00001', 'U0EVE00001'];

const people = { groups: { legal: { slack: 'S0LEGAL' }, desk: ['bob@example.com'] } };

/** An agent whose approvers are members of a Slack user group, with Ann in it. */
async function legalAgent(
  rule: object = {},
  scopes = [...appScopes, 'usergroups:read'],
  settings: ServiceSettings = {},
) {
  const chat = await startSlackAgent({
    ...{ rule: { approvers: ['group:legal'], ...rule }, slack: { scopes }, settings },
    prepare: ({ folder, slack }) => {
      writeFileSync(join(folder.path, 'people.yaml'), JSON.stringify(people));
      slack.workspace.userGroups.set('S0LEGAL', [ann]);
    },
  });
  return chat;
}

async function asked(chat: SlackAgent, id = 't1') {
  const answer = chat.agent.send(id, pay);
  answer.catch(() => undefined);
  await chat.shows(/\[Approve\]/);
  return { answer };
}

const decisionsOf = ({ agent }: SlackAgent, id = 't1') =>
  agent
    .audit(id)
    .filter(({ event }) => event === 'task_deferred_decision')
    .map(({ fields = {} }) => [fields['approver'], fields['authorized'] ?? true]);

describe('a Slack user group of approvers', () => {
  it('decides by its members, and by no one else', async () => {
    const chat = await legalAgent();
    const { answer } = await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' });
    await chat.whispers(/Only the approvers of this tool may decide/);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await chat.shows(/ann@example\.com/);
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    expect(decisionsOf(chat)).toEqual([
      ['bob@example.com', false],
      ['ann@example.com', true],
    ]);
  });

  it('decides nothing while Slack cannot list its members, and refuses no one for that', async () => {
    const chat = await legalAgent();
    await asked(chat);
    chat.slack.fail({
      ...{ method: 'usergroups.users.list', times: 100 },
      fault: { kind: 'status', status: 503 },
    });
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    const words = await chat.whispers(/group/);
    expect(words).toBe(
      'The members of a group of approvers could not be checked, so nothing was decided. Try again in a moment.',
    );
    const { status, body } = await chat.agent.post('/tasks/t1/decisions', {
      ...{ decision: 'approve', approver: 'ann', approver_email: 'ann@example.com' },
    });
    expect([status, body]).toEqual([
      503,
      {
        error:
          'the members of a group of approvers could not be checked, so nothing was decided; try again',
        code: 'unchecked',
      },
    ]);
    expect(decisionsOf(chat)).toEqual([]);
    expect(chat.folder.paid).toEqual([]);
  });

  it('decides nothing without the scope', async () => {
    const chat = await legalAgent({}, [...appScopes]);
    await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await chat.whispers(/could not be checked/);
    expect(decisionsOf(chat)).toEqual([]);
  });

  it('lets an approver by email decide while the group cannot be checked', async () => {
    const chat = await legalAgent({ approvers: ['group:legal', 'eve@example.com'] }, [
      ...appScopes,
    ]);
    const { answer } = await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'eve' });
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    expect(decisionsOf(chat)).toEqual([['eve@example.com', true]]);
  });
});

describe('a caller who may not see a task', () => {
  const tokenOf = (name: string) => `${name}-token-0123456789abcdef`;

  it.each([
    ['requester', 503],
    ['org', 404],
  ])(
    'gets the answer of a missing task while the group cannot be read, under %s',
    async (task_access, status) => {
      const provider = (name: string) => ({
        ...{ type: 'static_token', name },
        settings: {
          token: tokenOf(name),
          identity: { user_id: name, email: `${name}@example.com`, claims: { org_id: name } },
        },
      });
      // Without its scope the bot reads no group.
      const chat = await legalAgent({}, [...appScopes], {
        ...{ auth: { providers: [provider('shop'), provider('eve')] }, server: { task_access } },
      });
      const shop = chat.agent.as(tokenOf('shop'));
      void shop.send('t1', pay).catch(() => undefined);
      await reached(shop, 't1', 'deferred');
      const eve = chat.agent.as(tokenOf('eve'));
      const decision = { decision: 'approve', deferral_id: 'd1', args_sha256: '0'.repeat(64) };
      const answers = await Promise.all(
        ['t1', 'no-task'].map((id) => eve.post(`/tasks/${id}/decisions`, decision)),
      );
      const [real, none] = answers.map((answer) => [answer.status, answer.body]);
      expect([real, none?.[0]]).toEqual([none, status]);
      const { body } = await eve.post('/deferrals/decisions', {
        decisions: ['t1', 'no-task'].map((task_id) => ({ task_id, ...decision })),
      });
      const [first, second] = body.decisions;
      expect([first, second.status]).toEqual([{ ...second, task_id: 't1' }, status]);
    },
  );
});

describe('mention: true', () => {
  it('mentions the group, its members and people by email, and no one in an argument', async () => {
    const chat = await legalAgent({
      approvers: ['group:legal', 'group:desk', 'eve@example.com', 'nobody@example.com'],
      mention: true,
      context_template: 'pay <!channel>',
    });
    await asked(chat);
    const [shown = ''] = chat.channel();
    expect(shown.split('\n').filter((line) => line.startsWith('<'))).toEqual([
      `<!subteam^S0LEGAL> <@${bob}> <@${eve}>`,
    ]);
  });

  it('asks one person directly, who decides there', async () => {
    const chat = await legalAgent({
      ...{ to: 'channel:slack:@Bob@Example.com', approvers: ['bob@example.com'] },
    });
    const answer = chat.agent.send('t1', pay);
    await chat.shows(/\[Approve\]/, 'D0BOB00001');
    await chat.slack.click({ channel: 'D0BOB00001', action: 'Approve', user: 'bob' });
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    await chat.shows(/Approved/, 'D0BOB00001');
    expect(chat.channel('refunds')).toEqual([]);
  });
});
