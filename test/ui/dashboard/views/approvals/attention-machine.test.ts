import { expect, it } from 'vitest';
import { createActor, SimulatedClock } from 'xstate';
import { attentionMachine } from '../../../../../src/ui/dashboard/views/approvals/attention-machine.ts';
import { aDeferral } from '../../../../helpers/page-fixtures.ts';

const call = aDeferral();
const stop = { ...call, messages: [{ from: 'ann@example.com', text: 'Stop' }] };
const both = { ...stop, messages: [...stop.messages, { from: 'ann@example.com', text: 'Really' }] };

function open() {
  const clock = new SimulatedClock();
  const actor = createActor(attentionMachine, { input: { call, me: '' }, clock }).start();
  const look = (edges: number, ...seenNews: string[]) =>
    actor.send({ type: 'looked', edges, seenNews });
  const read = (now: typeof call) => actor.send({ type: 'call.read', call: now });
  const state = () => [actor.getSnapshot().value, actor.getSnapshot().context.unread] as const;
  return { actor, clock, look, read, state };
}

it('a call counts as seen once each of its edges was visible', () => {
  const { look, state } = open();
  expect(state()).toEqual(['reading', []]);
  look(3);
  expect(state()).toEqual(['reading', []]);
  look(0);
  expect(state()).toEqual(['seen', []]);
});

it('a call counts as unseen after news, until that was in view for a second', () => {
  const { clock, look, read, state } = open();
  look(0);
  read(stop);
  expect(state()).toEqual(['unread', ['message 0']]);
  // The look at the page before it shows the message says nothing of it.
  look(0);
  expect(state()).toEqual(['unread', ['message 0']]);
  look(2);
  expect(state()).toEqual(['unread', ['message 0']]);
  look(0, 'message 0');
  expect(state()).toEqual(['settling', []]);
  clock.increment(999);
  expect(state()).toEqual(['settling', []]);
  clock.increment(1);
  expect(state()).toEqual(['seen', []]);
});

it('the second starts again with further news', () => {
  const { clock, look, read, state } = open();
  look(0);
  read(stop);
  look(0, 'message 0');
  clock.increment(900);
  read(both);
  expect(state()).toEqual(['unread', ['message 1']]);
  clock.increment(5_000);
  expect(state()).toEqual(['unread', ['message 1']]);
  look(0, 'message 0', 'message 1');
  clock.increment(1_000);
  expect(state()).toEqual(['seen', []]);
});

it('a call stays seen when it is read again unchanged', () => {
  const { look, read, state } = open();
  look(0);
  read({ ...call });
  expect(state()).toEqual(['seen', []]);
});

it('a call counts as unseen when other parts of it are shown', () => {
  const { look, state } = open();
  look(0);
  look(2);
  expect(state()).toEqual(['reading', []]);
});

it('a message does not count as seen before the rest of the call', () => {
  const { clock, look, read, state } = open();
  read(stop);
  look(1, 'message 0');
  clock.increment(5_000);
  expect(state()).toEqual(['unread', []]);
  look(0, 'message 0');
  expect(state()).toEqual(['settling', []]);
});
