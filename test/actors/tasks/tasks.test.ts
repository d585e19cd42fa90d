import { describe, expect, it } from 'vitest';
import type { LanguageModel } from '../../../src/actors/ports/model.ts';
import { scriptedModel } from '../../../src/actors/tasks/models/scripted-model.ts';
import type { Progress } from '../../../src/actors/tasks/tasks.ts';
import type { Task } from '../../../src/machines/domain/task.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  playing,
  reaches,
  toolCalled,
} from '../../helpers/system-story.ts';
import { nine, openSystem } from '../../helpers/test-system.ts';

describe('a task that needs an approval', () => {
  it('waits, runs after its approval, and answers', async () => {
    const pay = toolCalled('pay');
    const { system, clock, events, verify } = await openSystem({
      tools: [pay],
      deferred: { pay: { to: 'channel:console:*' } },
    });
    const parked = await parks(system);
    expect(parked.text).toBe('Deferred: awaiting channel:console:* decision on pay');
    expect(pay.runs).toEqual([]);
    clock.advance(1_500);
    const answer = await system.decide(parked.id, decision('approve', clock.now()));
    expect(answer).toEqual({
      kind: 'resolved',
      deferralId: parked.deferral?.id,
      decision: 'approve',
      approver: 'ann',
    });
    const ended = await ends(system, parked.id);
    expect([ended.state, ended.text]).toEqual(['completed', 'done: pay ok']);
    expect(pay.runs.map(({ callId, args }) => [callId, args])).toEqual([
      [parked.deferral?.id, { amount: 5 }],
    ]);
    expect(briefly(events(parked.id))).toEqual([
      'session_start',
      'llm_call',
      'task_deferred',
      'task_deferred_decision approve',
      'tool_exec start',
      'tool_exec end',
      'llm_call',
      'session_end completed',
    ]);
    expect(await verify()).toMatchObject({ ok: true, events: 9 });
  });
});

describe('the visible state of a task', () => {
  it('is empty before the first commit, and then the stored one', async () => {
    const door = gate();
    const { next, ...named } = scriptedModel('demo', []);
    const model: LanguageModel = {
      ...named,
      async next(...asked) {
        await door.opened;
        return next(...asked);
      },
    };
    const { system, store, events } = await openSystem({ model });
    const id = await system.open(playing([{ say: 'hello' }]));
    expect([await system.reads.find(id), await system.metrics.load()]).toEqual([
      undefined,
      { live: 1, deferred: 0 },
    ]);
    await store.flush();
    await Promise.resolve();
    expect((await system.reads.find(id))?.state).toBe('working');
    expect(briefly(events(id))).toEqual(['session_start']);
    door.open();
    const ended = await ends(system, id);
    expect(ended).toEqual(await store.rows.find(id));
    expect(ended).toMatchObject({
      state: 'completed',
      text: 'hello',
      answer: [{ kind: 'text', text: 'hello' }],
      createdAt: nine,
      changedAt: nine,
      revision: 2,
    });
    expect(await system.metrics.load()).toEqual({ live: 0, deferred: 0 });
  });

  it('is sent to watchers in order, each change after it is stored', async () => {
    const { system, clock, store } = await openSystem({
      tools: [toolCalled('pay')],
      deferred: { pay: {} },
    });
    const id = await system.open(
      playing([{ tool: 'pay' }, { say: 'one two' }], { id: 'watched', contextId: 'context-7' }),
    );
    const seen: unknown[] = [];
    const told: unknown[] = [];
    const progress: Progress[] = [];
    const see = (task: Task) => seen.push([task, store.rows.readNow(id)?.task]);
    system.watchers.subscribe(id, {
      onTask: see,
      onStep: see,
      onProgress: (each) => progress.push(each),
      onLost: (error) => seen.push(error),
    });
    system.watchers.subscribe(id, {
      onTask: ({ state, revision }) => told.push([state, revision]),
      onLost: (error) => told.push(error),
    });
    await reaches(system, id, 'deferred');
    await system.decide(id, decision('approve', clock.now()));
    await ends(system, id);
    const [[passed, saved], ...others] = seen as [[Task, Task], ...[Task, Task][]];
    expect([passed.state, passed.revision, saved.state, saved.revision]).toEqual([
      'working',
      1,
      'deferred',
      2,
    ]);
    expect(others.map(([{ state }]) => state)).toEqual([
      'deferred',
      'working',
      'working',
      'completed',
    ]);
    for (const [heard, stored] of others) expect(heard).toEqual(stored);
    // A subscriber without the steps in between receives only stored states.
    expect(told).toEqual(others.map(([{ state, revision }]) => [state, revision]));
    expect(progress).toEqual([
      { phase: 'tool_start', tool: 'pay' },
      { phase: 'tool_end', tool: 'pay' },
      { phase: 'token', text: 'one ' },
      { phase: 'token', text: 'two' },
    ]);
    expect((await system.reads.find(id))?.contextId).toBe('context-7');
  });

  it('is sent to a subscriber of open from the first token on', async () => {
    const { next, ...named } = scriptedModel('demo', []);
    const model: LanguageModel = {
      ...named,
      next: (conversation, asked) => {
        asked.onToken('at once ');
        return next(conversation, asked);
      },
    };
    const { system } = await openSystem({ model });
    const received: unknown[] = [];
    const id = await system.open(playing([{ say: 'later' }]), {
      onTask: ({ state }) => received.push(state),
      onProgress: ({ text }) => received.push(text),
    });
    await ends(system, id);
    expect(received).toEqual(['at once ', 'later', 'completed']);
  });

  it('is not sent to a watcher that left, and to all others', async () => {
    const { system, clock } = await openSystem({
      tools: [toolCalled('pay')],
      deferred: { pay: {} },
    });
    const { id } = await parks(system);
    const heard: string[] = [];
    const watcher = (name: string) => ({
      onTask: ({ state }: Task) => void heard.push(`${name} ${state}`),
      onLost: () => undefined,
    });
    const leave = system.watchers.subscribe(id, watcher('first'));
    system.watchers.subscribe(id, watcher('second'));
    leave();
    leave();
    await system.decide(id, decision('reject', clock.now()));
    expect(heard).toEqual(['second failed']);
  });

  it('can be awaited until the caller gives up, which ends the wait and not the task', async () => {
    const { system, clock } = await openSystem({
      tools: [toolCalled('pay')],
      deferred: { pay: {} },
    });
    const { id } = await parks(system);
    const giveUp = new AbortController();
    const wait = system.watchers.settled(id, giveUp.signal);
    giveUp.abort(new Error('the caller has gone'));
    await expect(wait).rejects.toThrow('the caller has gone');
    await expect(system.watchers.settled(id, giveUp.signal)).rejects.toThrow('the caller has gone');
    await system.decide(id, decision('approve', clock.now()));
    expect((await ends(system, id)).state).toBe('completed');
    expect((await system.watchers.settled(id, giveUp.signal)).state).toBe('completed');
  });
});

