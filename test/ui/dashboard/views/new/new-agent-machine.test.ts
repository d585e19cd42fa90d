import { describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import type { AgentAnswers } from '../../../../../src/machines/wizard/agent-answers.ts';
import {
  newAgentMachine,
  StepRefused,
} from '../../../../../src/ui/dashboard/views/new/new-agent-machine.ts';
import { patient } from '../../../../helpers/patient.ts';
import { anOffer } from '../../../../machines/wizard/some-answers.ts';

type Create = (answers: AgentAnswers) => Promise<{ agent_id: string; directory: string }>;

const made = { agent_id: 'x', directory: '/w/x' };

async function begin(create: Create = () => Promise.resolve(made)) {
  const actor = createActor(
    newAgentMachine.provide({
      actors: {
        readOffer: fromPromise(() => Promise.resolve(anOffer)),
        create: fromPromise(({ input }) => create(input.answers)),
      },
    }),
  ).start();
  await vi.waitUntil(() => actor.getSnapshot().matches('asking'), patient);
  const step = () => actor.getSnapshot().context.wizard?.getSnapshot().value;
  return { actor, step };
}

async function beginAtReview(create?: Create) {
  const begun = await begin(create);
  begun.actor.send({ type: 'answer.edit', step: 'name', value: 'x' });
  begun.actor.send({ type: 'step.go', step: 'review' });
  expect(begun.step()).toBe('review');
  return begun;
}

describe('creating an agent in a page', () => {
  it('continues after the passphrase only when it was typed twice', async () => {
    const { actor, step } = await begin();
    actor.send({ type: 'answer.edit', step: 'name', value: 'x' });
    actor.send({ type: 'step.go', step: 'security' });
    const value = { variables: {}, passphrase: 'correct horse' };
    actor.send({ type: 'answer.edit', step: 'security', value });
    actor.send({ type: 'step.next' });
    expect(step()).toBe('security');
    expect(actor.getSnapshot().context.refusal?.step).toBe('security');
    actor.send({ type: 'step.go', step: 'name' });
    actor.send({ type: 'step.go', step: 'review' });
    expect(step()).toBe('security');
    actor.send({ type: 'passphrase.repeat', text: 'correct horse' });
    expect(actor.getSnapshot().context.refusal).toBeNull();
    actor.send({ type: 'step.next' });
    expect(step()).toBe('approvals');
  });

  it('sends the answers once, and keeps none of them when the agent is created', async () => {
    const sent: AgentAnswers[] = [];
    const { actor } = await beginAtReview((answers) => {
      sent.push(answers);
      return Promise.resolve(made);
    });
    actor.send({ type: 'create' });
    actor.send({ type: 'create' });
    await vi.waitUntil(() => actor.getSnapshot().matches('made'), patient);
    expect(sent.map(({ name }) => name)).toEqual(['x']);
    expect(actor.getSnapshot().context).toMatchObject({ wizard: null, repeated: '', made });
    actor.send({ type: 'begin.again' });
    await vi.waitUntil(() => actor.getSnapshot().matches('asking'), patient);
    const { wizard } = actor.getSnapshot().context;
    expect(wizard?.getSnapshot().context.answers.name).toBe('');
  });

  it('leads back to the refused step, with all typed text', async () => {
    const { actor, step } = await beginAtReview(() =>
      Promise.reject(new StepRefused('name', 'it is there')),
    );
    actor.send({ type: 'create' });
    await vi.waitUntil(() => actor.getSnapshot().matches('asking'), patient);
    expect(step()).toBe('name');
    const { refusal, wizard } = actor.getSnapshot().context;
    expect(refusal).toEqual({ step: 'name', text: 'it is there' });
    expect(wizard?.getSnapshot().context.answers.name).toBe('x');
    actor.send({ type: 'answer.edit', step: 'name', value: 'y' });
    expect(actor.getSnapshot().context.refusal).toBeNull();
  });

  it('stays at the review without an answer, and can be retried', async () => {
    let isUp = false;
    const { actor, step } = await beginAtReview(() =>
      isUp ? Promise.resolve(made) : Promise.reject(new Error('no answer')),
    );
    actor.send({ type: 'create' });
    await vi.waitUntil(() => actor.getSnapshot().matches('asking'), patient);
    expect(step()).toBe('review');
    expect(actor.getSnapshot().context.refusal).toEqual({ step: 'review', text: 'no answer' });
    isUp = true;
    actor.send({ type: 'create' });
    await vi.waitUntil(() => actor.getSnapshot().matches('made'), patient);
  });

  it('creates nothing before the review', async () => {
    const create = vi.fn<Create>();
    const { actor } = await begin(create);
    actor.send({ type: 'create' });
    actor.send({ type: 'step.go', step: 'review' });
    actor.send({ type: 'create' });
    expect(actor.getSnapshot().matches('asking')).toBe(true);
    expect(create).not.toHaveBeenCalled();
  });
});
