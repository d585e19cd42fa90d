import { describe, expect, it } from 'vitest';
import type { Answer } from '../helpers/agent-client.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import {
  deferring,
  expectIntact,
  startTestAgent,
  story,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const forbidden = {
  status: 403,
  body: { error: 'approver not authorized', code: 'approver_not_authorized' },
};

const people = { ann: 'token-of-ann-1', bo: 'token-of-bo-22', cy: 'token-of-cy-333' };

/** Settings under which ann and bo have an email and cy has none. */
function signedIn(settings: ServiceSettings): ServiceSettings {
  const provider = (name: string, token: string, email?: string) => ({
    type: 'static_token',
    name,
    settings: { token, identity: { user_id: name, ...(email && { email }) } },
  });
  const providers = [
    provider('ann', people.ann, 'Ann@Example.com'),
    provider('bo', people.bo, 'bo@example.com'),
    provider('cy', people.cy),
  ];
  return { ...settings, auth: { required: true, providers } };
}

async function parked(
  agent: TestAgent,
  token = people.cy,
  id = 't1',
): Promise<{ held: Promise<Answer> }> {
  const held = agent.as(token).send(id, script);
  await expect
    .poll(async () => (await agent.as(token).get(`/tasks/${id}`)).body.status?.state)
    .toBe('deferred');
  return { held };
}

describe('an allowlist', () => {
  const listed = deferring({ approvers: ['ann@example.com', ' BO@Example.com '] });

  it('refuses unlisted people, logs that, and accepts listed ones', async () => {
    const agent = await startTestAgent(listed);
    const held = agent.send('t1', script);
    const { metadata } = await agent.reached('t1', 'deferred');
    expect(metadata.deferral.approvers).toEqual(['ann@example.com', 'bo@example.com']);
    for (const stranger of [
      { approver_email: 'eve@example.com', approver: 'eve', note: 'let me' },
      { approver_email: '' },
      { approver_email: '  ' },
      { approver_email: null },
      {},
      { approver: 'ann@example.com' },
      { approver_email: 'ann@example.com.evil.example' },
      { approver_email: 'ann@example.com,bo@example.com' },
    ]) {
      expect(await agent.decide('t1', { decision: 'approve', ...stranger })).toMatchObject(
        forbidden,
      );
      expect(await agent.decide('t1', { decision: 'reject', ...stranger })).toMatchObject(
        forbidden,
      );
    }
    await agent.reached('t1', 'deferred');
    expect(agent.folder.paid).toEqual([]);
    const allowed = { decision: 'approve', approver_email: ' Bo@EXAMPLE.com ' };
    expect(await agent.decide('t1', allowed)).toMatchObject({
      status: 200,
      body: { approver: 'Bo@EXAMPLE.com', status: 'resolved' },
    });
    expect(textOf(await held)).toBe('paid');
    const decisions = story(agent.audit('t1')).filter(
      ([event]) => event === 'task_deferred_decision',
    );
    expect(decisions.length).toBe(17);
    expect(decisions[0]).toEqual([
      'task_deferred_decision',
      {
        tool: 'pay',
        decision: 'approve',
        approver: 'eve',
        note: 'let me',
        vouched_by: 'asserted',
        authorized: false,
      },
    ]);
    expect(decisions.slice(0, -1).every(([, fields]) => fields?.['authorized'] === false)).toBe(
      true,
    );
    expect(decisions.at(-1)).toEqual([
      'task_deferred_decision',
      {
        tool: 'pay',
        decision: 'approve',
        approver: 'Bo@EXAMPLE.com',
        note: '',
        vouched_by: 'asserted',
      },
    ]);
    expect(agent.audit('t1').find(({ event }) => event === 'task_deferred')?.fields).toMatchObject({
      approvers: ['ann@example.com', 'bo@example.com'],
    });
    await expectIntact(agent.auditPath);
  });

  it('of the tool overrides the default one, which applies to other tools', async () => {
    const agent = await startTestAgent({
      security: {
        defer: {
          enabled: true,
          default_approvers: ['dan@example.com'],
          tools: {
            pay: { to: 'channel:console:desk', approvers: ['ann@example.com'] },
            grant: { to: 'channel:console:desk' },
          },
        },
      },
    });
    const dan = { decision: 'approve', approver_email: 'dan@example.com' };
    const paying = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    expect(await agent.decide('t1', dan)).toMatchObject(forbidden);
    const granting = agent.send('t2', [{ tool: 'grant' }, { say: 'granted' }]);
    await agent.reached('t2', 'deferred');
    expect((await agent.decide('t2', dan)).status).toBe(200);
    expect(textOf(await granting)).toBe('granted');
    await agent.post('/tasks/t1/cancel');
    await paying;
  });

  it('without a valid entry stops the start', async () => {
    const start = startTestAgent(deferring({ approvers: ['ann', 'bo@localhost'] }));
    await expect(start).rejects.toMatchObject({
      problems: [{ message: expect.stringMatching(/^no one can ever decide/) }],
    });
  });
});

