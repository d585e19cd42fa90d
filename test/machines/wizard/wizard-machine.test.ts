import { describe, expect, it } from 'vitest';
import { getNextSnapshot, initialTransition, transition } from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import {
  type AgentAnswers,
  firstAnswers,
  firstApproval,
  isAsked,
  type Question,
  type Step,
  steps,
} from '../../../src/machines/wizard/agent-answers.ts';
import type { WizardOffer } from '../../../src/machines/wizard/offers.ts';
import { type WizardEvent, wizardMachine } from '../../../src/machines/wizard/wizard-machine.ts';
import { wrongAnswer } from '../../../src/machines/wizard/wrong-answers.ts';
import { anOffer, noOffer } from './some-answers.ts';

const next: WizardEvent = { type: 'step.next' };
const back: WizardEvent = { type: 'step.back' };
const accept: WizardEvent = { type: 'review.accept' };

function go(step: Step): WizardEvent {
  return { type: 'step.go', step };
}

function edit<Each extends Question>(step: Each, value: AgentAnswers[Each]): WizardEvent {
  return { type: 'answer.edit', step, value } as WizardEvent;
}

function begun(offer: WizardOffer = noOffer, answers: AgentAnswers = firstAnswers) {
  return initialTransition(wizardMachine, { offer, answers })[0];
}

function after(events: readonly WizardEvent[], from = begun()) {
  return events.reduce((snapshot, event) => getNextSnapshot(wizardMachine, snapshot, event), from);
}

const named = { ...firstAnswers, name: 'Refund Desk' };
const thinking: AgentAnswers = {
  ...named,
  provider: 'openai',
  model: { ...firstAnswers.model, name: 'gpt-5' },
};

/** The steps of a person who continues to the review; no one needs more of them than exist. */
function walk(offer: WizardOffer, answers: AgentAnswers): unknown[] {
  const passed: unknown[] = [];
  let snapshot = begun(offer, answers);
  while (snapshot.value !== 'review' && passed.length < steps.length) {
    passed.push(snapshot.value);
    snapshot = after([next], snapshot);
  }
  return passed;
}

