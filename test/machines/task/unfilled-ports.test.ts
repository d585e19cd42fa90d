import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createActor, fromPromise, raise } from 'xstate';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { aCall, allowed, aTaskInput, minted, said, saved } from '../../helpers/task-fixtures.ts';

const withCredential = { ...allowed(), credential: 'static' };

/** The chart with ports that are filled, up to one that is not. */
const charts = {
  think: taskMachine.provide({
    actions: { screenPrompt: raise({ type: 'prompt.screened', refusal: null, took: 0 }) },
  }),
  get mint() {
    return charts.think.provide({
      actors: {
        think: fromPromise(async () => said('', [aCall()])),
        govern: fromPromise(async () => withCredential) as never,
      },
    });
  },
  get runTool() {
    return charts.mint.provide({ actors: { mint: fromPromise(async () => minted()) } });
  },
};

it.each(['think', 'mint', 'runTool'] as const)(
  'a task stops where the port %s is not connected',
  async (port) => {
    const errors: unknown[] = [];
    const actor = createActor(charts[port], { input: aTaskInput() });
    actor.subscribe({ error: (error) => errors.push(error) });
    actor.start();
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    if (actor.getSnapshot().hasTag('saving')) actor.send(saved());
    await setImmediate();
    expect(errors).toEqual([new Error('the port is not filled')]);
    expect(actor.getSnapshot().status).toBe('error');
  },
);

it('a call is denied where the ports of governance are not connected', async () => {
  const chart = charts.think.provide({
    actors: { think: fromPromise(async () => said('', [aCall()])) },
  });
  const actor = createActor(chart, { input: aTaskInput() }).start();
  for (let turn = 0; turn < 3; turn += 1) await setImmediate();
  const { value, context } = actor.getSnapshot();
  expect([value, context.failure, context.exchanges]).toEqual([
    'failed',
    {
      kind: 'denied',
      layer: 'alignment',
      tool: 'issue_refund',
      text: 'governance failed: the policy was not consulted',
    },
    [],
  ]);
});
