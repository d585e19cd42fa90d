import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hrefOf, readRoute } from '../../../../src/ui/dashboard/state/route.ts';

describe('a route', () => {
  it.each([
    ['', { view: 'agents' }],
    ['#/agents', { view: 'agents' }],
    ['#/agents/a/policy', { view: 'policy', agent: 'a' }],
    ['#/agents/a/other', { view: 'unknown' }],
    ['#/approvals', { view: 'approvals', selected: null }],
    ['#/approvals/a/t', { view: 'approvals', selected: { agent: 'a', task: 't' } }],
    ['#/approvals/a', { view: 'unknown' }],
    ['#/audit', { view: 'audit', agent: null }],
    ['#/audit/a', { view: 'audit', agent: 'a' }],
    ['#/agents/%E0%A4%A/policy', { view: 'unknown' }],
    ['#/__proto__', { view: 'unknown' }],
  ])('reads %s', (hash, route) => {
    expect(readRoute(hash)).toEqual(route);
  });

  it('keeps every character of the names in it', () => {
    const name = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(name, name, (agent, task) => {
        expect(readRoute(hrefOf('approvals', agent, task))).toEqual({
          view: 'approvals',
          selected: { agent, task },
        });
      }),
    );
  });
});
