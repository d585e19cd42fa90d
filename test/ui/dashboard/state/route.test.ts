import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hrefOf, readRoute } from '../../../../src/ui/dashboard/state/route.ts';

describe('a route', () => {
  it.each([
    ['', { view: 'overview', query: new URLSearchParams() }],
    ['#/overview?range=30d', { view: 'overview', query: new URLSearchParams('range=30d') }],
    ['#/agents', { view: 'agents' }],
    ['#/agents/a/policy', { view: 'policy', agent: 'a' }],
    ['#/agents/a/other', { view: 'unknown' }],
    ['#/approvals', { view: 'approvals', selected: null, query: new URLSearchParams() }],
    [
      '#/approvals/a/t',
      { view: 'approvals', selected: { agent: 'a', task: 't' }, query: new URLSearchParams() },
    ],
    [
      '#/approvals/a/t?from=chat',
      {
        view: 'approvals',
        selected: { agent: 'a', task: 't' },
        query: new URLSearchParams('from=chat'),
      },
    ],
    ['#/approvals/a', { view: 'unknown' }],
    ['#/skill-builder/a', { view: 'skill-builder', agent: 'a' }],
    ['#/skill-builder', { view: 'unknown' }],
    ['#/skill-builder/a/b', { view: 'unknown' }],
    ['#/audit', { view: 'audit', agent: null, query: new URLSearchParams() }],
    ['#/audit/a', { view: 'audit', agent: 'a', query: new URLSearchParams() }],
    ['#/skills', { view: 'skills', selected: null, query: new URLSearchParams() }],
    [
      '#/skills/a?category=b',
      { view: 'skills', selected: 'a', query: new URLSearchParams({ category: 'b' }) },
    ],
    ['#/skills/a/b', { view: 'unknown' }],
    ['#/agents/%E0%A4%A/policy', { view: 'unknown' }],
    ['#/workflows?state=held', { view: 'workflows', query: new URLSearchParams('state=held') }],
    ['#/workflows/a', { view: 'unknown' }],
    ['#/a2a?url=x', { view: 'a2a', query: new URLSearchParams('url=x') }],
    ['#/health', { view: 'health' }],
    ['#/agents/a/doctor', { view: 'doctor', agent: 'a' }],
    ['#/__proto__', { view: 'unknown' }],
  ])('reads %s', (hash, route) => {
    expect(readRoute(hash)).toEqual(route);
  });

  it('keeps every character of its names', () => {
    const name = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(name, name, (agent, task) => {
        expect(readRoute(hrefOf('approvals', agent, task))).toEqual({
          view: 'approvals',
          selected: { agent, task },
          query: new URLSearchParams(),
        });
      }),
    );
  });
});
