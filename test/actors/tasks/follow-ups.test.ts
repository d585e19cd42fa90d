import { describe, expect, it } from 'vitest';
import type { Conversation, LanguageModel } from '../../../src/actors/ports/model.ts';
import type { SaidMessage } from '../../../src/actors/tasks/tasks.ts';
import type { Caller, Task } from '../../../src/machines/domain/task.ts';
import { failingDisk } from '../../helpers/failing-disk.ts';
import { decision, ends, gate, parks, playing, toolCalled } from '../../helpers/system-story.ts';
import { openSystem, type TestSystem, type TestSystemOptions } from '../../helpers/test-system.ts';

const rita: Caller = { provider: 'ops', userId: 'rita' };
const asked = playing([], { requester: rita });

/** A model that has `pay` called once and then answers, and what it was given in each turn. */
function payingModel(): LanguageModel & { heard: Conversation[] } {
  const heard: Conversation[] = [];
  const spoken = { inputTokens: 0, outputTokens: 0 };
  return {
    provider: 'test',
    name: 'paying',
    heard,
    next(conversation) {
      heard.push(structuredClone(conversation));
      return Promise.resolve(
        conversation.turns === 0
          ? { ...spoken, text: '', calls: [{ tool: 'pay', args: {} }] }
          : { ...spoken, text: 'paid', calls: [] },
      );
    },
  };
}

async function openTill(more: TestSystemOptions = {}) {
  const model = payingModel();
  const rig = await openSystem({
    model,
    tools: [toolCalled('pay')],
    deferred: { pay: {} },
    ...more,
  });
  return { ...rig, model };
}

const saying = (text: string, more: Partial<SaidMessage> = {}): SaidMessage => ({
  message: { role: 'user', parts: [{ kind: 'text', text }], messageId: text },
  requester: rita,
  isKnownById: true,
  ...more,
});

const idsOf = (task: Task | undefined) => task?.history.map(({ messageId }) => messageId);
const heardIn = ({ heard }: { heard: Conversation[] }) =>
  heard.at(-1)?.followUps.map(({ message, after }) => [message.messageId, after]);

async function approve({ system, clock }: Pick<TestSystem, 'system' | 'clock'>, id: string) {
  expect((await system.decide(id, decision('approve', clock.now()))).kind).toBe('resolved');
  return ends(system, id);
}

describe('a message to a task that waits', () => {
  it('is stored before it is acknowledged, and the model reads it after the decision', async () => {
    const till = await openTill();
    const { id, deferral } = await parks(till.system, asked);
    expect(await till.system.say(id, saying('hurry'))).toEqual({
      taskId: id,
      answer: { kind: 'kept' },
    });
    const kept = await till.store.rows.find(id);
    expect([idsOf(kept), kept?.state, kept?.deferral]).toEqual([
      ['m-1', 'hurry'],
      'deferred',
      { ...deferral, messages: [{ from: 'rita', text: 'hurry', at: till.clock.now() }] },
    ]);
    expect(till.events(id).at(-1)).toMatchObject({
      event: 'message_received',
      fields: { size: expect.any(Number), provider: 'ops', user_id: 'rita' },
    });
    expect(JSON.stringify(till.events(id))).not.toContain('hurry');
    await approve(till, id);
    expect(heardIn(till.model)).toEqual([['hurry', 1]]);
    expect(await till.verify()).toMatchObject({ ok: true });
  });

  it('is stored by a parked task, and over a restart', async () => {
    const before = await openTill({ restAfter: 1_000 });
    const { id } = await parks(before.system, asked);
    before.clock.advance(2_000);
    before.lookAround();
    expect(await before.system.metrics.load()).toEqual({ live: 0, deferred: 1 });
    await before.system.say(id, saying('one'));
    before.clock.advance(2_000);
    before.lookAround();
    await before.system.say(id, saying('two'));
    await before.stop();
    const { directory, clock } = before;
    const after = await openTill({ directory, clock, onRestart: 'resume' });
    expect(idsOf(await after.system.reads.find(id))).toEqual(['m-1', 'one', 'two']);
    await after.system.say(id, saying('three'));
    await approve(after, id);
    expect(heardIn(after.model)).toEqual([
      ['one', 1],
      ['two', 1],
      ['three', 1],
    ]);
  });

  it('stays in the history after any end of the wait', async () => {
    const till = await openTill();
    const waiting = await Promise.all([1, 2, 3, 4].map(() => parks(till.system, asked)));
    const [rejected, canceled, late, abandoned] = waiting.map(({ id }) => id) as [
      string,
      string,
      string,
      string,
    ];
    for (const { id } of waiting)
      await till.system.say(id, saying('hurry', { isKnownById: false }));
    await till.system.decide(rejected, decision('reject', till.clock.now()));
    await till.system.cancel(canceled, 'timeout');
    await till.stop();
    const { directory, clock } = till;
    const again = await openTill({ directory, clock, onRestart: 'abandon' });
    const resting = await openTill();
    const { id } = await parks(resting.system, asked);
    await resting.system.say(id, saying('hurry'));
    resting.clock.advance(86_400_000);
    expect(idsOf(await ends(resting.system, id))).toEqual(['m-1', 'hurry']);
    for (const each of [rejected, canceled, late, abandoned]) {
      const task = await again.system.reads.find(each);
      expect([task?.state, idsOf(task)]).toEqual([
        each === canceled ? 'canceled' : 'failed',
        ['m-1', 'hurry'],
      ]);
    }
  });

  it('is refused and audited when a guardrail denies it, and the model never reads it', async () => {
    const till = await openTill({
      security: { guardrails: { enabled: true, deny_prompts: [{ pattern: 'launch' }] } },
    });
    const { id } = await parks(till.system, asked);
    const { answer } = await till.system.say(id, saying('launch it'));
    expect(answer).toEqual({
      kind: 'refused',
      text: expect.stringMatching(/^denied by guardrail: /),
    });
    expect(till.events(id).at(-1)).toMatchObject({
      event: 'guardrail_check',
      fields: { gate: 'deny_prompts', decision: 'deny' },
    });
    expect([
      (await till.system.reads.find(id))?.state,
      idsOf(await till.system.reads.find(id)),
    ]).toEqual(['deferred', ['m-1']]);
    expect((await till.system.say(id, saying('launch it'))).answer.kind).toBe('refused');
    await approve(till, id);
    expect(heardIn(till.model)).toEqual([]);
  });

  it('does not get the sign-in level of the requester', async () => {
    const till = await openTill({
      security: {
        step_up: { enabled: true, tools: { wire: 'high' }, acr_hierarchy: ['low', 'mid', 'high'] },
      },
    });
    const strong = { ...rita, acr: 'mid' };
    const { id } = await parks(till.system, playing([], { requester: strong }));
    const answers: string[] = [];
    for (const acr of [undefined, 'low', 'none', 'mid', 'high']) {
      const requester = acr === undefined ? rita : { ...rita, acr };
      const said = saying(`as ${acr}`, { requester });
      answers.push((await till.system.say(id, said)).answer.kind);
    }
    expect(answers).toEqual(['refused', 'refused', 'refused', 'kept', 'kept']);
    const refused = till.events(id).filter(({ event }) => event === 'guardrail_check');
    const fields = { gate: 'governance', decision: 'deny', rule: 'step_up' };
    expect(refused.map((event) => event.fields)).toEqual([fields, fields, fields]);
  });
});

