import { expect, it } from 'vitest';
import { WaitAtServer } from '../../../../src/actors/tools/mcp/wait-at-server.ts';
import type { WaitElsewhere } from '../../../../src/machines/domain/task.ts';

it('only the first changes of a wait and its end are reported, for any number of changes', () => {
  const told: (WaitElsewhere | null)[] = [];
  const wait = new WaitAtServer('bank', (change) => void told.push(change));
  const hear = (asked: string) =>
    wait.hear({ _meta: { task_id: 't-1', 'holdpoint/waits': { for: asked, until: null } } });
  for (let report = 1; report <= 1_000; report += 1) expect(hear(`desk ${report}`)).toBe(true);
  wait.end();
  expect(told).toEqual([
    ...Array.from({ length: 100 }, (_, index) => ({ at: 'bank', for: `desk ${index + 1}` })),
    null,
  ]);
});
