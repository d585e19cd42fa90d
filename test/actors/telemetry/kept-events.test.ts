import { expect, it } from 'vitest';
import { type KeptWay, keptEvents } from '../../../src/actors/telemetry/kept-events.ts';

const canary = 'CANARY 4f1d';
const way: KeptWay = {
  name: 'r1',
  chart: { id: 'task', initial: 'submitted', states: { submitted: {} }, context: { said: canary } },
  states: [
    { state: 'submitted', event: 'task.send', at: 1_000 },
    { state: 'working.thinking', event: 'prompt.screened', at: 1_001 },
    { state: 'working.executing.calling.starting', event: 'minting.done', at: 1_002 },
    { state: 'deferred.asked', event: 'governing.done', at: 1_003 },
  ],
  leftOut: 0,
  isFinal: (state) => state === 'failed',
  context: { pending: [{ id: 'c1', tool: 'pay', args: { iban: canary } }], said: canary },
};
const envelope = { rootId: 'r1', sessionId: 'r1', _version: '0.7.2' };

it('the event page shows each state with its event, and the context of the last one, redacted', () => {
  expect(keptEvents(way)).toEqual([
    {
      ...{ ...envelope, id: '1', createdAt: '1000', type: '@xstate.actor', name: 'r1' },
      parentId: undefined,
      definition: '{"id":"task","initial":"submitted","states":{"submitted":{}}}',
      snapshot: { status: 'active' },
    },
    {
      ...{ ...envelope, id: '2', createdAt: '1000', type: '@xstate.event', sourceId: undefined },
      event: { type: 'task.send' },
    },
    {
      ...{ ...envelope, id: '3', createdAt: '1000', type: '@xstate.snapshot' },
      event: { type: 'task.send' },
      snapshot: { status: 'active', value: 'submitted' },
    },
    {
      ...{ ...envelope, id: '4', createdAt: '1001', type: '@xstate.event', sourceId: undefined },
      event: { type: 'prompt.screened' },
    },
    {
      ...{ ...envelope, id: '5', createdAt: '1001', type: '@xstate.snapshot' },
      event: { type: 'prompt.screened' },
      snapshot: { status: 'active', value: { working: 'thinking' } },
    },
    {
      ...{ ...envelope, id: '6', createdAt: '1002', type: '@xstate.event', sourceId: undefined },
      event: { type: 'minting.done' },
    },
    {
      ...{ ...envelope, id: '7', createdAt: '1002', type: '@xstate.snapshot' },
      event: { type: 'minting.done' },
      snapshot: { status: 'active', value: { working: { executing: { calling: 'starting' } } } },
    },
    {
      ...{ ...envelope, id: '8', createdAt: '1003', type: '@xstate.event', sourceId: undefined },
      event: { type: 'governing.done' },
    },
    {
      ...{ ...envelope, id: '9', createdAt: '1003', type: '@xstate.snapshot' },
      event: { type: 'governing.done' },
      snapshot: {
        status: 'active',
        value: { deferred: 'asked' },
        context: { pending: [{ id: 'c1', tool: 'pay', args: '[redacted]' }], said: '[redacted]' },
      },
    },
  ]);
});

it('the event page shows what is not stored, the end of the task, and a missing chart by name', () => {
  const [first] = way.states;
  const ended = { state: 'failed', event: 'task.crashed', at: 9 };
  const events = keptEvents({
    ...{ ...way, chart: null, context: null, leftOut: 7 },
    states: first === undefined ? [] : [first, ended],
  });
  expect(events.map(({ type, id }) => [type, id])).toEqual([
    ['@xstate.actor', '1'],
    ['@xstate.event', '2'],
    ['@xstate.snapshot', '3'],
    ['@xstate.event', '4'],
    ['@xstate.event', '5'],
    ['@xstate.snapshot', '6'],
  ]);
  expect(events[0]).toMatchObject({ definition: '{"id":"r1"}' });
  expect(events[3]).toMatchObject({ event: { type: 'states.left_out', count: 7 }, createdAt: '9' });
  expect(events[5]).toMatchObject({ snapshot: { status: 'done', value: 'failed' } });
});

it('the event page shows no invalid name, and only an actor where no state is stored', () => {
  const odd = { state: `working.${canary}`, event: canary, at: 1 };
  expect(JSON.stringify(keptEvents({ ...way, name: canary, states: [odd] }))).not.toContain(canary);
  expect(keptEvents({ ...way, states: [] })).toEqual([
    expect.objectContaining({ type: '@xstate.actor', createdAt: '0' }),
  ]);
});