describe('a repeated message to a task', () => {
  it('is stored once, of twenty at once and after a restart', async () => {
    const till = await openTill();
    const { id } = await parks(till.system, asked);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => till.system.say(id, saying('hurry'))),
    );
    expect(answers).toEqual(Array(20).fill({ taskId: id, answer: { kind: 'kept' } }));
    await till.stop();
    const { directory, clock } = till;
    const again = await openTill({ directory, clock });
    expect(await again.system.say(id, saying('hurry'))).toEqual(answers[0]);
    expect(await again.system.reads.findBySent(saying('hurry'))).toBe(id);
    expect(idsOf(await again.system.reads.find(id))).toEqual(['m-1', 'hurry']);
    await approve(again, id);
    expect(heardIn(again.model)).toEqual([['hurry', 1]]);
  });

  it('leads to its first task, and is another message from another sender', async () => {
    const till = await openTill();
    const [one, other] = [await parks(till.system, asked), await parks(till.system, asked)];
    await till.system.say(one.id, saying('hurry'));
    expect((await till.system.say(other.id, saying('hurry'))).taskId).toBe(one.id);
    expect(idsOf(await till.system.reads.find(other.id))).toEqual(['m-1']);
    const bob = { provider: 'ops', userId: 'bob' };
    expect((await till.system.say(other.id, saying('hurry', { requester: bob }))).taskId).toBe(
      other.id,
    );
    expect(idsOf(await till.system.reads.find(other.id))).toEqual(['m-1', 'hurry']);
  });

  it('is retried when it could not be stored', async () => {
    const till = await openTill();
    const { id } = await parks(till.system, asked);
    const disk = failingDisk();
    const lost = await Promise.allSettled([1, 2].map(() => till.system.say(id, saying('hurry'))));
    expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    disk.fix();
    expect(idsOf(await till.system.reads.find(id))).toEqual(['m-1']);
    await till.system.say(id, saying('hurry'));
    await approve(till, id);
    expect(heardIn(till.model)).toEqual([['hurry', 1]]);
  });
});

describe('a task that does not wait', () => {
  it('accepts no message', async () => {
    const door = gate();
    const till = await openTill({
      tools: [toolCalled('pay', () => door.opened.then(() => 'paid'))],
      deferred: {},
    });
    const id = await till.system.open(asked);
    const refused = { answer: { kind: 'notWaiting' } };
    expect(await till.system.say(id, saying('one'))).toMatchObject(refused);
    door.open();
    await ends(till.system, id);
    expect(await till.system.say(id, saying('two'))).toMatchObject(refused);
    expect(await till.system.say('nobody', saying('three'))).toMatchObject(refused);
    expect(idsOf(await till.system.reads.find(id))).toEqual(['m-1', `${id}:answer:1`]);
    expect(await till.system.reads.findBySent(saying('one'))).toBeUndefined();
  });
});
