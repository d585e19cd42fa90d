import { setImmediate as turn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { Readings } from '../../../src/http/metrics/readings.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

function opened() {
  const registry = new Registry();
  const clock = new ManualClock(0);
  const warnings: string[] = [];
  const log = {
    info() {},
    error() {},
    warn: (fields: object, message: string) =>
      void warnings.push(`${message} ${JSON.stringify(fields)}`),
  };
  const readings = new Readings(registry, { clock, log });
  return { registry, clock, warnings, readings };
}

const samples = (text: string) =>
  text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

it('a value that cannot be read is omitted, and the first one is logged', async () => {
  const { registry, warnings, readings } = opened();
  let isAway = false;
  const read = () => {
    if (isAway) throw new Error('the database is away');
    return [{ value: 7 }];
  };
  readings.gauge({ name: 'tasks', help: 'Tasks.', read });
  readings.counter({ name: 'moves_total', help: 'Moves.', read });
  readings.gauge({
    name: 'up',
    help: 'Up.',
    labelNames: ['to'],
    read: () => [{ labels: { to: 'a' }, value: 1 }],
  });
  expect(samples(await registry.metrics())).toEqual([
    'holdpoint_metrics_unread_total 0',
    'tasks 7',
    'moves_total 7',
    'up{to="a"} 1',
  ]);
  isAway = true;
  await registry.metrics();
  expect(samples(await registry.metrics())).toEqual([
    expect.stringMatching(/^holdpoint_metrics_unread_total [2-4]$/),
    'up{to="a"} 1',
  ]);
  expect(warnings).toEqual([expect.stringMatching(/^metrics: a value is unknown .*"tasks"/)]);
});

it('a value times out after two seconds', async () => {
  const { registry, clock, readings } = opened();
  readings.gauge({ name: 'slow', help: 'Slow.', read: () => new Promise(() => undefined) });
  readings.gauge({ name: 'fast', help: 'Fast.', read: () => [{ value: 1 }] });
  const text = registry.metrics();
  await turn();
  clock.advance(2_000);
  expect(samples(await text).filter((line) => !line.startsWith('holdpoint'))).toEqual(['fast 1']);
  expect(clock.pending).toBe(0);
});
