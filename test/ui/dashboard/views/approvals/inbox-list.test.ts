import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DeferralJson } from '../../../../../src/http/wire/dashboard/held-call-json.ts';
import { readRoute } from '../../../../../src/ui/dashboard/state/route.ts';
import {
  hrefOfInbox,
  type InboxView,
  readInbox,
} from '../../../../../src/ui/dashboard/views/approvals/inbox-address.ts';
import {
  facetNames,
  keyOf,
  pageOf,
  rowsOf,
  sortedOut,
} from '../../../../../src/ui/dashboard/views/approvals/inbox-list.ts';
import { aDeferral } from '../../../../helpers/page-fixtures.ts';

const all: InboxView = readInbox(new URLSearchParams());
const rita = { user_id: 'rita', email: 'rita@example.com', provider: 'oidc' };

function call(id: string, changes: Partial<DeferralJson> = {}): DeferralJson {
  return aDeferral({ id, task_id: id, ...changes });
}

const calls = [
  call('1', { args: { order: 'B-7' }, requested_at: '2026-03-01T10:00:00Z' }),
  call('2', {
    requester: null,
    approvers: ['group:finance'],
    requested_at: '2026-03-01T10:03:00Z',
  }),
  call('3', { agent_id: 'ops', tool: 'restart', requester: rita, approvers: ['ann@example.com'] }),
];

function found(part: Partial<InboxView>, email = ''): string[] {
  return sortedOut(calls, { ...all, ...part }, email).calls.map(({ id }) => id);
}

it('the list finds calls by agent, tool, requester, group, right and words', () => {
  expect(found({})).toEqual(['1', '2', '3']);
  expect(found({ agent: 'ops' })).toEqual(['3']);
  expect(found({ tool: 'issue_refund' })).toEqual(['1', '2']);
  expect(found({ requester: 'anonymous' })).toEqual(['2']);
  expect(found({ group: 'group:finance' })).toEqual(['2']);
  expect(found({ mine: true })).toEqual(['1']);
  expect(found({ mine: true }, 'ann@example.com')).toEqual(['1', '2', '3']);
  expect(found({ text: ' b-7  REFUND' })).toEqual(['1']);
  expect(found({ order: 'newest' }).slice(-2)).toEqual(['2', '1']);
});

it('the list counts for each option the calls that it would show', () => {
  const view = { ...all, tool: 'issue_refund', mine: true };
  expect(sortedOut(calls, view, '').facets).toEqual({
    agent: [['refunds', 1]],
    tool: [['issue_refund', 1]],
    requester: [['ann@example.com', 1]],
    group: [],
    mine: 1,
  });
});

it('the list shows calls of one tool and agent as one row, and marks equal ones', () => {
  const more = [...calls, call('4', { args_sha256: 'b'.repeat(64) })];
  const shape = (rows: ReturnType<typeof rowsOf>) =>
    rows.map((row) =>
      row.kind === 'call' ? row.call.id : [row.calls.map(({ id }) => id).join(), row.isEqual],
    );
  expect(shape(rowsOf(calls, true))).toEqual([['1,2', true], '3']);
  expect(shape(rowsOf(more, true))).toEqual([['1,2,4', false], '3']);
  expect(shape(rowsOf(calls, false))).toEqual(['1', '2', '3']);
});

it('the list shows the page of the selected call unless another one is requested', () => {
  const many = Array.from({ length: 250 }, (_, index) => call(String(index)));
  const rows = rowsOf(many, false);
  const of = (page: number | null, selected: string | null) => {
    const shown = pageOf(rows, page, selected === null ? null : keyOf(call(selected)));
    return [shown.page, shown.pages, shown.rows[0]?.key, shown.rows.length];
  };
  expect(of(null, null)).toEqual([1, 3, 'refunds 0', 100]);
  expect(of(null, '205')).toEqual([3, 3, 'refunds 200', 50]);
  expect(of(2, '205')).toEqual([2, 3, 'refunds 100', 100]);
  expect(of(9, null)).toEqual([3, 3, 'refunds 200', 50]);
  expect(pageOf([], null, null)).toEqual({ page: 1, pages: 1, rows: [] });
});

const words = fc.string({ unit: 'grapheme' }).map((text) => text.toWellFormed());

it('the list keeps filters and position in the address', () => {
  const view = fc.record({
    ...{ agent: words, tool: words, requester: words, group: words, text: words },
    mine: fc.boolean(),
    order: fc.constantFrom('deadline' as const, 'newest' as const),
    isGrouped: fc.boolean(),
    page: fc.option(fc.integer({ min: 1, max: 999_999 })),
  });
  const selected = fc.option(fc.record({ agent_id: words, task_id: words }));
  fc.assert(
    fc.property(view, selected, (shown, at) => {
      const named = at !== null && at.agent_id !== '' && at.task_id !== '' ? at : null;
      const route = readRoute(hrefOfInbox(shown, named));
      expect(route).toMatchObject({ view: 'approvals' });
      if (route.view !== 'approvals') return;
      expect(readInbox(route.query)).toEqual(shown);
      expect(route.selected).toEqual(
        named === null ? null : { agent: named.agent_id, task: named.task_id },
      );
    }),
  );
});

it('the list counts an option exactly as it shows it', () => {
  const someCall = fc
    .record({
      agent_id: fc.constantFrom('a', 'b'),
      tool: fc.constantFrom('pay', 'mail'),
      requester: fc.constantFrom(null, rita),
      approvers: fc.option(fc.subarray(['group:finance', 'ann@example.com'])),
    })
    .map((changes) => aDeferral(changes));
  const view = fc.record({
    agent: fc.constantFrom('', 'a'),
    tool: fc.constantFrom('', 'pay'),
    requester: fc.constantFrom('', 'anonymous'),
    group: fc.constantFrom('', 'group:finance'),
    mine: fc.boolean(),
  });
  const email = fc.constantFrom('', 'ann@example.com');
  fc.assert(
    fc.property(fc.array(someCall, { maxLength: 12 }), view, email, (list, part, me) => {
      const shown = { ...all, ...part };
      const { facets } = sortedOut(list, shown, me);
      const count = (choice: Partial<InboxView>) =>
        sortedOut(list, { ...shown, ...choice }, me).calls.length;
      for (const name of facetNames) {
        for (const [value, number] of facets[name]) expect(number).toBe(count({ [name]: value }));
      }
      expect(facets.mine).toBe(count({ mine: true }));
    }),
  );
});
