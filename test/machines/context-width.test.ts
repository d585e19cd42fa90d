import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, initialTransition, StateMachine } from 'xstate';
import type { DeliveryInput } from '../../src/machines/channels/delivery-machine.ts';
import type { LaneInput } from '../../src/machines/channels/lane-machine.ts';
import type { ToolCallInput } from '../../src/machines/governance/tool-call-setup.ts';
import { aCall, aTaskInput } from '../helpers/task-fixtures.ts';

const folder = join(import.meta.dirname, '../../src/machines');
const files = globSync('**/*.ts', { cwd: folder }).map((file) => join(folder, file));

/**
 * Every `assign` copies the context with `Object.assign`, which V8 does about a hundred times slower from 20 keys on:
 * a governed task took a fifth longer. Two keys are left for what a chart adds to its context later.
 */
const widest = 17;

const toolCall: ToolCallInput = {
  taskId: 'task-1',
  call: aCall(),
  request: aTaskInput().request,
  requester: null,
  scores: [],
  now: 0,
};
const lane: LaneInput = { isPaced: true };
const delivery = { ref: null, told: null, latest: { version: 1 } } as unknown as DeliveryInput;

/** The initial context of charts with an input, with every optional value. */
const inputs: { [id: string]: unknown } = {
  task: aTaskInput({ owner: null }),
  toolCall,
  'approval-lane': lane,
  'approval-delivery': delivery,
  conversation: { turn: { message: {}, heldId: null, isLate: false } },
};

async function chartsIn(file: string): Promise<AnyStateMachine[]> {
  const exported: object = await import(file);
  return Object.values(exported).filter((value) => value instanceof StateMachine);
}

// A face exports charts of other files. One after the other, as files that are loaded at once are now and then loaded twice.
const found = new Set<AnyStateMachine>();
for (const file of files) for (const chart of await chartsIn(file)) found.add(chart);
const charts = [...found].map((chart) => [chart.id, chart] as const);

describe('the context of a chart', () => {
  it.each(charts)('of %s is small enough to be copied fast', (id, chart) => {
    const [{ context }] = initialTransition(chart, inputs[id]);
    expect(Object.keys(context).length).toBeLessThanOrEqual(widest);
  });

  it('is measured in every chart', () => {
    const made = files.flatMap(
      (file) => readFileSync(file, 'utf8').match(/\.createMachine\(/g) ?? [],
    );
    expect(charts).toHaveLength(made.length);
  });
});
