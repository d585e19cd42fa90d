import { describe, expect, it } from 'vitest';
import { createActor, fromPromise, waitFor } from 'xstate';
import {
  PassphraseNeeded,
  type ProcessVerb,
  processMachine,
} from '../../../../../src/ui/dashboard/views/agents/process-machine.ts';

/** A card whose requests fail with these errors before one succeeds. */
function card(...errors: Error[]) {
  const sent: unknown[] = [];
  const send = fromPromise<void, { verb: ProcessVerb; passphrase: string | null }>(({ input }) => {
    sent.push(input);
    const error = errors.shift();
    return error === undefined ? Promise.resolve() : Promise.reject(error);
  });
  const actor = createActor(processMachine.provide({ actors: { send } })).start();
  const settled = () => waitFor(actor, (state) => !state.hasTag('busy'));
  return { actor, sent, settled };
}

describe('a button of an agent', () => {
  it('asks for the passphrase until it is right, and keeps none of them', async () => {
    const { actor, sent, settled } = card(new PassphraseNeeded('The passphrase is wrong.'));
    actor.send({ type: 'asked', verb: 'start', needsPassphrase: true, waiting: false });
    actor.send({ type: 'passphrase.given', passphrase: 'wrong' });
    const asked = await settled();
    expect({ value: asked.value, context: asked.context }).toEqual({
      value: 'askingPassphrase',
      context: { verb: 'start', problem: 'The passphrase is wrong.' },
    });
    actor.send({ type: 'passphrase.given', passphrase: 'right' });
    const done = await settled();
    expect({ value: done.value, context: done.context }).toEqual({
      value: 'idle',
      context: { verb: 'start', problem: null },
    });
    expect(sent).toEqual([
      { verb: 'start', passphrase: 'wrong' },
      { verb: 'start', passphrase: 'right' },
    ]);
    expect(JSON.stringify(actor.getPersistedSnapshot())).not.toMatch(/wrong"|right/);
  });

  it('asks for it when the server does, and not for a stop', async () => {
    const { actor, settled } = card(new PassphraseNeeded('needed'));
    actor.send({ type: 'asked', verb: 'restart', needsPassphrase: false, waiting: false });
    expect((await settled()).value).toBe('askingPassphrase');
    actor.send({ type: 'passphrase.refused' });
    actor.send({ type: 'asked', verb: 'stop', needsPassphrase: true, waiting: false });
    expect(actor.getSnapshot().value).toBe('sending');
  });

  it("shows the server's message", async () => {
    const { actor, settled } = card(new Error('It runs already.'));
    actor.send({ type: 'asked', verb: 'start', needsPassphrase: false, waiting: false });
    const { value, context } = await settled();
    expect({ value, context }).toEqual({
      value: 'idle',
      context: { verb: 'start', problem: 'It runs already.' },
    });
  });

  it('ends waiting calls only after a person has confirmed it, and a start ends none', async () => {
    const { actor, sent, settled } = card();
    actor.send({ type: 'asked', verb: 'stop', needsPassphrase: false, waiting: true });
    expect(actor.getSnapshot().value).toBe('confirming');
    actor.send({ type: 'end.dropped' });
    expect([actor.getSnapshot().value, sent]).toEqual(['idle', []]);
    actor.send({ type: 'asked', verb: 'stop', needsPassphrase: true, waiting: true });
    actor.send({ type: 'end.confirmed', needsPassphrase: true });
    expect((await settled()).value).toBe('idle');
    actor.send({ type: 'asked', verb: 'restart', needsPassphrase: true, waiting: true });
    actor.send({ type: 'end.confirmed', needsPassphrase: true });
    expect(actor.getSnapshot().value).toBe('askingPassphrase');
    actor.send({ type: 'passphrase.refused' });
    actor.send({ type: 'asked', verb: 'start', needsPassphrase: false, waiting: true });
    await settled();
    expect(sent).toEqual([
      { verb: 'stop', passphrase: null },
      { verb: 'start', passphrase: null },
    ]);
  });
});
