import { expect, it } from 'vitest';
import { createActor, fromPromise, SimulatedClock, waitFor } from 'xstate';
import { signInMachine } from '../../../src/machines/sign-in/sign-in-machine.ts';

const lifetime = 600_000;
const code = { type: 'callback.code', parameters: 'code=1' } as const;

function begin(exchange: () => Promise<void>) {
  const clock = new SimulatedClock();
  const machine = signInMachine.provide({ actors: { exchange: fromPromise(exchange) } });
  return { clock, actor: createActor(machine, { clock }).start() };
}

it('a sign-in exchanges the first code once and gives its token to one agent', async () => {
  let exchanged = 0;
  const { actor } = begin(() => {
    exchanged += 1;
    return Promise.resolve();
  });
  actor.send({ type: 'token.take' });
  expect(actor.getSnapshot().value).toBe('pending');
  for (let time = 0; time < 3; time += 1) actor.send(code);
  await waitFor(actor, (snapshot) => snapshot.matches('done'));
  actor.send(code);
  actor.send({ type: 'callback.refused', error: 'access_denied' });
  expect([actor.getSnapshot().value, exchanged]).toEqual(['done', 1]);
  actor.send({ type: 'token.take' });
  expect(actor.getSnapshot().can({ type: 'token.take' })).toBe(false);
  actor.send({ type: 'token.return' });
  expect(actor.getSnapshot().value).toBe('done');
});

it('a sign-in expires after ten minutes in any state', async () => {
  const waiting = begin(() => Promise.resolve());
  waiting.clock.increment(lifetime - 1);
  expect(waiting.actor.getSnapshot().value).toBe('pending');
  waiting.clock.increment(1);
  const slow = begin(() => new Promise(() => undefined));
  slow.actor.send(code);
  slow.clock.increment(lifetime);
  const done = begin(() => Promise.resolve());
  done.actor.send(code);
  await waitFor(done.actor, (snapshot) => snapshot.matches('done'));
  done.clock.increment(lifetime);
  const taken = begin(() => Promise.resolve());
  taken.actor.send(code);
  await waitFor(taken.actor, (snapshot) => snapshot.matches('done'));
  taken.actor.send({ type: 'token.take' });
  taken.clock.increment(lifetime);
  for (const { actor } of [waiting, slow, done, taken]) {
    const { value, status, context } = actor.getSnapshot();
    const error = 'the sign-in has expired; sign in again';
    expect({ value, status, context }).toEqual({
      value: 'failed',
      status: 'done',
      context: { error },
    });
  }
});

it('a sign-in sends the returned code unchanged', () => {
  const exchanged: unknown[] = [];
  const exchange = fromPromise<void, { parameters: string }>(({ input }) => {
    exchanged.push(input);
    return new Promise(() => undefined);
  });
  const actor = createActor(signInMachine.provide({ actors: { exchange } })).start();
  expect(actor.getSnapshot()).toMatchObject({ value: 'pending', context: { error: null } });
  actor.send({ type: 'callback.code', parameters: 'code=a%20b&state=c' });
  expect([actor.getSnapshot().value, exchanged]).toEqual([
    'exchanging',
    [{ parameters: 'code=a%20b&state=c' }],
  ]);
  actor.stop();
});

it('a sign-in fails when its port is not connected', async () => {
  const actor = createActor(signInMachine).start();
  actor.send(code);
  const failed = await waitFor(actor, (snapshot) => snapshot.matches('failed'));
  expect(failed.context).toEqual({ error: 'the port is not filled' });
});

it.each([
  ['access_denied', 'the provider was not allowed to sign you in'],
  ['server_error', 'the provider refused the sign-in; sign in again'],
  ['', 'the provider refused the sign-in; sign in again'],
])('a sign-in translates the refusal %j', (error, sentence) => {
  const { actor } = begin(() => Promise.resolve());
  actor.send({ type: 'callback.refused', error });
  expect(actor.getSnapshot()).toMatchObject({ value: 'failed', context: { error: sentence } });
});

it('a sign-in fails with the message of the exchange', async () => {
  const failing = begin(() => Promise.reject(new Error('no token')));
  failing.actor.send(code);
  await waitFor(failing.actor, (snapshot) => snapshot.matches('failed'));
  expect(failing.actor.getSnapshot().context.error).toBe('no token');
});

it('a sign-in can be canceled until its agent is created, and stays canceled', async () => {
  const off = { type: 'sign-in.cancel' } as const;
  const waiting = begin(() => Promise.resolve());
  waiting.actor.send(off);
  let signal: AbortSignal | null = null;
  const machine = signInMachine.provide({
    actors: {
      exchange: fromPromise((options) => {
        ({ signal } = options);
        return new Promise(() => undefined);
      }),
    },
  });
  const exchanging = createActor(machine).start();
  exchanging.send(code);
  exchanging.send(off);
  expect(signal).toMatchObject({ aborted: true });
  const done = begin(() => Promise.resolve());
  done.actor.send(code);
  await waitFor(done.actor, (snapshot) => snapshot.matches('done'));
  done.actor.send(off);
  for (const actor of [waiting.actor, exchanging, done.actor]) {
    actor.send(code);
    actor.send({ type: 'token.take' });
    expect(actor.getSnapshot()).toMatchObject({ value: 'calledOff', status: 'done' });
  }
  const taken = begin(() => Promise.resolve());
  taken.actor.send(code);
  await waitFor(taken.actor, (snapshot) => snapshot.matches('done'));
  taken.actor.send({ type: 'token.take' });
  taken.actor.send(off);
  expect(taken.actor.getSnapshot().value).toBe('taken');
});
