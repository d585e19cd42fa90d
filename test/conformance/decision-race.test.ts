import { expect, it, vi } from 'vitest';
import type { Answer } from '../helpers/agent-client.ts';
import { deferring, expectIntact, startTestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

const rounds = 20;
const contenders = 100;

it('exactly one of a hundred decisions counts, for any mix', async () => {
  const agent = await startTestAgent(deferring());
  for (let round = 0; round < rounds; round += 1) {
    const id = `race-${round}`;
    const held = agent.send(id, [{ tool: 'pay', args: { round } }, { say: 'paid' }]);
    await agent.reached(id, 'deferred');
    const answers = await Promise.all(
      Array.from({ length: contenders }, (_, index) => {
        const decision = (index + round) % 3 === 0 ? 'reject' : 'approve';
        return agent.decide(id, { decision, approver: `p${index}` });
      }),
    );
    const winners = answers.filter(({ status }) => status === 200);
    const losers = answers.filter(({ status }) => status === 409);
    expect([winners.length, losers.length]).toEqual([1, contenders - 1]);
    const { decision, approver } = (winners[0] as Answer).body;
    for (const { body } of losers) {
      expect(body).toEqual({
        error: 'deferral already decided',
        code: 'already_decided',
        decision,
        approver,
        decided_at: losers[0]?.body.decided_at,
      });
    }
    const expected = decision === 'approve' ? 'paid' : `defer: rejected by ${approver}`;
    expect(textOf(await held)).toBe(expected);
    expect(agent.audit(id).filter(({ event }) => event === 'task_deferred_decision')).toMatchObject(
      [{ fields: { tool: 'pay', decision, approver } }],
    );
  }
  const approved = agent
    .audit()
    .filter(
      ({ event, fields }) =>
        event === 'task_deferred_decision' && fields?.['decision'] === 'approve',
    );
  expect(agent.folder.paid.length).toBe(approved.length);
  expect(agent.audit().filter(({ fields }) => fields?.['authorized'] === false)).toEqual([]);
  await expectIntact(agent.auditPath);
});

it('a decision or a cancel counts, never both', async () => {
  const agent = await startTestAgent(deferring());
  for (let round = 0; round < rounds; round += 1) {
    const id = `race-${round}`;
    const held = agent.send(id, [{ tool: 'pay', args: { round } }, { say: 'paid' }]);
    await agent.reached(id, 'deferred');
    const decide = () => agent.decide(id, { decision: 'reject', approver: 'ann' });
    const cancel = () => agent.post(`/tasks/${id}/cancel`);
    const asked = round % 2 === 0 ? [decide(), cancel()] : [cancel(), decide()].toReversed();
    const [decided, canceled] = await Promise.all(asked);
    const { state } = (await held).body.status;
    expect(canceled?.body.status.state).toBe(state);
    expect(decided?.status).toBe(state === 'failed' ? 200 : 404);
    expect(agent.audit(id).filter(({ event }) => event.startsWith('task_deferred_'))).toHaveLength(
      1,
    );
  }
  expect(agent.folder.paid).toEqual([]);
});

it('a call whose time ran out during its decision never runs', async () => {
  const agent = await startTestAgent(deferring({ timeout: '60ms' }));
  for (let round = 0; round < rounds; round += 1) {
    const id = `late-${round}`;
    let isOver = false;
    const held = agent
      .send(id, [{ tool: 'pay', args: { round } }, { say: 'paid' }])
      .finally(() => (isOver = true));
    let decided: number | null = null;
    while (!isOver && decided === null) {
      const { body } = await agent.get(`/tasks/${id}`);
      const expiresAt = Date.parse(body.metadata?.deferral.expires_at);
      if (Date.now() >= expiresAt - 3) {
        decided = (await agent.decide(id, { decision: 'approve' })).status;
      }
    }
    const text = textOf(await held);
    if (text === 'paid') expect(decided).toBe(200);
    else {
      expect(text).toBe('defer: no decision within 60ms (auto-deny)');
      expect([null, 404]).toContain(decided);
    }
    const ends = agent
      .audit(id)
      .map(({ event }) => event)
      .filter((event) => event.startsWith('task_deferred_'));
    expect(ends).toEqual([text === 'paid' ? 'task_deferred_decision' : 'task_deferred_timeout']);
  }
});