describe('a further run of an ended task', () => {
  it('keeps history, context and creation time, and continues the numbering', async () => {
    const { system, clock, events } = await openSystem();
    const first = playing([{ say: 'one' }], { id: 't-1', contextId: 'context-1' });
    await system.open(first);
    await ends(system, 't-1');
    clock.advance(60_000);
    await system.open(playing([{ say: 'two' }], { id: 't-1' }));
    expect((await system.reads.find('t-1'))?.text).toBe('one');
    const ended = await ends(system, 't-1');
    expect(ended).toMatchObject({
      contextId: 'context-1',
      createdAt: nine,
      changedAt: nine + 60_000,
      revision: 4,
      text: 'two',
    });
    expect(ended.history.map(({ role, messageId }) => [role, messageId])).toEqual([
      ['user', 'm-1'],
      ['agent', 't-1:answer:1'],
      ['user', 'm-1'],
      ['agent', 't-1:answer:3'],
    ]);
    expect(events('t-1').map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await system.reads.list({ limit: 9 })).tasks).toHaveLength(1);
  });

  it('is refused while the task runs, from its first moment to its last', async () => {
    const door = gate();
    const { system, clock, store } = await openSystem({
      tools: [toolCalled('pay', () => door.opened.then(() => 'paid'))],
      deferred: { pay: {} },
    });
    const request = playing([{ tool: 'pay' }, { say: 'done' }], { id: 't-1' });
    const refused = (): Promise<void> =>
      expect(system.open(request)).rejects.toThrow(
        expect.objectContaining({
          code: 'task_running',
          message: expect.stringMatching(
            /^task t-1 (is still running; wait for it to end|waits for approval of pay; name it as the taskId)/,
          ),
        }),
      );
    await system.open(request);
    await refused();
    await reaches(system, 't-1', 'deferred');
    await refused();
    await system.decide('t-1', decision('approve', clock.now()));
    await refused();
    door.open();
    await ends(system, 't-1');
    expect((await store.rows.find('t-1'))?.state).toBe('completed');
    expect(await system.open(request)).toBe('t-1');
  });
});

describe('a decision on a run that waits for nothing yet', () => {
  it('names the decider of the run before', async () => {
    const door = gate();
    const { system, clock } = await openSystem({
      tools: [toolCalled('pay'), toolCalled('slow', () => door.opened.then(() => 'ok'))],
      deferred: { pay: {} },
    });
    const { id } = await parks(system);
    await system.decide(id, decision('reject', clock.now()));
    const { settled } = await ends(system, id);
    await system.open(playing([{ tool: 'slow' }, { say: 'done' }], { id }));
    const answer = await system.decide(id, decision('approve', clock.now()));
    expect(answer).toEqual({ kind: 'decided', settled });
    door.open();
    expect((await ends(system, id)).settled).toEqual(settled);
  });
});
