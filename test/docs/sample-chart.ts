import { and, fromPromise, not, setup } from 'xstate';

export const childMachine = setup({}).createMachine({
  id: 'child',
  description: 'One look. It ends at once.',
  initial: 'ended',
  states: { ended: { type: 'final', description: 'Nothing | more.' } },
});

export const sampleMachine = setup({
  types: { events: {} as { type: 'sample.go' | 'sample.stop' | 'sample.tick' } },
  actors: { look: childMachine, save: fromPromise(() => Promise.resolve()) },
  actions: { note: () => undefined, count: () => undefined },
  guards: { isReady: () => true, isLate: () => false },
  delays: { window: 1_000 },
}).createMachine({
  id: 'sample',
  description: 'A sample. It shows each kind of arrow.',
  initial: 'idle',
  on: { 'sample.*': { actions: 'note' }, 'sample.stop': { target: '.ended' } },
  states: {
    idle: {
      description: 'Waits.',
      tags: ['resting', 'quiet'],
      on: {
        'sample.go': [
          { guard: 'isReady', target: 'working' },
          { guard: and(['isLate', not('isReady')]), target: 'ended' },
          { actions: ['note', 'count'] },
        ],
        '*': { actions: 'count' },
      },
      after: { window: { target: 'ended' }, 2000: { target: 'working.looking' } },
    },
    working: {
      description: 'Is at work.',
      initial: 'looking',
      onDone: { target: 'both' },
      states: {
        looking: {
          invoke: {
            src: 'look',
            onDone: [{ guard: 'isReady', target: 'saving' }, { target: '#sample.ended' }],
            onError: { target: '#sample.ended' },
          },
        },
        saving: { always: { target: 'saved' } },
        saved: { type: 'final' },
      },
    },
    both: {
      type: 'parallel',
      invoke: { src: 'save' },
      states: { left: { initial: 'here', states: { here: {} } }, right: {} },
    },
    ended: { type: 'final' },
  },
});
