import { expect, it, vi } from 'vitest';
import { createTestGate, HoldDenied, HoldReleased } from '../../../packages/client/client.ts';

it('the test gate decides as configured, and keeps the calls and outcomes', async () => {
  const gate = createTestGate({
    session: 's-1',
    decide: ({ tool }) => (tool === 'pay' ? { status: 'rejected', reason: 'too much' } : 'allowed'),
  });
  const run = vi.fn(() => 'sent');
  expect(await gate.guard('mail', run)({ to: 'ann' }, { callId: '1' })).toBe('sent');
  const denied = gate.guard('pay', run)({ amount: 5 }, { callId: '2' });
  await expect(denied).rejects.toThrow(HoldDenied);
  await expect(denied).rejects.toThrow('pay did not run: too much');
  expect(run).toHaveBeenCalledTimes(1);
  expect(gate.calls).toEqual([
    { key: 's-1:1', tool: 'mail', args: { to: 'ann' }, session: 's-1' },
    { key: 's-1:2', tool: 'pay', args: { amount: 5 }, session: 's-1' },
  ]);
  expect(gate.outcomes).toMatchObject([{ tool: 'mail', key: 's-1:1', status: 'succeeded' }]);
});

it('the test gate changes arguments, and answers the same key with the same decision', async () => {
  const decide = vi.fn(
    () => ({ status: 'approved', args: { amount: 4 }, released: true }) as const,
  );
  const gate = createTestGate({ decide });
  const pay = gate.guard('pay', ({ amount }: { amount: number }) => amount);
  await expect(pay({ amount: 5 }, { key: 'k' })).rejects.toThrow(HoldReleased);
  expect(await pay({ amount: 5 }, { key: 'k', runAgain: true })).toBe(4);
  expect(decide).toHaveBeenCalledTimes(1);
});
