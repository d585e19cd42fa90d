import { describe, expect, it } from 'vitest';
import { createToolViews, everyTool } from '../../../../src/actors/governance/policy/tool-views.ts';
import type { Caller } from '../../../../src/machines/domain/task.ts';
import { runtimeProvider } from '../../../../src/machines/governance/approvers.ts';

const served = ['shop__find_order', 'shop__refund', 'crm__find'].map((name) => ({ name }));
const elsewhere = { name: 'Bash', isElsewhere: true as const };
const tools = [...served, elsewhere];

const caller = (userId: string, provider = 'staff'): Caller => ({ provider, userId });

const views = createToolViews(
  [
    { for: ['group:support'], tools: { allow: ['shop__*'], deny: ['shop__refund'] } },
    { for: ['group:finance', 'cleo@example.com'], tools: { allow: ['shop-_refund'], deny: [] } },
  ],
  ({ userId }) => ({ email: `${userId}@example.com`, as: [`group:${userId}`] }),
);

const seen = (one: Caller | null, surface?: string, of = views) =>
  tools.filter(of.sightOf({ caller: one, surface })).map(({ name }) => name);

describe('views of tools', () => {
  it('show the tools of all views of a caller, in either spelling, and none without a view', () => {
    expect(seen(caller('support'), 'mcp')).toEqual(['shop__find_order']);
    expect(seen(caller('finance'), 'mcp')).toEqual(['shop__refund']);
    expect(seen(caller('cleo'), 'a2a')).toEqual(['shop__refund']);
    expect(seen(caller('nora'), 'mcp')).toEqual([]);
    expect(seen(null, 'mcp')).toEqual([]);
    expect(seen(caller('runtime', runtimeProvider), 'mcp')).toHaveLength(3);
  });

  it('show tools of other programs only to holds', () => {
    for (const of of [views, everyTool]) expect(seen(caller('nora'), 'hold', of)).toEqual(['Bash']);
    expect(seen(null, 'mcp', everyTool)).toEqual(served.map(({ name }) => name));
  });

  it('hide nothing from an explained call', () => {
    for (const surface of ['', undefined]) expect(seen(null, surface)).toHaveLength(4);
  });
});
