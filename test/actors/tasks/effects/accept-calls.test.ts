import { describe, expect, it, vi } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { argsDigest, definitionDigest } from '../../../../src/actors/governance/governance.ts';
import { UnreachableError } from '../../../../src/actors/records/records.ts';
import {
  type AcceptPorts,
  createAccept,
} from '../../../../src/actors/tasks/effects/accept-calls.ts';
import type { AcceptInput } from '../../../../src/machines/task/task-events.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { patient } from '../../../helpers/patient.ts';
import { toolCalled } from '../../../helpers/system-story.ts';

const pay = toolCalled('pay');

/** Accepts calls of a task; `more` are ports of this test. */
function accept(calls: AcceptInput['calls'], more: Partial<AcceptPorts> = {}) {
  let made = 0;
  const clock = new ManualClock(7_000);
  const logic = createAccept({
    ids: { next: () => `id-${(made += 1)}` },
    clock,
    tools: new Map([['pay', pay]]),
    admit: async (taskId, accepted) => accepted.map((call) => ({ ...call, refused: taskId })),
    ...more,
  });
  const actor = createActor(logic, { input: { taskId: 't-1', calls } }).start();
  return { clock, accepted: toPromise(actor) };
}

describe('the calls at the beginning of a run', () => {
  it('have ids, digests, the definition of their tool and the refusal of the limit', async () => {
    const args = { order: 7 };
    const { accepted } = accept([
      { tool: 'pay', args },
      { tool: 'look', args: {} },
    ]);
    const [refused, duration] = ['t-1', expect.any(Number)];
    const offered = definitionDigest(pay);
    expect(await accepted).toEqual({
      calls: [
        { id: 'id-1', tool: 'pay', args, argsSha256: argsDigest('pay', args), offered, refused },
        { id: 'id-2', tool: 'look', args: {}, argsSha256: argsDigest('look', {}), refused },
      ],
      duration,
      at: 7_000,
    });
  });

  it('are refused with a number that is not exact', async () => {
    const { accepted } = accept([{ tool: 'pay', args: { amount: 2 ** 53 } }]);
    const fault =
      'the arguments of pay hold a number beyond ±(2^53 - 1), which is not exact; send it as a string';
    expect((await accepted).calls).toMatchObject([{ args: {}, fault }]);
  });

  it('wait for a store that is not reachable', async () => {
    let tries = 0;
    const { clock, accepted } = accept([{ tool: 'pay', args: {} }], {
      admit: async (_, calls) => {
        tries += 1;
        if (tries === 1) throw new UnreachableError(new Error('down'));
        return [...calls];
      },
    });
    await vi.waitFor(() => expect(clock.pending).toBe(1), patient);
    clock.advance(1_000);
    expect(await accepted).toMatchObject({ calls: [{ id: 'id-1' }], at: 8_000 });
    expect(tries).toBe(2);
  });
});
