import { expect, it } from 'vitest';
import { checkedProgress } from '../../../../src/actors/tasks/effects/progress-check.ts';

type Check = Parameters<typeof checkedProgress>[0]['policy']['checkOutput'];

const passed = (text: string): Awaited<ReturnType<Check>> => ({
  kind: 'passed',
  text,
  findings: [],
  rewrites: [],
});

function checking(checkOutput: Check) {
  const stop = new AbortController();
  const seen: object[] = [];
  const ports = { policy: { checkOutput }, tool: 'pay', credential: null, signal: stop.signal };
  return { seen, stop, report: checkedProgress(ports, (told) => void seen.push(told)) };
}

const turn = () => new Promise(setImmediate);

it('progress is sent with its numbers, and its messages pass the output rules', async () => {
  const { seen, report } = checking(async (_, text) => passed(text.replace('4111', '[card]')));
  report({ progress: 1, total: 3 });
  report({ progress: 2, message: `card 4111 ${'x'.repeat(600)}` });
  // Dropped, as the one before is still checked.
  report({ progress: 3, message: 'soon' });
  await turn();
  expect(seen).toEqual([
    { progress: 1, total: 3 },
    { progress: 2, message: `card [card] ${'x'.repeat(490)}` },
  ]);
});

it('progress omits a message that is blocked or cannot be checked, and stops at the end', async () => {
  const blocking = checking(async () => ({
    kind: 'withheld',
    reason: 'denied',
    findings: [],
    rewrites: [],
  }));
  const failing = checking(async () => {
    throw new Error('the rules are gone');
  });
  for (const { report } of [blocking, failing]) report({ progress: 1, message: 'a secret' });
  await turn();
  failing.stop.abort();
  failing.report({ progress: 2 });
  expect([blocking.seen, failing.seen]).toEqual([[{ progress: 1 }], [{ progress: 1 }]]);
});
