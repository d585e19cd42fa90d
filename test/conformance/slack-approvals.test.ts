import { describe, expect, it } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { withoutCall } from '../helpers/call-fields.ts';
import { type SlackAgent, startSlackAgent, vouchedInSlack } from '../helpers/slack-agent.ts';
import { expectIntact, textOf } from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];

/** Sends a task and resolves once Slack shows what waits. */
async function asked(chat: SlackAgent, id = 't1') {
  const answer = chat.agent.send(id, pay);
  answer.catch(() => undefined);
  await chat.shows(/\[Approve\]/);
  return { answer };
}

function decisions({ agent }: SlackAgent): unknown[] {
  return agent
    .audit('t1')
    .filter(({ event }) => event === 'task_deferred_decision')
    .map(({ fields: { wait_ms: _, ...fields } = {} }) => withoutCall(fields));
}

describe('a click on Approve', () => {
  it('releases the call, answers the caller, and the message names the person', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    const [message, ...others] = await chat.shows(/ann@example\.com/);
    expect(others).toEqual([]);
    expect(message).not.toMatch(/\[Approve\]|\[Reject\]/);
    expect(decisions(chat)).toEqual([
      {
        tool: 'pay',
        decision: 'approve',
        approver: 'ann@example.com',
        note: '',
        ...vouchedInSlack('U0ANN00001'),
      },
    ]);
    expect(chat.folder.paid).toHaveLength(1);
    await expectIntact(chat.agent.auditPath);
  });

  it('counts once, however often it is delivered', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    chat.slack.socket.spoil('double', 1);
    const click = { channel: 'refunds', action: 'Approve', user: 'ann' } as const;
    await Promise.allSettled([chat.slack.click(click), chat.slack.click(click)]);
    await answer;
    await chat.shows(/ann@example\.com/);
    expect(decisions(chat)).toHaveLength(1);
    expect(chat.folder.paid).toHaveLength(1);
  });

  it('of two people at once counts for the first one, and the other gets a notice', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    await Promise.all([
      chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' }),
      chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' }),
    ]);
    await answer;
    const told = await chat.whispers(/already/i);
    const [decided] = decisions(chat) as { approver: string }[];
    expect(decisions(chat)).toHaveLength(1);
    expect(told).toContain(decided?.approver);
  });
});

describe('a click on Reject', () => {
  it('asks for a reason first, and the task fails with it', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Reject', user: 'ann' });
    const view = await chat.slack.until(() => chat.slack.views.find(({ isOpen }) => isOpen));
    expect((await chat.agent.get('/tasks/t1')).body.status.state).toBe('deferred');
    const values = { [inputOf(view.content)]: 'too much' };
    expect(await chat.slack.submit(view, { values })).toBeNull();
    expect(textOf(await answer)).toBe('defer: rejected by ann@example.com: too much');
    expect((await chat.shows(/too much/)).join()).not.toMatch(/\[Approve\]/);
  });

  it('needs no reason', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Reject', user: 'ann' });
    const view = await chat.slack.until(() => chat.slack.views.find(({ isOpen }) => isOpen));
    await chat.slack.submit(view);
    expect(textOf(await answer)).toBe('defer: rejected by ann@example.com');
  });

  it('rejects without a reason when Slack cannot ask for it', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    chat.slack.fail({ method: 'views.open', fault: { kind: 'refuse', error: 'internal_error' } });
    await chat.slack.click({ channel: 'refunds', action: 'Reject', user: 'ann' });
    expect(textOf(await answer)).toBe('defer: rejected by ann@example.com');
  });

  it('that is closed leaves the call waiting', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Reject', user: 'ann' });
    const view = await chat.slack.until(() => chat.slack.views.find(({ isOpen }) => isOpen));
    await chat.slack.closeView(view);
    expect((await chat.agent.get('/tasks/t1')).body.status.state).toBe('deferred');
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' });
    expect(textOf(await answer)).toBe('paid {"amount":5}');
  });
});

describe('a click of a person who may not decide', () => {
  const listed = { rule: { approvers: ['ann@example.com'] } };

  it.each([
    ['is not on the list', 'bob', 'bob@example.com', 'U0BOB00001'],
    ['has no email', 'guest', 'guest (U0GUEST001)', 'U0GUEST001'],
  ])(
    '%s: answered privately and audited, and the call keeps waiting',
    async (_, user, approver, id) => {
      const chat = await startSlackAgent(listed);
      const { answer } = await asked(chat);
      await chat.slack.click({ channel: 'refunds', action: 'Approve', user });
      await chat.whispers(/may not|not allowed|not authorized/i);
      expect(decisions(chat)).toEqual([
        {
          tool: 'pay',
          decision: 'approve',
          approver,
          note: '',
          ...vouchedInSlack(id),
          authorized: false,
        },
      ]);
      expect((await chat.agent.get('/tasks/t1')).body.status.state).toBe('deferred');
      await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
      expect(textOf(await answer)).toBe('paid {"amount":5}');
    },
  );
});

