import { describe, expect, it, vi } from 'vitest';
import type { Ledger } from '../../../src/actors/ports/ledger.ts';
import { silentLog } from '../../../src/actors/silent-log.ts';
import { createMeasure } from '../../../src/actors/tasks/effects/measure-call.ts';
import type { FirstEffect } from '../../../src/machines/domain/ledger.ts';
import type { Measured, MeasureInput } from '../../../src/machines/governance/bounds.ts';
import type { JsonObject } from '../../../src/machines/json.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { aMeasure, anEffect } from '../../helpers/measured-calls.ts';
import { toolCalled } from '../../helpers/system-story.ts';

const first: FirstEffect = {
  ...{ key: 'refund:1', callId: 'call-0', taskId: 'task-0', argsSha256: 'a'.repeat(64) },
  ...{ requester: { provider: 'sso', userId: 'rita' }, at: 0, outcome: 'running' },
};

const free: Measured = { limits: [], first: null, reserved: [] };

/** The port over a ledger with these answers, and a tool with this answer. */
function measuring(answers: Partial<FirstEffect>[], answer = '{"ran": true}') {
  const clock = new ManualClock(0);
  const left = [...answers];
  const settled: unknown[] = [];
  const asked: JsonObject[] = [];
  const measure = async (): Promise<Measured> => {
    const next = left.shift();
    return next === undefined ? free : { ...free, first: { ...first, ...next }, reserved: null };
  };
  const settle = async (...stated: unknown[]) => {
    settled.push(stated);
    return 'settled' as const;
  };
  const find = {
    ...toolCalled('find_refund'),
    parameters: { type: 'object', properties: { order_id: { type: 'string' } } },
    run: async (args: JsonObject) => {
      asked.push(args);
      return answer;
    },
  };
  const port = createMeasure({
    ledger: { measure, settle } as unknown as Ledger,
    tools: new Map([[find.name, find]]),
    ids: { next: () => 'call-9' },
    ...{ outbound: null, clock, log: silentLog, envelope: { agent: 'a' } as never },
  });
  const { signal } = new AbortController();
  return { clock, settled, asked, run: (input: MeasureInput) => port(input, signal) };
}

const joining = aMeasure('1', { effect: anEffect({ repeat: 'join' }) }, { joins: true });

describe('a call that can join a running one', () => {
  it('waits for its end, and receives it with its result', async () => {
    const done = { outcome: 'succeeded', result: 'paid' } as const;
    const { clock, run } = measuring([{}, {}, done]);
    const measured = run(joining);
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    clock.advance(250);
    await vi.waitFor(() => expect(clock.pending).toBe(1));
    clock.advance(250);
    expect(await measured).toEqual({ ...free, first: { ...first, ...done }, reserved: null });
  });

  it('does not wait for a call with other arguments, or of another caller', async () => {
    const others: Partial<FirstEffect>[] = [
      { argsSha256: 'b'.repeat(64) },
      { requester: { provider: 'sso', userId: 'eve' } },
    ];
    for (const other of others) {
      const { run } = measuring([other]);
      expect((await run(joining)).first).toEqual({ ...first, ...other });
    }
  });
});

describe('an earlier call with an unknown outcome', () => {
  const input = aMeasure('1', { effect: anEffect({ reconcile: 'find_refund' }) });
  const call = { ...input.call, args: { order_id: 'A-1', amount: 5 } };

  it('is settled by the tool that finds out, with the arguments that the tool names', async () => {
    const { settled, asked, run } = measuring([{ outcome: 'unknown' }], '{"ran": false}');
    expect(await run({ ...input, call })).toEqual(free);
    expect(asked).toEqual([{ order_id: 'A-1' }]);
    expect(settled).toMatchObject([
      [
        'call-0',
        { ran: false, by: 'tool:find_refund', reason: 'find_refund answered ran: false', at: 0 },
        { agent: 'a', ts: '1970-01-01T00:00:00.000Z', fields: { method: 'reconcile' } },
      ],
    ]);
  });

  it.each(['yes', '{"ran": "true"}', '[]'])('stays unknown after the answer %s', async (answer) => {
    const { settled, run } = measuring([{ outcome: 'unknown' }], answer);
    expect((await run({ ...input, call })).first).toEqual({ ...first, outcome: 'unknown' });
    expect(settled).toEqual([]);
  });
});
