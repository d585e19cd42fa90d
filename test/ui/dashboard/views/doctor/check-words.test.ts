import { describe, expect, it } from 'vitest';
import {
  figureWords,
  isCommand,
  summaryOf,
  worstFirst,
} from '../../../../../src/ui/dashboard/views/doctor/check-words.ts';

describe('the texts of a check', () => {
  it('count the errors, and list them first', () => {
    const checks = (['pass', 'warn', 'fail', 'pass'] as const).map((status, index) => ({
      ...{ check: `c${index}`, status, message: '' },
    }));
    expect(summaryOf(checks)).toBe('1 failed, 1 warned, 2 passed');
    expect(summaryOf(checks.slice(0, 1))).toBe('all 1 checks pass');
    expect(worstFirst(checks).map(({ check }) => check)).toEqual(['c2', 'c1', 'c0', 'c3']);
  });

  it.each([
    ['holdpoint validate --dir /a', true],
    ['chmod 600 /a/.env', true],
    ['/opt/holdpoint audit verify x', true],
    ['raise the limit on the platform, or wait', false],
    ['set audit.chain: true in service.yaml', false],
  ])('recognize whether %j is a command', (fix, is) => {
    expect(isCommand(fix)).toBe(is);
  });

  it('show a figure with its unit', () => {
    const said = (name: string, value: number, labels = {}) => figureWords({ name, labels, value });
    expect([
      said('holdpoint_tasks', 1_234, { state: 'completed' }),
      said('holdpoint_channel_up', 0, { adapter: 'slack' }),
      said('nodejs_eventloop_lag_p99_seconds', 0.0123),
      said('process_resident_memory_bytes', 104_857_600),
    ]).toEqual([
      { name: 'tasks in the store: completed', value: '1,234' },
      { name: 'channel is up: slack', value: 'no' },
      { name: 'event loop delay', value: '12.3 ms' },
      { name: 'memory', value: '100 MiB' },
    ]);
  });
});
