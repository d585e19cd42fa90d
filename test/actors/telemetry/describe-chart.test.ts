import { describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { describeChart } from '../../../src/actors/telemetry/describe-chart.ts';

const chart = setup({
  types: {
    context: {} as { secret: string },
    events: {} as { type: 'output' } | { type: 'go' },
  },
  actions: { note: (_, _params: { text: string }) => undefined },
}).createMachine({
  id: 'sample',
  context: { secret: 'canary' },
  initial: 'input',
  states: {
    input: {
      meta: { secret: 'canary' },
      entry: { type: 'note', params: { text: 'canary' } },
      exit: assign({ secret: 'canary' }),
      on: { output: 'context' },
    },
    context: { description: 'A state with an awkward name.', type: 'final' },
  },
});

describe('describeChart', () => {
  it('keeps states, events and names, and omits data', () => {
    expect(JSON.parse(describeChart(chart.config))).toEqual({
      id: 'sample',
      initial: 'input',
      states: {
        input: {
          entry: { type: 'note' },
          exit: { type: 'assign' },
          on: { output: 'context' },
        },
        context: { description: 'A state with an awkward name.', type: 'final' },
      },
    });
  });

  it('describes a chart once', () => {
    let reads = 0;
    const config = {
      id: 'counted',
      get states() {
        reads += 1;
        return {};
      },
    };
    const written = [describeChart(config), describeChart(config)];
    expect(written).toEqual(Array(2).fill('{"id":"counted","states":{}}'));
    expect(reads).toBe(1);
  });
});
