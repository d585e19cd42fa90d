import { describe, expect, it } from 'vitest';
import type { Task } from '../../../src/machines/domain/task.ts';
import { withoutCall } from '../../helpers/call-fields.ts';
import { briefly, decision, ends, parks, playing, toolCalled } from '../../helpers/system-story.ts';
import { openSystem } from '../../helpers/test-system.ts';

describe('deciding', () => {
  it('has exactly one winner of a hundred concurrent decisions, in each of 50 rounds', async () => {
    const pay = toolCalled('pay');
    const { system, clock, events, verify, lookAround } = await openSystem({
      tools: [pay],
      deferred: { pay: {} },
    });
    let approved = 0;
    for (let round = 0; round < 50; round += 1) {
      const { id } = await parks(system);
      if (round % 3 === 0) {
        clock.advance(3_000);
        lookAround();
        expect((await system.metrics.load()).live).toBe(0);
      }
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => {
          const verb = (index + round) % 2 === 0 ? 'approve' : 'reject';
          return system.decide(id, decision(verb, clock.now(), { approver: `a-${index}` }));
        }),
      );
      const kinds = answers.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'resolved')).toHaveLength(1);
      expect(kinds.filter((kind) => kind === 'decided')).toHaveLength(99);
      const ended = await ends(system, id);
      const winner = answers.find(({ kind }) => kind === 'resolved');
      expect(winner).toMatchObject({ approver: ended.settled?.approver });
      for (const answer of answers) {
        if (answer.kind === 'decided') expect(answer.settled).toEqual(ended.settled);
      }
      const decided = events(id).filter(({ event }) => event === 'task_deferred_decision');
      expect(decided.map(({ fields }) => fields)).toMatchObject([
        { decision: ended.settled?.decision, approver: ended.settled?.approver },
      ]);
      if (ended.settled?.decision === 'approve') approved += 1;
    }
    expect(pay.runs).toHaveLength(approved);
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('answers after the event is stored', async () => {
    const { system, clock, events } = await openSystem({
      tools: [toolCalled('pay')],
      deferred: { pay: {} },
    });
    for (const verb of ['approve', 'reject'] as const) {
      const { id } = await parks(system);
      await system.decide(id, decision(verb, clock.now()));
      expect(briefly(events(id))).toContain(`task_deferred_decision ${verb}`);
      expect((await system.reads.find(id))?.settled?.decision).toBe(verb);
      await ends(system, id);
    }
  });

  it('refuses a person who may not decide, logs that, and keeps waiting', async () => {
    const pay = toolCalled('pay');
    const { system, clock, events } = await openSystem({
      tools: [pay],
      deferred: { pay: { approvers: ['ann@example.com'] } },
    });
    const parked = await parks(system);
    const mallory = decision('approve', clock.now(), { approver: 'mallory' });
    expect(await system.decide(parked.id, mallory)).toEqual({ kind: 'forbidden' });
    expect(await system.reads.find(parked.id)).toMatchObject({
      state: 'deferred',
      deferral: parked.deferral,
      changedAt: parked.changedAt,
    });
    const ann = decision('approve', clock.now(), { email: ' ANN@example.com ' });
    expect(await system.decide(parked.id, ann)).toMatchObject({ kind: 'resolved' });
    await ends(system, parked.id);
    expect(pay.runs).toHaveLength(1);
    const decisions = events(parked.id).filter(({ event }) => event === 'task_deferred_decision');
    const said = {
      tool: 'pay',
      decision: 'approve',
      note: '',
      wait_ms: 0,
      vouched_by: 'asserted',
      method: 'none',
    };
    expect(decisions.map(({ fields }) => withoutCall(fields))).toEqual([
      { ...said, approver: 'mallory', authorized: false },
      { ...said, approver: 'ann' },
    ]);
  });

  it('waits for every approver of a quorum, also after it was parked', async () => {
    const pay = toolCalled('pay');
    const { system, clock, lookAround } = await openSystem({
      tools: [pay],
      deferred: { pay: { quorum: 3, timeout: '1h' } },
      restAfter: 1,
    });
    const { id } = await parks(system);
    const kinds: string[] = [];
    for (const approver of ['ann', 'bob', 'ann', 'cid', 'dan']) {
      clock.advance(1);
      lookAround();
      expect((await system.metrics.load()).live).toBe(0);
      kinds.push((await system.decide(id, decision('approve', clock.now(), { approver }))).kind);
      if (kinds.includes('resolved')) await ends(system, id);
    }
    expect(kinds).toEqual(['recorded', 'recorded', 'recorded', 'resolved', 'decided']);
    expect((await ends(system, id)).text).toBe('done: pay ok');
    expect(pay.runs).toHaveLength(1);
  });

  it('finds nothing pending on an unknown task, a running one and one that never waited', async () => {
    const { system, clock } = await openSystem();
    const attempt = decision('approve', clock.now());
    expect(await system.decide('nobody', attempt)).toEqual({ kind: 'notPending' });
    const id = await system.open(playing([{ say: 'hello' }]));
    expect(await system.decide(id, attempt)).toEqual({ kind: 'notPending' });
    await ends(system, id);
    expect(await system.decide(id, attempt)).toEqual({ kind: 'notPending' });
  });

  it('decides two waits of one task one after the other', async () => {
    const pay = toolCalled('pay', ({ amount }) => Promise.resolve(`paid ${String(amount)}`));
    const { system, clock, events } = await openSystem({ tools: [pay], deferred: { pay: {} } });
    const steps = [1, 2].map((amount) => ({ tool: 'pay', args: { amount } }));
    const first = await parks(system, playing([...steps, { say: '{result}' }]));
    await system.decide(first.id, decision('approve', clock.now()));
    const second = await parksAgain(system, first.id);
    expect(second.deferral?.id).not.toBe(first.deferral?.id);
    expect(second.settled).toBeNull();
    const late = decision('approve', clock.now(), { deferralId: first.deferral?.id ?? '' });
    expect(await system.decide(first.id, late)).toEqual({
      kind: 'otherDeferral',
      pendingId: second.deferral?.id,
    });
    await system.decide(first.id, decision('approve', clock.now()));
    expect((await ends(system, first.id)).text).toBe('paid 2');
    expect(pay.runs.map(({ callId }) => callId)).toEqual([first.deferral?.id, second.deferral?.id]);
    expect(events(first.id).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 15 }, (_, index) => index + 1),
    );
  });
});

function parksAgain(system: Awaited<ReturnType<typeof openSystem>>['system'], id: string) {
  return new Promise<Task>((resolve) => {
    const leave = system.watchers.subscribe(id, {
      onTask: (task) => {
        if (task.state !== 'deferred') return;
        leave();
        resolve(task);
      },
      onLost: () => undefined,
    });
  });
}
