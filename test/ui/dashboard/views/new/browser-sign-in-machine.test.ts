import { describe, expect, it, vi } from 'vitest';
import { createActor, fromCallback, fromPromise } from 'xstate';
import type { SignInStatusJson } from '../../../../../src/http/wire/dashboard/wizard-json.ts';
import type { WizardOffer } from '../../../../../src/machines/wizard/offers.ts';
import { browserSignInMachine } from '../../../../../src/ui/dashboard/views/new/browser-sign-in-machine.ts';
import { newAgentMachine } from '../../../../../src/ui/dashboard/views/new/new-agent-machine.ts';
import { patient } from '../../../../helpers/patient.ts';
import { anOffer } from '../../../../machines/wizard/some-answers.ts';

const started = { url: 'https://id.example.com/auth?state=s-1', state: 's-1' };

/** A page at the step of the model, whose provider a browser signs in to. */
async function beginAtModel(start: () => Promise<typeof started> = () => Promise.resolve(started)) {
  const opened: string[] = [];
  const calledOff: string[] = [];
  const followed: string[] = [];
  const actor = createActor(
    newAgentMachine.provide({
      actors: {
        readOffer: fromPromise<WizardOffer>(() =>
          Promise.resolve({ ...anOffer, signIn: ['openai'] }),
        ),
        create: fromPromise(() => Promise.resolve({ agent_id: 'x', directory: '/w/x' })),
        signIn: browserSignInMachine.provide({
          actors: {
            start: fromPromise(start),
            follow: fromCallback(({ input }) => {
              followed.push(input.state);
              return () => void followed.pop();
            }),
          },
          actions: {
            openPage: (_, { url }) => void opened.push(url),
            callOff: (_, { state }) => void calledOff.push(state),
          },
        }),
      },
    }),
  ).start();
  await vi.waitUntil(() => actor.getSnapshot().matches('asking'), patient);
  const { wizard, signIn } = actor.getSnapshot().context;
  if (wizard === null || signIn === null) throw new Error('nothing is asked');
  actor.send({ type: 'answer.edit', step: 'name', value: 'x' });
  actor.send({ type: 'step.next' });
  actor.send({ type: 'answer.edit', step: 'provider', value: 'openai' });
  actor.send({ type: 'step.next' });
  const { model } = wizard.getSnapshot().context.answers;
  actor.send({ type: 'answer.edit', step: 'model', value: { ...model, name: 'gpt-5' } });
  const tell = (status: SignInStatusJson) => signIn.send({ type: 'status.told', status });
  const begin = async (): Promise<void> => {
    signIn.send({ type: 'browser.choose' });
    signIn.send({ type: 'sign-in.begin', provider: 'openai' });
    await vi.waitUntil(() => !signIn.getSnapshot().matches({ browser: 'starting' }), patient);
  };
  const session = () => wizard.getSnapshot().context.answers.model.session;
  const step = () => wizard.getSnapshot().value;
  return { actor, signIn, opened, followed, calledOff, tell, begin, session, step };
}

describe('signing in with a browser', () => {
  it('answers with the session once the server has a token, at any step', async () => {
    const { actor, begin, tell, session, step, opened, followed } = await beginAtModel();
    await begin();
    expect([opened, followed]).toEqual([[started.url], ['s-1']]);
    tell({ status: 'pending' });
    expect(session()).toBe('');
    actor.send({ type: 'step.back' });
    tell({ status: 'done' });
    expect([step(), session()]).toEqual(['provider', 's-1']);
  });

  it('lets the server cancel an abandoned sign-in, waiting or done, and no failed one', async () => {
    const { signIn, begin, tell, calledOff, session } = await beginAtModel();
    await begin();
    signIn.send({ type: 'sign-in.cancel' });
    expect(calledOff.splice(0)).toEqual(['s-1']);
    await begin();
    tell({ status: 'done' });
    signIn.send({ type: 'key.choose' });
    expect([calledOff.splice(0), session()]).toEqual([['s-1'], '']);
    await begin();
    tell({ status: 'failed', error: 'no' });
    signIn.send({ type: 'key.choose' });
    expect(calledOff).toEqual([]);
  });

  it('stays at the model before the sign-in is complete', async () => {
    const { actor, begin, tell, step } = await beginAtModel();
    const refusal = () => actor.getSnapshot().context.refusal?.step ?? null;
    await begin();
    actor.send({ type: 'step.next' });
    expect([step(), refusal()]).toEqual(['model', 'model']);
    actor.send({ type: 'step.back' });
    expect([step(), refusal()]).toEqual(['provider', null]);
    actor.send({ type: 'step.go', step: 'review' });
    expect([step(), refusal()]).toEqual(['model', 'model']);
    tell({ status: 'done' });
    actor.send({ type: 'step.go', step: 'review' });
    expect([step(), refusal()]).toEqual(['review', null]);
  });

  it('creates no agent with an expired sign-in', async () => {
    const { actor, begin, tell, session, step, signIn, followed } = await beginAtModel();
    await begin();
    tell({ status: 'done' });
    actor.send({ type: 'step.go', step: 'review' });
    tell({ status: 'failed', error: 'the sign-in has expired; sign in again' });
    expect([session(), followed]).toEqual(['', []]);
    actor.send({ type: 'create' });
    expect([actor.getSnapshot().value, step()]).toEqual(['asking', 'model']);
    expect(signIn.getSnapshot().context.problem).toBe('the sign-in has expired; sign in again');
  });

  it('keeps no session for a key, another provider, or a canceled one', async () => {
    const { actor, signIn, begin, tell, session, followed } = await beginAtModel();
    await begin();
    signIn.send({ type: 'sign-in.cancel' });
    tell({ status: 'done' });
    expect([session(), followed]).toEqual(['', []]);
    await begin();
    tell({ status: 'done' });
    expect(session()).toBe('s-1');
    signIn.send({ type: 'key.choose' });
    expect(session()).toBe('');
    await begin();
    tell({ status: 'done' });
    actor.send({ type: 'step.back' });
    actor.send({ type: 'answer.edit', step: 'provider', value: 'openai' });
    expect(session()).toBe('s-1');
    actor.send({ type: 'answer.edit', step: 'provider', value: 'ollama' });
    expect([session(), signIn.getSnapshot().value]).toEqual(['', 'keyed']);
  });

  it('shows why none could be started, and starts another', async () => {
    const start = vi
      .fn(() => Promise.resolve(started))
      .mockRejectedValueOnce(new Error('no id is registered'));
    const { signIn, begin, opened } = await beginAtModel(start);
    await begin();
    expect(signIn.getSnapshot().context.problem).toBe('no id is registered');
    await begin();
    expect([signIn.getSnapshot().context.problem, opened]).toEqual([null, [started.url]]);
  });

  it('is over once the agent is created', async () => {
    const { actor, signIn, begin, tell, followed } = await beginAtModel();
    await begin();
    tell({ status: 'done' });
    actor.send({ type: 'step.go', step: 'review' });
    actor.send({ type: 'create' });
    await vi.waitUntil(() => actor.getSnapshot().matches('made'), patient);
    expect([signIn.getSnapshot().status, followed]).toEqual(['stopped', []]);
    expect(actor.getSnapshot().context).toMatchObject({ wizard: null, signIn: null });
  });
});
