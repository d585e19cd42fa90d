import { expect, it } from 'vitest';
import { decision, ends, parks, payment, toolCalled } from '../../helpers/system-story.ts';
import { openSystem } from '../../helpers/test-system.ts';
import { startCollector, traceInto } from '../../helpers/trace-collector.ts';

const named = { 'gen_ai.agent.name': 'test', 'gen_ai.operation.name': 'invoke_agent' };

const minute = 60_000;

/** A system whose spans are collected and in which a parked task rests after a minute. */
async function tracedSystem() {
  const collector = await startCollector();
  const tracing = traceInto(collector);
  const rig = await openSystem({
    tools: [toolCalled('pay')],
    deferred: { pay: { timeout: '2h' } },
    restAfter: minute,
  });
  return { ...rig, collector, tracing };
}

it('a parked task continues its trace, and its wait has its full length', async () => {
  const { system, clock, lookAround, events, collector, tracing, stop } = await tracedSystem();
  const { id } = await parks(system);
  clock.advance(minute);
  lookAround();
  expect(await system.metrics.load()).toEqual({ live: 0, deferred: 1 });
  clock.advance(minute);
  await system.decide(id, decision('approve', clock.now()));
  await ends(system, id);
  await stop();
  await tracing.stop();
  const [first, second] = collector.named('invoke_agent test');
  expect(collector.trees()).toEqual([
    {
      name: 'invoke_agent test',
      status: 'unset',
      children: [
        { name: 'chat demo', status: 'unset' },
        {
          name: 'invoke_agent test',
          status: 'unset',
          children: [
            { name: 'approval.wait', status: 'unset' },
            { name: 'chat demo', status: 'unset' },
            { name: 'execute_tool pay', status: 'unset' },
          ],
        },
      ],
    },
  ]);
  expect([first?.attributes, second?.attributes]).toEqual([
    { ...named, 'a2a.task.id': id, 'a2a.task.state': 'deferred' },
    { ...named, 'a2a.task.id': id, 'a2a.task.state': 'completed' },
  ]);
  expect(collector.named('approval.wait')).toEqual([
    {
      name: 'approval.wait',
      traceId: first?.traceId,
      spanId: expect.any(String),
      parentSpanId: second?.spanId,
      kind: 1,
      status: 'unset',
      attributes: {
        'a2a.task.id': id,
        'gen_ai.tool.name': 'pay',
        'gen_ai.tool.call.id': expect.any(String),
        'holdpoint.approval.outcome': 'approve',
      },
      links: [],
      duration: 2 * minute,
    },
  ]);
  const places = events(id).map(({ trace_id, span_id }) => `${trace_id} ${span_id}`);
  const before = `${first?.traceId} ${first?.spanId}`;
  const after = `${first?.traceId} ${second?.spanId}`;
  expect(new Set(places)).toEqual(new Set([before, after]));
  expect(places.indexOf(after)).toBeGreaterThan(places.lastIndexOf(before));
});

it('a task whose model throws ends its span with the status Error, and the error text stays private', async () => {
  const collector = await startCollector();
  const tracing = traceInto(collector);
  const { system, stop } = await openSystem({
    model: { provider: 'test', name: 'broken', next: () => Promise.reject(new Error('secret')) },
  });
  await ends(system, await system.open(payment));
  await stop();
  await tracing.stop();
  expect(collector.trees()).toEqual([
    {
      name: 'invoke_agent test',
      status: 'error',
      children: [{ name: 'chat broken', status: 'error' }],
    },
  ]);
  expect(JSON.stringify(collector.posts)).not.toContain('secret');
});
