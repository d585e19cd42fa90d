import { describe, expect, it } from 'vitest';
import { SystemError } from '../../../src/actors/system-error.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  payment,
  reaches,
  toolCalled,
} from '../../helpers/system-story.ts';
import { openSystem } from '../../helpers/test-system.ts';

/** Two systems over the same files, as two processes have them. */
async function twoSystems(pay = toolCalled('pay')) {
  const here = await openSystem({ tools: [pay], deferred: { pay: {} } });
  const { directory, clock } = here;
  const there = await openSystem({ directory, clock, tools: [pay], deferred: { pay: {} } });
  return { here, there, pay, clock };
}

describe('a task that another process has decided', () => {
  it('reports that, and is left to that process while its tool runs', async () => {
    const door = gate();
    const pay = toolCalled('pay', () => door.opened.then(() => 'paid'));
    const { here, there, clock } = await twoSystems(pay);
    const { id } = await parks(here.system);
    const at = clock.now();
    const first = await here.system.decide(id, decision('approve', at));
    const late = await there.system.decide(id, decision('reject', at, { approver: 'bob' }));
    await there.system.callerLeft(id);
    expect([first.kind, late.kind]).toEqual(['resolved', 'decided']);
    expect(late).toEqual({ kind: 'decided', settled: (await here.system.reads.find(id))?.settled });
    door.open();
    expect(await ends(here.system, id)).toMatchObject({ state: 'completed', text: 'done: paid' });
    expect(pay.runs).toHaveLength(1);
    expect(briefly(here.events(id))).toEqual([
      'session_start',
      'llm_call',
      'task_deferred',
      'task_deferred_decision approve',
      'tool_exec start',
      'tool_exec end',
      'llm_call',
      'session_end completed',
    ]);
    expect(await here.verify()).toMatchObject({ ok: true, events: 9 });
  });

  it('answers both correctly when both decide in the same turn', async () => {
    const { here, there, pay, clock } = await twoSystems();
    const { id } = await parks(here.system);
    const answers = await Promise.all(
      [here, there].map(({ system }) => system.decide(id, decision('approve', clock.now()))),
    );
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['decided', 'resolved']);
    const winner = answers[0]?.kind === 'resolved' ? here : there;
    expect((await ends(winner.system, id)).state).toBe('completed');
    expect(pay.runs).toHaveLength(1);
  });

  it('refuses a decision on a stale copy in memory', async () => {
    const { here, there, pay, clock } = await twoSystems();
    const { id } = await parks(here.system);
    await there.system.decide(id, decision('reject', clock.now(), { note: 'too much' }));
    const answer = await here.system.decide(id, decision('approve', clock.now()));
    expect(answer).toEqual({
      kind: 'decided',
      settled: (await there.system.reads.find(id))?.settled,
    });
    expect(await here.system.reads.find(id)).toMatchObject({
      state: 'failed',
      text: 'defer: rejected by ann: too much',
    });
    expect(pay.runs).toEqual([]);
  });
});

describe('an id with which two callers begin a task at once', () => {
  it('is the task of one of them, which the other cannot cancel', async () => {
    const { here, there } = await twoSystems();
    const named = { ...payment, id: 'mine' };
    await Promise.all([here, there].map(({ system }) => system.open(named)));
    // What it began is not on disk yet, and will not be.
    await expect(there.system.cancel('mine', 'not mine')).rejects.toEqual(
      new SystemError(
        'task_running',
        'task mine is still running; wait for it to end, cancel it, or leave the id out',
      ),
    );
    expect(await reaches(here.system, 'mine', 'deferred')).toMatchObject({ state: 'deferred' });
    expect(briefly(here.events('mine'))).toEqual(['session_start', 'llm_call', 'task_deferred']);
  });
});