describe('the wizard', () => {
  it('goes through every step in the documented order, with approvals before the review', () => {
    expect(walk(anOffer, thinking)).toEqual(steps.slice(0, -1));
  });

  it('skips steps that an answer makes needless, in both directions', () => {
    const few = ['name', 'provider', 'channels', 'tools', 'auth', 'egress', 'security'];
    expect(walk(noOffer, named)).toEqual([...few, 'approvals']);
    const toolless = { ...named, tools: { ...named.tools, names: [] } };
    expect(walk(noOffer, toolless)).toEqual(few);
    const passed: unknown[] = [];
    let snapshot = after([go('review')], begun(noOffer, toolless));
    while (snapshot.value !== 'name' && passed.length < steps.length) {
      snapshot = after([back], snapshot);
      passed.unshift(snapshot.value);
    }
    expect(passed).toEqual(few);
  });

  it('shows for each step the next and the previous ones, and an error where the answer is wrong', () => {
    const ways = (step: Step, event: 'step.next' | 'step.back') =>
      (wizardMachine.states[step]?.transitions.get(event) ?? []).map(
        ({ target }) => target?.map(({ key }) => key).join() ?? 'complaint',
      );
    const on = steps.map((step) => [step, ways(step, 'step.next')]);
    const back = steps.map((step) => [step, ways(step, 'step.back')]);
    const stay = 'complaint';
    expect(Object.fromEntries(on)).toEqual({
      name: ['provider', stay],
      provider: ['review', 'model', 'channels', stay],
      model: ['channels', stay],
      channels: ['tools', stay],
      tools: ['skills', 'fallback', 'auth', stay],
      skills: ['fallback', 'auth', stay],
      fallback: ['auth', stay],
      auth: ['egress', stay],
      egress: ['security', stay],
      security: ['approvals', 'review', stay],
      approvals: ['review', stay],
      review: [],
    });
    expect(Object.fromEntries(back)).toEqual({
      name: [],
      provider: ['name'],
      model: ['provider'],
      channels: ['model', 'provider'],
      tools: ['channels'],
      skills: ['tools'],
      fallback: ['skills', 'tools'],
      auth: ['fallback', 'skills', 'tools'],
      egress: ['auth'],
      security: ['egress'],
      approvals: ['security'],
      review: ['provider', 'approvals', 'security'],
    });
  });

  it('asks only for the name of a gate', () => {
    const gate = { ...thinking, provider: 'gate' };
    const begin = begun(anOffer, gate);
    const passed = [next, next].map((_, index) => after([next, next].slice(0, index + 1), begin));
    expect(passed.map(({ value }) => value)).toEqual(['provider', 'review']);
    const review = after([next, next], begin);
    expect(after([back], review).value).toBe('provider');
    expect(after([go('tools')], review).value).toBe('review');
    const accepted = after([{ type: 'review.accept' }], review);
    expect(accepted.output).toEqual({ ...firstAnswers, name: gate.name, provider: 'gate' });
  });

  it('goes back through every step that it asked', () => {
    const passed: unknown[] = [];
    let snapshot = after([go('review')], begun(anOffer, thinking));
    while (snapshot.value !== 'name' && passed.length < steps.length) {
      snapshot = after([back], snapshot);
      passed.unshift(snapshot.value);
    }
    expect(passed).toEqual(steps.slice(0, -1));
  });

  it.each<[Step, Partial<AgentAnswers>]>([
    ['provider', { provider: 'vax' }],
    ['model', { model: firstAnswers.model }],
    ['channels', { channels: { sms: {} } }],
    ['tools', { tools: { ...firstAnswers.tools, names: ['vax'] } }],
    ['skills', { skills: { names: ['vax'], variables: {} } }],
    ['fallback', { fallback: [{ provider: 'vax', name: 'm', address: '', key: '' }] }],
    ['auth', { auth: { mode: 'magic', settings: {} } }],
    ['egress', { egress: { mode: 'open', hosts: [] } }],
    ['security', { security: { variables: {}, passphrase: 'short' } }],
    ['approvals', { approvals: { datetime_now: { ...firstApproval, quorum: 0 } } }],
  ])(
    'stays at %s while its answer is wrong, and shows the error until the user leaves',
    (step, more) => {
      const answers = { ...thinking, ...more };
      const at = after([go(step), next, next], begun(anOffer, answers));
      const complaint = wrongAnswer(step, answers, anOffer);
      expect([at.value, at.context]).toEqual([step, { answers, offer: anOffer, complaint }]);
      expect(complaint).not.toBeNull();
      expect(after([back], at).context.complaint).toBeNull();
      expect(after([go('name')], at).context.complaint).toBeNull();
    },
  );

  it('has no step before the name', () => {
    const wrong = after([next]);
    expect(after([back], wrong)).toMatchObject({ value: 'name', context: wrong.context });
  });

  it('stays at a step whose answer is wrong, shows the error, and clears it with the next edit', () => {
    const wrong = after([edit('name', '../x'), next]);
    expect(wrong.value).toBe('name');
    expect(wrong.context.complaint).toContain('the name is at most 64');
    const mended = after([edit('name', 'x')], wrong);
    expect(mended.context).toMatchObject({ complaint: null, answers: { name: 'x' } });
  });

  it('keeps the typed text when the user goes back, and ignores edits of another step', () => {
    const typed = after(
      [edit('provider', 'vax'), edit('name', 'y'), back],
      after([next], begun(noOffer, named)),
    );
    expect(typed.value).toBe('name');
    expect(typed.context.answers).toEqual({ ...named, provider: 'vax' });
    expect(after([next], typed).context.answers.provider).toBe('vax');
  });

  it('clears the model and the key when the provider changes', () => {
    const keyed = { ...thinking, model: { ...thinking.model, key: 'sk-1' } };
    const at = after([next], begun(noOffer, keyed));
    expect(after([edit('provider', 'openai')], at).context.answers.model.key).toBe('sk-1');
    expect(after([edit('provider', 'google')], at).context.answers.model).toEqual(
      firstAnswers.model,
    );
  });

  it('holds the tools that a chosen skill wants held, until the user releases them', () => {
    const at = after([go('skills')], begun(anOffer, named));
    const chosen = after([edit('skills', { names: ['github'], variables: {} })], at);
    expect(chosen.context.answers.approvals).toEqual({ list_issues: firstApproval });
    const freed = after(
      [
        go('approvals'),
        edit('approvals', {}),
        go('skills'),
        edit('skills', { names: ['github', 'weather'], variables: {} }),
      ],
      chosen,
    );
    expect(freed.context.answers.approvals).toEqual({});
  });

  it('keeps a completed sign-in at any step, and drops a failed one', () => {
    const keep = (session: string): WizardEvent => ({ type: 'session.keep', session });
    const at = after([go('auth'), keep('a state')], begun(noOffer, thinking));
    const kept = { ...thinking, model: { ...thinking.model, session: 'a state' } };
    expect([at.value, at.context]).toEqual([
      'auth',
      { answers: kept, offer: noOffer, complaint: null },
    ]);
    expect(after([keep('')], at).context.answers).toEqual(thinking);
  });

  it('jumps to any step without an error before it, and to no other', () => {
    expect(after([go('review')]).value).toBe('name');
    for (const step of steps) {
      const isThere = isAsked(step, named, noOffer);
      expect(after([go(step)], begun(noOffer, named)).value).toBe(isThere ? step : 'name');
      expect(after([go(step)], begun(anOffer, thinking)).value).toBe(step);
    }
    const misled = {
      ...thinking,
      channels: {},
      approvals: { datetime_now: { ...firstApproval, to: 'channel:slack:#ops' } },
    };
    expect(after([go('approvals')], begun(noOffer, misled)).value).toBe('approvals');
    expect(after([go('review')], begun(noOffer, misled)).value).toBe('name');
  });

  it('ends with the answers, without those that others made needless', () => {
    const held = {
      ...thinking,
      tools: { ...thinking.tools, names: ['uuid_generate'] },
      approvals: { uuid_generate: firstApproval },
    };
    const tools = { ...thinking.tools, key: 'a key of web_search' };
    const edits = [go('tools'), edit('tools', tools), go('review'), accept];
    const done = after(edits, begun(noOffer, held));
    expect(done).toMatchObject({ status: 'done', output: thinking });
    expect(transition(wizardMachine, done, back)[0].value).toBe('accepted');
  });

  it('reaches every state by shortest paths, and keeps a context that V8 copies fast', () => {
    const edits = [edit('name', 'x'), edit('provider', 'openai'), edit('model', thinking.model)];
    const paths = getShortestPaths(wizardMachine, {
      input: { offer: anOffer },
      events: [...edits, next, back, accept, ...steps.map(go)],
      serializeState: ({ value, context }) => JSON.stringify([value, context.answers]),
      limit: 2_000,
    });
    expect(new Set(paths.map(({ state }) => state.value))).toEqual(new Set([...steps, 'accepted']));
    expect(Object.keys(begun().context).length).toBeLessThanOrEqual(17);
  });
});