it('the channels of the workspace are listed once, although their names are checked at the start', async () => {
  const chat = await startSlackAgent();
  const { answer } = await asked(chat);
  await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
  await answer;
  const lists = chat.slack.calls.filter(({ method }) => method === 'conversations.list');
  expect(lists).toHaveLength(1);
});

describe('a bot without the email scope', () => {
  it('allows no decision under an allowlist, and warns at the start', async () => {
    const chat = await startSlackAgent({
      rule: { approvers: ['ann@example.com'] },
      slack: { scopes: ['chat:write', 'channels:read', 'groups:read', 'users:read'] },
    });
    const { answer } = await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await chat.whispers(/not allowed to decide/i);
    expect((await chat.agent.get('/tasks/t1')).body.status.state).toBe('deferred');
    await expect
      .poll(() => chat.agent.log.map(({ message }) => message).join('\n'), { timeout: 10_000 })
      .toContain('users:read.email');
    const direct = { decision: 'approve', approver_email: 'ann@example.com' };
    expect((await chat.agent.decide('t1', direct)).status).toBe(200);
    await answer;
  });
});

describe('a quorum', () => {
  it('is counted on the message, one click for each person', async () => {
    const chat = await startSlackAgent({
      rule: { quorum: 2, approvers: ['ann@example.com', 'bob@example.com'] },
    });
    const { answer } = await asked(chat);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await chat.whispers(/1 of 2/);
    await chat.shows(/1 of 2/);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await chat.slack.until(() => (chat.slack.ephemerals('refunds').length > 1 ? true : undefined));
    expect((await chat.agent.get('/tasks/t1')).body.status.state).toBe('deferred');
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' });
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    const [message] = await chat.shows(/Approved by/);
    expect(message).toContain('bob@example.com');
  });
});

describe('four eyes', () => {
  it('exclude a requester over HTTP from deciding in Slack', async () => {
    const identity = { user_id: 'ann', email: 'ann@example.com' };
    const settings = { token: 'ann-token', identity };
    const chat = await startSlackAgent({
      rule: { four_eyes: true },
      settings: { auth: { providers: [{ type: 'static_token', name: 'staff', settings }] } },
    });
    const answer = chat.agent.as('ann-token').send('t1', pay);
    const [message] = await chat.shows(/\[Approve\]/);
    expect(message).toContain('Requested by: ann@example.com');
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await chat.whispers(/not allowed to decide/i);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' });
    expect(textOf(await answer)).toBe('paid {"amount":5}');
  });
});

describe('a reminder', () => {
  it('is one line in the thread at half of the time, and the message shows it', async () => {
    const chat = await startSlackAgent({ rule: { timeout: '4s', remind: true } });
    const { answer } = await asked(chat);
    const two = await chat.slack.until(() => {
      const messages = chat.slack.messages('refunds');
      return messages.length === 2 ? messages : undefined;
    });
    expect(two.map(({ threadTs }) => threadTs)).toEqual([null, two[0]?.ts]);
    expect(chat.channel()[0]).toMatch(/^Still waiting for approval: pay/);
    expect(chat.channel()[1]).toMatch(/^Half of the time is over/);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' });
    expect(textOf(await answer)).toBe('paid {"amount":5}');
  });
});

describe('the outcome of a call elsewhere', () => {
  it('is on the message: a direct decision', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    await chat.agent.decide('t1', { decision: 'reject', approver: 'Cleo', note: 'by phone' });
    await answer;
    const [message] = await chat.shows(/Cleo/);
    expect(message).toContain('by phone');
    expect(message).not.toMatch(/\[Approve\]/);
  });

  it('is on the message: the result of the call', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    await chat.agent.decide('t1', { decision: 'approve', approver: 'Cleo' });
    await answer;
    const [message] = await chat.shows(/Outcome: ran/);
    expect(message).toMatch(/Approved by Cleo/);
  });

  it('is on the message: a timeout', async () => {
    const chat = await startSlackAgent({ rule: { timeout: '1s' } });
    const { answer } = await asked(chat);
    expect(textOf(await answer)).toBe('defer: no decision within 1s (auto-deny)');
    const [message] = await chat.shows(/no decision|denied|expired/i);
    expect(message).not.toMatch(/\[Approve\]/);
  });

  it('is on the message: the task was canceled', async () => {
    const chat = await startSlackAgent();
    const { answer } = await asked(chat);
    await chat.agent.rpc('tasks/cancel', { id: 't1', reason: 'cost_limit_exceeded' });
    await answer;
    const [message] = await chat.shows(/cost_limit_exceeded/);
    expect(message).not.toMatch(/\[Approve\]/);
  });

  it('is on the message: the service was restarted and abandoned the call', async () => {
    const chat = await startSlackAgent();
    await asked(chat);
    await chat.agent.stop();
    await chat.start();
    const shown = await chat.shows(/restart/i);
    expect(shown).toHaveLength(1);
    expect(shown[0]).not.toMatch(/\[Approve\]/);
  });

  it('continues after a restart where tasks are resumed: the earlier message still decides', async () => {
    const chat = await startSlackAgent({ defer: { on_restart: 'resume' } });
    await asked(chat);
    await chat.agent.stop();
    await chat.start();
    await chat.slack.connected();
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    const task = await chat.agent.reached('t1', 'completed');
    expect(textOf({ body: task })).toBe('paid {"amount":5}');
    expect(await chat.shows(/ann@example\.com/)).toHaveLength(1);
  });
});

