import { describe, expect, it } from 'vitest';
import type { Answer } from '../helpers/agent-client.ts';
import { deferring, expectIntact, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

interface Held {
  id: string;
  done: Promise<Answer>;
  /** Pins an approval to the call. */
  pins: { deferral_id: string; args_sha256: string };
}

/** Sends a task and resolves once it waits. */
async function parked(agent: TestAgent, id: string, amount = 5): Promise<Held> {
  const done = agent.send(id, [{ tool: 'pay', args: { amount } }, { say: 'paid' }]);
  const { deferral } = (await agent.reached(id, 'deferred')).metadata;
  return { id, done, pins: { deferral_id: deferral.id, args_sha256: deferral.args_sha256 } };
}

const decide = (agent: TestAgent, decisions: unknown) =>
  agent.post('/deferrals/decisions', { decisions });

const unpinned = 'an approval in a list needs deferral_id and args_sha256';

describe('several decisions', () => {
  it('are judged separately and answered in order', async () => {
    const agent = await startTestAgent(deferring());
    const [one, two, three] = [
      await parked(agent, 't1'),
      await parked(agent, 't2'),
      await parked(agent, 't3', 7),
    ];
    const { status, body } = await decide(agent, [
      { task_id: 't2', decision: 'reject', approver: 'ann', note: 'no receipt' },
      { task_id: 't1', decision: 'approve', approver: 'ann', ...one.pins },
      { task_id: 't3', decision: 'approve', ...three.pins, args_sha256: one.pins.args_sha256 },
      { task_id: 't3', decision: 'approve', deferral_id: three.pins.deferral_id },
      { task_id: 't3', decision: 'approve', args_sha256: three.pins.args_sha256 },
      { task_id: 't1', decision: 'reject' },
      { task_id: 'unknown', decision: 'reject' },
      { task_id: 'a/b', decision: 'reject' },
      { task_id: 't3', decision: 'maybe' },
      { decision: 'reject' },
      null,
    ]);
    const decided = { decided_at: expect.any(String), approver: 'ann' };
    const invalid = { error: 'decision must be "approve" or "reject"', code: 'invalid_body' };
    const notPending = { error: 'no pending deferral for task', code: 'deferral_not_found' };
    const resolved = { approver: 'ann', status: 'resolved' };
    expect(status).toBe(200);
    expect(body).toEqual({
      decisions: [
        {
          task_id: 't2',
          status: 200,
          body: {
            task_id: 't2',
            deferral_id: two.pins.deferral_id,
            decision: 'reject',
            ...resolved,
          },
        },
        {
          task_id: 't1',
          status: 200,
          body: {
            task_id: 't1',
            deferral_id: one.pins.deferral_id,
            decision: 'approve',
            ...resolved,
          },
        },
        {
          task_id: 't3',
          status: 409,
          body: {
            error: 'the pending call has other arguments; review them before you decide',
            code: 'arguments_differ',
            args_sha256: three.pins.args_sha256,
          },
        },
        { task_id: 't3', status: 400, body: { error: unpinned, code: 'unpinned_approval' } },
        { task_id: 't3', status: 400, body: { error: unpinned, code: 'unpinned_approval' } },
        {
          task_id: 't1',
          status: 409,
          body: {
            error: 'deferral already decided',
            code: 'already_decided',
            decision: 'approve',
            ...decided,
          },
        },
        { task_id: 'unknown', status: 404, body: notPending },
        { task_id: 'a/b', status: 404, body: notPending },
        { task_id: 't3', status: 400, body: invalid },
        {
          task_id: null,
          status: 400,
          body: { error: 'task_id must be a string', code: 'invalid_body' },
        },
        { task_id: null, status: 400, body: invalid },
      ],
    });
    await Promise.all([one.done, two.done]);
    expect(agent.folder.paid).toHaveLength(1);
    expect(await agent.reached('t3', 'deferred')).toMatchObject({ id: 't3' });
    await agent.post('/tasks/t3/cancel');
    await three.done;
  });

  it.each([
    ['nothing', undefined],
    ['a list alone', []],
    ['an object in place of the list', { decisions: {} }],
    ['101 of them', { decisions: Array.from({ length: 101 }, () => ({ decision: 'reject' })) }],
  ])('are 400 for %s', async (_, sent) => {
    const agent = await startTestAgent(deferring());
    expect(await agent.post('/deferrals/decisions', sent)).toMatchObject({
      status: 400,
      body: { error: 'decisions must be a list of at most 100 decisions', code: 'invalid_body' },
    });
  });

  it('may be a hundred, or none', async () => {
    const agent = await startTestAgent(deferring());
    const hundred = Array.from({ length: 100 }, (_, index) => ({
      task_id: `t${index}`,
      decision: 'reject',
    }));
    const { status, body } = await decide(agent, hundred);
    expect([status, body.decisions.length]).toEqual([200, 100]);
    expect(await decide(agent, [])).toMatchObject({ status: 200, body: { decisions: [] } });
  });

  it('are refused like a single one for callers who may not decide', async () => {
    const agent = await startTestAgent(deferring({ approvers: ['ann@example.com'] }));
    const { done, pins } = await parked(agent, 't1');
    const approve = { task_id: 't1', decision: 'approve', ...pins };
    const { body } = await decide(agent, [
      { ...approve, approver_email: 'eve@example.com' },
      { ...approve, approver_email: 'ann@example.com' },
    ]);
    expect(body.decisions).toMatchObject([
      { status: 403, body: { error: 'approver not authorized', code: 'approver_not_authorized' } },
      { status: 200, body: { status: 'resolved' } },
    ]);
    await done;
  });
});

describe('decisions in several concurrent lists', () => {
  it('count once for each task, in any order of the lists', async () => {
    const agent = await startTestAgent(deferring());
    const held = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => parked(agent, `race-${index}`)),
    );
    const lists = Array.from({ length: 10 }, (_, list) =>
      held
        .map(({ id, pins }, index) => ({
          task_id: id,
          decision: (index + list) % 3 === 0 ? 'reject' : 'approve',
          approver: `p${list}`,
          ...pins,
        }))
        .toSorted(() => (list % 2 === 0 ? 1 : -1)),
    );
    const single = held.map(({ id }) => agent.decide(id, { decision: 'reject', approver: 'solo' }));
    const answers = await Promise.all(lists.map((list) => decide(agent, list)));
    const statuses: { task_id: string; status: number }[] = [
      ...answers.flatMap(({ body }) => body.decisions),
      ...(await Promise.all(single)).map(({ status }, index) => ({
        task_id: `race-${index}`,
        status,
      })),
    ];
    for (const { id, done } of held) {
      await done;
      const mine = statuses.filter(({ task_id }) => task_id === id).map(({ status }) => status);
      expect(mine.toSorted((one, other) => one - other)).toEqual([
        200,
        ...Array.from({ length: 10 }, () => 409),
      ]);
      const decided = agent.audit(id).filter(({ event }) => event === 'task_deferred_decision');
      expect(decided).toHaveLength(1);
    }
    const approved = agent
      .audit()
      .filter(
        ({ event, fields }) =>
          event === 'task_deferred_decision' && fields?.['decision'] === 'approve',
      );
    expect(agent.folder.paid).toHaveLength(approved.length);
    await expectIntact(agent.auditPath);
  });
});
