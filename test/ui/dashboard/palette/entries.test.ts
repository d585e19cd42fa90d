import { describe, expect, it } from 'vitest';
import {
  besides,
  type Entry,
  entriesOf,
  matching,
} from '../../../../src/ui/dashboard/palette/entries.ts';
import { listedAgent, listedTask } from '../../../helpers/page-tasks.ts';

const agents = [
  listedAgent('till', { pending_deferrals: 1 }),
  listedAgent('desk', { status: 'stopped', directory: "/ann's agents/desk" }),
  listedAgent('vault', { status: 'stopped', needs_passphrase: true }),
];
const entries = entriesOf({
  pages: [{ name: 'approvals', title: 'Approvals', key: 'a' }],
  agents,
  deferrals: [],
  tasks: [{ ...listedTask(7, { title: 'Refund A-1042' }), agent: 'till' }],
});

function titles(found: readonly Entry[]): string[] {
  return found.map(({ title }) => title);
}

describe('the palette', () => {
  it('stops running agents and starts stopped ones, and leads to the passphrase dialog where needed', () => {
    expect(entries.filter(({ group }) => group === 'Actions').map(({ deed }) => deed)).toEqual([
      {
        does: 'process',
        order: {
          ...{ verb: 'stop', agent: 'till', command: 'holdpoint serve stop --dir /agents/till' },
          waiting: '1 call is waiting for approval. Stopping till denies it.',
        },
      },
      {
        does: 'process',
        order: {
          verb: 'start',
          agent: 'desk',
          command: "holdpoint serve start --dir '/ann'\\''s agents/desk'",
          waiting: null,
        },
      },
      { does: 'go', href: '#/agents' },
    ]);
  });

  it('has no two entries with one id', () => {
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  });

  it.each([
    ['approv', ['Approvals']],
    ['a-1042 till', ['t-7']],
    ['T-7', ['t-7']],
    ['stop ti', ['Stop till']],
    ['  POLICY   till ', ['till: policy']],
    ['no such thing', []],
  ])('finds %j', (text, found) => {
    expect(titles(matching(entries, text, agents))).toEqual(found);
  });

  it('offers an unknown id on each running agent', () => {
    expect(matching(entries, 'x-99', agents).map(({ deed }) => deed)).toEqual([
      { does: 'go', href: '#/tasks/till/x-99' },
    ]);
  });

  it('wraps around', () => {
    expect([besides(0, -1, 3), besides(2, 1, 3), besides(0, 1, 1)]).toEqual([2, 0, 0]);
  });
});
