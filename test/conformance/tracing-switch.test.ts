import { describe, expect, it } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { startTestAgent } from '../helpers/test-agent.ts';
import { startCollector } from '../helpers/trace-collector.ts';

/** Settings of an agent that traces into a collector. */
function tracingInto(endpoint: string, sampler = 'always_on'): ServiceSettings {
  const tracing = { enabled: true, endpoint, service_name: 'refunds', sampler };
  return { observability: { tracing } } as ServiceSettings;
}

describe('tracing by service.yaml', () => {
  it('is on from the first request, and sends its last spans before the daemon stops', async () => {
    const collector = await startCollector();
    const agent = await startTestAgent(tracingInto(collector.url));
    await agent.send('t', [{ say: 'hi' }]);
    await agent.stop();
    expect(collector.trees()).toEqual([
      {
        name: 'a2a.tasks/send',
        status: 'unset',
        children: [
          { name: 'auth.verify', status: 'unset' },
          {
            name: 'invoke_agent till',
            status: 'unset',
            children: [{ name: 'chat demo', status: 'unset' }],
          },
        ],
      },
    ]);
    expect(collector.posts[0]).toMatchObject({
      path: '/v1/traces',
      resource: { 'service.name': 'refunds' },
    });
  });

  it('does not affect callers while the collector is away', async () => {
    const collector = await startCollector();
    collector.answer = 500;
    const agent = await startTestAgent(tracingInto(collector.url));
    expect((await agent.send('t', [{ say: 'hi' }])).body.status.state).toBe('completed');
    await agent.stop();
    expect(agent.log.filter(({ message }) => message.startsWith('tracing:'))).toEqual([
      {
        level: 'warn',
        fields: { collector: collector.url, error: 'the collector answered 500', lost: 4 },
        message: 'tracing: the collector rejects spans; spans are dropped meanwhile',
      },
    ]);
  });

  it('is off after the agent has stopped', async () => {
    const collector = await startCollector();
    await (await startTestAgent(tracingInto(collector.url))).stop();
    const untraced = await startTestAgent();
    await untraced.send('t', [{ say: 'hi' }]);
    await untraced.stop();
    expect(collector.spans).toEqual([]);
  });
});