describe('bind_approver', () => {
  const bound = signedIn(deferring({ approvers: ['ann@example.com'] }, { bind_approver: true }));

  it("accepts no asserted email, also with the daemon's own token", async () => {
    const agent = await startTestAgent(bound);
    const { held } = await parked(agent);
    for (const caller of [agent.as(agent.token), agent.as(people.cy)]) {
      const behalf = { 'x-service-on-behalf-of': 'slack:T1/U1 ann@example.com' };
      for (const approver_email of ['ann@example.com', null, '']) {
        for (const decision of ['approve', 'reject']) {
          const body = { decision, approver: 'ann@example.com', approver_email };
          expect(await caller.decide('t1', body)).toMatchObject(forbidden);
          const path = '/tasks/t1/decisions';
          expect(await caller.request('POST', path, { body, headers: behalf })).toMatchObject(
            forbidden,
          );
        }
      }
    }
    expect((await agent.as(people.ann).decide('t1', { decision: 'approve' })).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
    const decisions = agent
      .audit('t1')
      .filter(({ event }) => event === 'task_deferred_decision')
      .map(({ fields }) => [fields?.['vouched_by'], fields?.['provider'], fields?.['user_id']]);
    expect(decisions.at(0)).toEqual(['asserted', 'runtime', 'runtime']);
    expect(decisions.at(-2)).toEqual(['asserted', 'cy', 'cy']);
    expect(decisions.at(-1)).toEqual(['token:ann', 'ann', 'ann']);
  });
});

describe('a quorum of two', () => {
  const shared = deferring({ quorum: 2, approvers: ['ann@example.com', 'bo@example.com'] });
  const approve = (approver_email: string) => ({ decision: 'approve', approver_email });

  it('needs two different people', async () => {
    const agent = await startTestAgent(shared);
    const held = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    const recorded = { status: 200, body: { status: 'recorded', approver: 'ann@example.com' } };
    expect(await agent.decide('t1', approve('ann@example.com'))).toMatchObject(recorded);
    expect((await agent.decide('t1', approve('ANN@example.com'))).body.status).toBe('recorded');
    expect((await agent.decide('t1', approve('eve@example.com'))).status).toBe(403);
    const [shown] = (await agent.get('/deferrals')).body.deferrals;
    expect(shown).toMatchObject({ quorum: 2, approvals: [{ approver: 'ann@example.com' }] });
    expect(shown.approvals[0].at).toMatch(/Z$/);
    expect(agent.folder.paid).toEqual([]);
    expect((await agent.decide('t1', approve('bo@example.com'))).body.status).toBe('resolved');
    expect(textOf(await held)).toBe('paid');
    expect((await agent.decide('t1', approve('bo@example.com'))).status).toBe(409);
  });
});

describe('a quorum of callers who sign in', () => {
  const shared = signedIn(
    deferring({ quorum: 2, approvers: ['ann@example.com', 'bo@example.com', 'cy@example.com'] }),
  );
  const approve = (approver_email: string) => ({ decision: 'approve', approver_email });

  it('is not reached by one caller with several names', async () => {
    const agent = await startTestAgent(shared);
    const { held } = await parked(agent);
    for (const email of ['ann@example.com', 'bo@example.com', 'cy@example.com']) {
      const answer = await agent.as(people.cy).decide('t1', approve(email));
      expect(answer).toMatchObject({ status: 200, body: { status: 'recorded', approver: email } });
    }
    const [shown] = (await agent.as(people.cy).get('/deferrals')).body.deferrals;
    expect(shown.approvals).toEqual([{ approver: 'ann@example.com', at: expect.any(String) }]);
    expect(agent.folder.paid).toEqual([]);
    expect((await agent.as(people.bo).decide('t1', approve('bo@example.com'))).body.status).toBe(
      'resolved',
    );
    expect(textOf(await held)).toBe('paid');
  });
});

describe('four_eyes', () => {
  it('does not let the requester release their own call', async () => {
    const agent = await startTestAgent(signedIn(deferring({ four_eyes: true })));
    const { held } = await parked(agent, people.ann);
    const approve = { decision: 'approve' };
    expect(await agent.as(people.ann).decide('t1', approve)).toMatchObject(forbidden);
    const claim = { ...approve, approver_email: 'ann@example.com' };
    expect(await agent.as(agent.token).decide('t1', claim)).toMatchObject(forbidden);
    expect((await agent.as(people.bo).decide('t1', approve)).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
  });

  it('does not let a speaker of an earlier run release a later call', async () => {
    const agent = await startTestAgent(signedIn(deferring({ four_eyes: true })));
    const parts = [{ kind: 'data', data: { script: [{ say: 'noted' }] } }];
    await agent.as(people.bo).post('/tasks/send', { id: 't1', message: { parts } });
    const { held } = await parked(agent, people.ann);
    const approve = { decision: 'approve' };
    expect(await agent.as(people.bo).decide('t1', approve)).toMatchObject(forbidden);
    await agent.as(people.ann).post('/tasks/t1/cancel', {});
    expect((await held).body.status.state).toBe('canceled');
  });

  it('does not let a speaker of an earlier run approve a later call in advance', async () => {
    const remember = { max_time: '1h', max_uses: 3 };
    const agent = await startTestAgent(signedIn(deferring({ four_eyes: true }, { remember })));
    const first = await parked(agent, people.ann);
    const grant = { scope: 'caller', for: '1h', uses: 3 };
    const inAdvance = { decision: 'approve', remember: grant };
    expect((await agent.as(people.bo).decide('t1', inAdvance)).status).toBe(200);
    expect(textOf(await first.held)).toBe('paid');
    expect(textOf(await agent.as(people.ann).send('t2', script))).toBe('paid');
    const parts = [{ kind: 'data', data: { script: [{ say: 'noted' }] } }];
    await agent.as(people.bo).post('/tasks/send', { id: 't3', message: { parts } });
    const { held } = await parked(agent, people.ann, 't3');
    await agent.as(people.ann).post('/tasks/t3/cancel', {});
    expect((await held).body.status.state).toBe('canceled');
  });

  it("does not let the daemon's own token release its own request", async () => {
    const agent = await startTestAgent(signedIn(deferring({ four_eyes: true })));
    const { held } = await parked(agent, agent.token);
    const claim = { decision: 'approve', approver_email: 'bo@example.com' };
    expect(await agent.as(agent.token).decide('t1', claim)).toMatchObject(forbidden);
    expect((await agent.as(people.bo).decide('t1', claim)).status).toBe(200);
    expect(textOf(await held)).toBe('paid');
  });

  it('shows approvers the requester', async () => {
    const agent = await startTestAgent(signedIn(deferring()));
    const { held } = await parked(agent, people.ann);
    const { deferrals } = (await agent.as(people.bo).get('/deferrals')).body;
    expect(deferrals[0].requester).toEqual({
      user_id: 'ann',
      email: 'Ann@Example.com',
      provider: 'ann',
    });
    await agent.as(people.bo).post('/tasks/t1/cancel');
    await held;
  });
});
