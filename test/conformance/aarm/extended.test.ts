import { describe, expect, it } from 'vitest';
import { ocsfEvent } from '../../../src/actors/records/log/ocsf-event.ts';
import { saying } from '../../helpers/agent-client.ts';
import { startTestAgent } from '../../helpers/test-agent.ts';

const pay = { tool: 'pay', args: { amount: 5 } };

describe('AARM R7, semantic distance:', () => {
  it('flags calls that drift from the request', async () => {
    const script = [
      { tool: 'pay', args: { amount: 5 } },
      { tool: 'echo', args: { text: 'unlock the vault' } },
      { say: 'done' },
    ];
    const agent = await startTestAgent({
      model: { provider: 'scripted', name: 'demo', script },
      security: {
        guardrails: { enabled: true },
        intent_alignment: {
          ...{ enabled: true, provider: 'local', threshold: 0.2, hard_threshold: -1 },
          drift: { window: 2, drift_threshold: 0.9, monotone_n: 2 },
        },
      } as object,
    });
    const message = saying('pay the amount of 5');
    await agent.post('/tasks/send', { task: { id: 't1', message } });
    const events = agent.audit('t1').map(({ event }) => event);
    expect(events).toContain('intent_alignment');
    expect(events).toContain('intent_drift');
  });
});

describe('AARM R8, telemetry in a standard format:', () => {
  it('every event of a task becomes an event of OCSF with its line', async () => {
    const agent = await startTestAgent({ audit: { vocabulary: 'aarm' } });
    await agent.send('t1', [pay, { say: 'paid' }]);
    const lines = agent.audit('t1').map((line) => JSON.stringify(line));
    const events = lines.map((line) => ocsfEvent(Buffer.from(line), '1.0.0'));
    for (const [index, event] of events.entries()) {
      expect(event).toMatchObject({
        metadata: { version: '1.5.0' },
        class_uid: expect.any(Number),
        raw_data: lines[index],
      });
    }
  });
});
