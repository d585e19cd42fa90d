import { describe, expect, it } from 'vitest';
import { withoutCall } from '../../helpers/call-fields.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  playing,
  toolCalled,
} from '../../helpers/system-story.ts';
import { openSystem } from '../../helpers/test-system.ts';

describe('a cancel', () => {
  it('ends a waiting task', async () => {
    const pay = toolCalled('pay');
    const { system, clock, events } = await openSystem({ tools: [pay], deferred: { pay: {} } });
    const { id } = await parks(system);
    clock.advance(2_000);
    expect(await system.cancel(id, 'workflow_failure')).toMatchObject({
      state: 'canceled',
      text: 'canceled: workflow_failure',
      deferral: null,
    });
    expect(await system.decide(id, decision('approve', clock.now()))).toEqual({
      kind: 'notPending',
    });
    expect(pay.runs).toEqual([]);
    expect(
      events(id)
        .slice(4)
        .map(({ event, fields }) => [event, withoutCall(fields)]),
    ).toEqual([
      ['task_deferred_abandoned', { tool: 'pay', reason: 'canceled', wait_ms: 2_000 }],
      ['invocation_cancelled', { reason: 'workflow_failure' }],
      ['session_end', { state: 'canceled' }],
    ]);
  });

  it('aborts a running tool, and its start has an end', async () => {
    const aborted = gate();
    const started = gate();
    const slow = toolCalled('slow', (_args, { signal }) => {
      signal.addEventListener('abort', aborted.open);
      started.open();
      return new Promise(() => undefined);
    });
    const { system, events } = await openSystem({ tools: [slow] });
    const id = await system.open(playing([{ tool: 'slow' }]));
    await started.opened;
    const canceled = await system.cancel(id, 'timeout');
    await aborted.opened;
    expect([canceled?.state, canceled?.text]).toEqual(['canceled', 'canceled: timeout']);
    expect(briefly(events(id))).toEqual([
      'session_start',
      'llm_call',
      'tool_exec start',
      'tool_exec end',
      'invocation_cancelled',
      'session_end canceled',
    ]);
    expect(events(id)[4]?.['fields']).toMatchObject({ error: 'canceled: timeout' });
  });

  it('changes no final task, and finds no unknown one', async () => {
    const { system, events } = await openSystem();
    const id = await system.open(playing([{ say: 'hello' }]));
    const ended = await ends(system, id);
    expect(await system.cancel(id, 'timeout')).toEqual(ended);
    expect(await system.cancel('nobody', 'timeout')).toBeUndefined();
    expect(events()).toHaveLength(3);
  });
});
