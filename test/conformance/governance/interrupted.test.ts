import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startServer } from '../../actors/governance/alignment/embedding-server.ts';
import { fakeSts } from '../../actors/governance/credentials/fake-sts.ts';
import { type GovernedAgent, startGovernedAgent } from '../../helpers/governed-agent.ts';
import {
  decided,
  layersSay,
  rewritten,
  running,
  thought,
  waits,
} from '../../helpers/governed-words.ts';
import { story } from '../../helpers/test-agent.ts';

const env = { BASE_ID: 'AKIDBASE0001', BASE_SECRET: 'base-secret-0001' };
const message = {
  role: 'user',
  parts: [
    { kind: 'text', text: 'pay five' },
    { kind: 'data', data: { script: [{ tool: 'pay', args: { amount: 5 } }, { say: 'never' }] } },
  ],
};

/** Sends a task, calls it off once a server has been asked, and expects that nothing comes after. */
async function expectCalledOff(agent: GovernedAgent, asked: Promise<unknown>): Promise<void> {
  const sent = agent.post('/tasks/send', { id: 't1', message });
  await asked;
  expect((await agent.post('/tasks/t1/cancel')).body.status.state).toBe('canceled');
  expect((await sent).body.status.state).toBe('canceled');
  expect(agent.ran).toEqual([]);
  expect(story(agent.audit('t1'))).toEqual([
    ['session_start'],
    thought,
    ['invocation_cancelled', { reason: 'external_signal' }],
    ['session_end', { state: 'canceled' }],
  ]);
}

describe('a canceled task', () => {
  it('is no longer judged when it is canceled during the ruling', async () => {
    const events = new EventEmitter();
    const asked = once(events, 'asked');
    const closed = once(events, 'closed');
    const server = await startServer((_request, response) => {
      response.on('close', () => events.emit('closed'));
      events.emit('asked');
    });
    const intent_alignment = {
      enabled: true,
      provider: 'openai-compatible',
      base_url: `${server.address}/v1`,
      timeout: '30s',
    };
    const agent = await startGovernedAgent({ security: { intent_alignment } });
    await expectCalledOff(agent, asked);
    await closed;
    expect((await agent.get('/tasks/t1')).body.metadata).toBeUndefined();
    expect(agent.log).toEqual([]);
  });

  it('gets no credentials when it is canceled while they are issued', async () => {
    const sts = await fakeSts(() => null);
    const spec = {
      role_arn: 'arn:aws:iam::123456789012:role/refunds',
      endpoint: sts.url,
      access_key_env: 'BASE_ID',
      secret_key_env: 'BASE_SECRET',
    };
    const credentials = [{ tool: 'pay', provider: 'sts_assume_role', spec }];
    const agent = await startGovernedAgent({ credentials }, { env });
    await expectCalledOff(agent, sts.arrived);
    await sts.closed;
    const { decisions } = (await agent.get('/tasks/t1?decisions=true')).body.metadata;
    const expected = layersSay({}, { last: 'defer' }).map(({ layer }) => layer);
    expect(decisions.map(({ layer }: { layer: string }) => layer)).toEqual(expected);
    expect(agent.log).toEqual([]);
  });
});

describe('a held call that outlives the daemon', () => {
  it('runs as it was shown, with credentials issued after its approval', async () => {
    const hold = { to: 'channel:console:desk', timeout: '5m' };
    const settings = {
      security: {
        modify: { enabled: true, tools: { pay: { arguments: [{ path: 'amount', set: 3 }] } } },
        defer: { enabled: true, on_restart: 'resume', tools: { pay: hold } },
      },
      credentials: [
        { tool: 'pay', provider: 'static', spec: { name: 'PAY_TOKEN', from_env: 'BASE_SECRET' } },
      ],
    };
    const before = await startGovernedAgent(settings, { env });
    const left = before.post('/tasks/send', { id: 't1', message });
    await before.reached('t1', 'deferred');
    const shown = (await before.get('/tasks/t1?decisions=true')).body.metadata;
    await before.stop();
    expect((await left).status).toBe(503);

    const agent = await startGovernedAgent(settings, { env, folder: before.folder });
    expect((await agent.get('/tasks/t1?decisions=true')).body.metadata).toEqual(shown);
    const { args_sha256 } = shown.deferral;
    expect(
      await agent.decide('t1', { decision: 'approve', approver: 'ann', args_sha256 }),
    ).toMatchObject({ status: 200 });
    await agent.reached('t1', 'completed');
    const { metadata } = (await agent.get('/tasks/t1?decisions=true')).body;
    expect(agent.ran).toEqual([['pay', { amount: 3 }]]);
    expect(metadata.decisions.slice(0, 4)).toEqual(shown.decisions);
    const said = metadata.decisions.map(({ layer, decision, reason }: Record<string, string>) => ({
      call: 1,
      tool: 'pay',
      layer,
      decision,
      reason,
    }));
    expect(said).toEqual(
      layersSay({
        modify: ['modify', 'rewritten by rule 1'],
        defer: ['defer', 'awaiting channel:console:desk'],
        credentials: ['allow', 'issued by static'],
      }),
    );
    expect(story(agent.audit('t1'))).toEqual([
      ['session_start'],
      thought,
      rewritten([1]),
      waits('tool=pay args={"amount":3}'),
      decided('approve'),
      ['credential_issued', { tool: 'pay', provider: 'static' }],
      ...running(),
      thought,
      ['session_end', { state: 'completed' }],
    ]);
  });
});
