import { describe, expect, it } from 'vitest';
import type { LanguageModel } from '../../../src/actors/ports/model.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  payment,
  playing,
  reaches,
  toolCalled,
  turn,
} from '../../helpers/system-story.ts';
import { copyFiles, openSystem } from '../../helpers/test-system.ts';

const minute = 60_000;
const overdue =
  'the run was ended after 1m0s of work; give the agent a narrower task, or raise model.max_time';

/** A model that asks for `pay` for ever, for so many tokens a turn. */
function insatiable(tokens: number): LanguageModel {
  const call = { tool: 'pay', args: { amount: 5 } };
  const said = { text: '', calls: [call], inputTokens: tokens, outputTokens: 0 };
  return { provider: 'scripted', name: 'insatiable', next: async () => said };
}

describe('a run that takes too long', () => {
  const hanging = () => {
    const { opened, open } = gate();
    const aborted: unknown[] = [];
    const hang = toolCalled('hang', (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.push('aborted'));
      return opened.then(() => 'late');
    });
    return { hang, open, aborted };
  };

  it('is ended within a second, with its tool aborted and its reason in the log', async () => {
    const { hang, open, aborted } = hanging();
    const rig = await openSystem({ tools: [hang], limits: { time: minute } });
    const id = await rig.system.open(playing([{ tool: 'hang' }, { say: 'never' }]));
    await reaches(rig.system, id, 'working');
    while (hang.runs.length === 0) await turn();
    rig.clock.advance(minute - 1_000);
    rig.lookAround();
    await turn();
    expect((await rig.system.reads.find(id))?.state).toBe('working');
    rig.clock.advance(1_000);
    rig.lookAround();
    expect(await ends(rig.system, id)).toMatchObject({ state: 'failed', text: overdue });
    expect(aborted).toEqual(['aborted']);
    expect(rig.events(id).slice(-2)).toMatchObject([
      { event: 'tool_exec', fields: { phase: 'end', error: overdue } },
      { event: 'session_end', fields: { state: 'failed', reason: 'time_limit' } },
    ]);
    open();
    await turn();
    expect((await rig.system.reads.find(id))?.text).toBe(overdue);
    expect((await ends(rig.system, await rig.system.open(playing([{ say: 'next' }])))).text).toBe(
      'next',
    );
  });

  it('may wait for a person without a limit', async () => {
    const pay = toolCalled('pay');
    const rig = await openSystem({
      tools: [pay],
      deferred: { pay: { timeout: '24h' } },
      limits: { time: minute },
    });
    const { id } = await parks(rig.system);
    rig.clock.advance(60 * minute);
    rig.lookAround();
    await rig.system.decide(id, decision('approve', rig.clock.now()));
    expect((await ends(rig.system, id)).text).toBe('done: pay ok');
  });

  it('is not charged for the downtime of the daemon', async () => {
    const { hang, open } = hanging();
    const idempotent = { ...hang, idempotent: true };
    const before = await openSystem({ tools: [idempotent], limits: { time: minute } });
    const id = await before.system.open(playing([{ tool: 'hang' }, { say: 'done: {result}' }]));
    await reaches(before.system, id, 'working');
    while (hang.runs.length === 0) await turn();
    const directory = copyFiles(before.directory);
    await before.stop();
    before.clock.advance(60 * minute);
    const after = await openSystem({ directory, clock: before.clock, tools: [idempotent] });
    while (hang.runs.length === 1) await turn();
    after.lookAround();
    expect((await after.system.reads.find(id))?.state).toBe('working');
    after.clock.advance(minute);
    after.lookAround();
    // The limit of the run is the one it began with.
    expect(await ends(after.system, id)).toMatchObject({ state: 'failed', text: overdue });
    open();
  });
});

describe('a run that uses too many tokens', () => {
  it('is ended, including the tokens of before a restart', async () => {
    const pay = toolCalled('pay');
    const rules = { tools: [pay], deferred: { pay: {} }, model: insatiable(60) };
    const before = await openSystem({ ...rules, limits: { tokens: 100 } });
    const { id } = await parks(before.system, payment);
    const directory = copyFiles(before.directory);
    await before.stop();
    const { system, clock, events } = await openSystem({
      ...rules,
      directory,
      clock: before.clock,
    });
    await system.decide(id, decision('approve', clock.now()));
    expect(await ends(system, id)).toMatchObject({
      state: 'failed',
      failure: { kind: 'tokenLimit' },
      text: 'the run was ended after 120 tokens, where it may use 100; give the agent a narrower task, or raise model.max_tokens_per_task',
    });
    expect(pay.runs).toHaveLength(1);
    expect(briefly(events(id)).slice(-2)).toEqual(['llm_call', 'session_end failed']);
    expect(events(id).at(-1)).toMatchObject({ fields: { reason: 'tokens_limit' } });
  });
});

describe('a model that repeats itself', () => {
  it('is ended after its turns, and the repeated call is named', async () => {
    const pay = toolCalled('pay');
    const { system, events } = await openSystem({
      tools: [pay],
      model: insatiable(1),
      limits: { turns: 4 },
    });
    const id = await system.open(payment);
    expect((await ends(system, id)).text).toBe(
      'the run was ended after 4 model turns without an answer, and its last 4 calls were the same one of pay; give the agent a narrower task, or raise model.max_turns',
    );
    expect(pay.runs).toHaveLength(4);
    expect(events(id).at(-1)).toMatchObject({ fields: { state: 'failed', reason: 'turns_limit' } });
  });
});
