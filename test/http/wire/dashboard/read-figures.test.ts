import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readFigures } from '../../../../src/http/wire/dashboard/read-figures.ts';

it('the health figures of an agent are read, and no others', () => {
  const text = [
    '# HELP holdpoint_tasks tasks in the store',
    '# TYPE holdpoint_tasks gauge',
    'holdpoint_tasks{state="deferred"} 2',
    'holdpoint_tasks{state="completed"} 1e3',
    'holdpoint_audit_lag_events 0',
    'holdpoint_audit_sink_lag_events{sink="a \\"b\\"\\n, c=\\\\"} 7',
    'holdpoint_audit_lag_events NaN',
    'holdpoint_grants_used_total{tool="pay"} 3',
    'nodejs_eventloop_lag_p99_seconds 0.012',
    'not a figure',
    '',
  ].join('\n');
  expect(readFigures(text)).toEqual([
    { name: 'holdpoint_tasks', labels: { state: 'deferred' }, value: 2 },
    { name: 'holdpoint_tasks', labels: { state: 'completed' }, value: 1_000 },
    { name: 'holdpoint_audit_lag_events', labels: {}, value: 0 },
    { name: 'holdpoint_audit_sink_lag_events', labels: { sink: 'a "b"\n, c=\\' }, value: 7 },
    { name: 'nodejs_eventloop_lag_p99_seconds', labels: {}, value: 0.012 },
  ]);
});

it('any answer of an agent is read without an error, and at most a hundred figures', () => {
  fc.assert(fc.property(fc.string(), (text) => void readFigures(`holdpoint_tasks{${text}} 1`)));
  expect(readFigures('holdpoint_tasks 1\n'.repeat(1_000))).toHaveLength(100);
  const open = `holdpoint_tasks{${'a="\\'.repeat(50_000)}`;
  expect(readFigures(open)).toEqual([]);
});