describe('an unreachable Slack', () => {
  it('does not delay the task, and gets pending calls once it is back, oldest first', async () => {
    const chat = await startSlackAgent();
    await chat.slack.connected();
    chat.slack.fail({
      method: 'chat.postMessage',
      times: 2,
      fault: { kind: 'status', status: 502 },
    });
    const first = chat.agent.send('t1', pay);
    await chat.agent.reached('t1', 'deferred');
    const second = chat.agent.send('t2', pay);
    await chat.agent.reached('t2', 'deferred');
    const two = await chat.slack.until(() => {
      const messages = chat.slack.messages('refunds');
      return messages.length === 2 ? messages : undefined;
    });
    expect(two.map(({ blocks }) => JSON.stringify(blocks).match(/t[12](?=")/)?.[0])).toEqual([
      't1',
      't2',
    ]);
    await chat.agent.decide('t1', { decision: 'approve' });
    await chat.agent.decide('t2', { decision: 'approve' });
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
  });

  it.each([
    ['an unknown channel', '#nowhere'],
    ['a channel that the bot is not in', '#outside'],
  ])('%s: an error in the log, nothing posted, and a direct decision counts', async (_, target) => {
    const chat = await startSlackAgent({ rule: { to: `channel:slack:${target}` } });
    const answer = chat.agent.send('t1', pay);
    await chat.agent.reached('t1', 'deferred');
    await expect
      .poll(() => chat.agent.log.filter(({ level }) => level === 'error').length, {
        timeout: 10_000,
      })
      .toBeGreaterThan(0);
    expect(chat.slack.workspace.messages).toEqual([]);
    expect((await chat.agent.decide('t1', { decision: 'approve' })).status).toBe(200);
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    expect(JSON.stringify(chat.agent.log)).not.toContain('xox');
  });
});

describe('an escalation', () => {
  it('posts to another channel as well, and both show the decider', async () => {
    const chat = await startSlackAgent({
      rule: { timeout: '8s', escalate_to: 'channel:slack:finance' },
    });
    const { answer } = await asked(chat);
    await chat.shows(/\[Approve\]/, 'finance');
    await chat.slack.click({ channel: 'finance', action: 'Approve', user: 'bob' });
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    await chat.shows(/bob@example\.com/);
    await chat.shows(/bob@example\.com/, 'finance');
  }, 20_000);
});

/** The `action_id` of the input of a modal. */
function inputOf(view: unknown): string {
  const found = JSON.stringify(view).match(
    /"type":"plain_text_input"[^}]*?"action_id":"([^"]+)"|"action_id":"([^"]+)"[^}]*?"type":"plain_text_input"/,
  );
  return found?.[1] ?? found?.[2] ?? '';
}

describe('the hook of a coding agent', () => {
  const rm = {
    ...{ session_id: 's-1', transcript_path: '/t.jsonl', cwd: '/app' },
    ...{ permission_mode: 'default', hook_event_name: 'PreToolUse', tool_name: 'Bash' },
    ...{ tool_use_id: 'toolu_01', tool_input: { command: 'rm -rf build' } },
  };
  const settings = {
    gate: { tools: { Bash: {} } },
    security: {
      defer: { enabled: true, tools: { Bash: { to: 'channel:slack:#refunds', timeout: '5m' } } },
    },
  } as ServiceSettings;

  it.each([
    ['Approve', 'allow'],
    ['Reject', 'deny'],
  ] as const)('waits for a click on %s in Slack', async (action, permissionDecision) => {
    const chat = await startSlackAgent({ settings });
    const waiting = chat.agent.post('/hooks/claude-code', rm);
    const [message] = await chat.shows(/\[Approve\]/);
    expect(message).toContain('rm -rf build');
    expect(message).toContain('claude-code');
    await chat.slack.click({ channel: 'refunds', action, user: 'ann' });
    if (action === 'Reject') {
      const view = await chat.slack.until(() => chat.slack.views.find(({ isOpen }) => isOpen));
      await chat.slack.submit(view, { values: { [inputOf(view.content)]: 'not today' } });
    }
    const { body } = await waiting;
    expect(body.hookSpecificOutput).toMatchObject({ permissionDecision });
    await chat.shows(/ann@example\.com/);
  });
});
