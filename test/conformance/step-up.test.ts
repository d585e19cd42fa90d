import { describe, expect, it } from 'vitest';
import { playing } from '../helpers/agent-client.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { deferring, expectIntact, startTestAgent, story } from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const tokens = { none: 'token-without-acr', low: 'token-with-low-acr', high: 'token-with-high' };

/** Settings under which `pay` demands `high`, with a caller for each level. */
function demanding(
  stepUp: { tools?: object; acr_hierarchy?: string[] } = {},
  rest: ServiceSettings = {},
): ServiceSettings {
  const provider = (name: keyof typeof tokens, claims: object) => ({
    type: 'static_token',
    name,
    settings: { token: tokens[name], identity: { user_id: name, claims } },
  });
  return {
    ...rest,
    security: { ...rest.security, step_up: { enabled: true, tools: { pay: 'high' }, ...stepUp } },
    auth: {
      required: true,
      providers: [
        provider('none', {}),
        provider('low', { acr: 'low' }),
        provider('high', { acr: 'high' }),
      ],
    },
  };
}

const body = (reason: string) => ({
  error: 'step_up_required',
  tool: 'pay',
  required_acr: 'high',
  reason,
});

const unmet = [
  ['none', 'no acr claim presented'],
  ['low', 'acr "low" does not satisfy "high"'],
] as const;

describe('a tool that requires a higher assurance level', () => {
  it.each(unmet)('challenges %s over REST with 401, header and body', async (caller, reason) => {
    const agent = await startTestAgent(demanding());
    const answer = await agent.as(tokens[caller]).send('t1', script);
    expect({ status: answer.status, body: answer.body }).toEqual({
      status: 401,
      body: { ...body(reason), code: 'step_up_required' },
    });
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer error="step_up_required", acr_values="high"',
    );
    expect((await agent.as(tokens.high).get('/tasks/t1')).body).toMatchObject({
      status: { state: 'failed' },
      metadata: { step_up: { tool: 'pay', required_acr: 'high', reason } },
    });
  });

  it.each(unmet)('challenges %s over JSON-RPC only in the error', async (caller, reason) => {
    const agent = await startTestAgent(demanding());
    const params = { id: 't1', message: playing(script) };
    const answer = await agent.as(tokens[caller]).rpc('tasks/send', params, 7);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(answer.body).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32040, message: 'step_up_required', data: body(reason) },
    });
  });

  it.each(unmet)('challenges %s over a stream with a failed status', async (caller, reason) => {
    const agent = await startTestAgent(demanding());
    const stream = await agent.as(tokens[caller]).subscribe('t1', script);
    const events = await stream.rest();
    expect(events.map(({ event, data }) => [event, data.status.state, data.metadata])).toEqual([
      ['status', 'working', undefined],
      ['status', 'failed', { step_up: { tool: 'pay', required_acr: 'high', reason } }],
      ['result', 'failed', { step_up: { tool: 'pay', required_acr: 'high', reason } }],
    ]);
  });

  it('logs the presented level, and runs nothing', async () => {
    const agent = await startTestAgent(demanding());
    await agent.as(tokens.low).send('t1', script);
    await agent.as(tokens.none).send('t2', script);
    const required = { tool: 'pay', required_acr: 'high' };
    const reason = 'acr "low" does not satisfy "high"';
    expect(story(agent.audit('t1'))).toEqual([
      ['session_start'],
      ['llm_call', expect.anything()],
      ['auth_step_up_required', { ...required, presented_acr: 'low', reason }],
      ['session_end', { state: 'failed' }],
    ]);
    expect(story(agent.audit('t2'))[2]).toEqual([
      'auth_step_up_required',
      { ...required, reason: 'no acr claim presented' },
    ]);
    await expectIntact(agent.auditPath);
  });

  it('runs for a caller who returns with the level, and asks again the next time', async () => {
    const agent = await startTestAgent(demanding());
    expect((await agent.as(tokens.low).send('t1', script)).status).toBe(401);
    const retried = await agent.as(tokens.high).send('t1', script);
    expect([retried.status, retried.body.status.state]).toEqual([200, 'completed']);
    expect((await agent.as(tokens.low).send('t2', script)).status).toBe(401);
  });

  it('accepts a higher level of the hierarchy', async () => {
    const agent = await startTestAgent(
      demanding({ tools: { pay: 'low' }, acr_hierarchy: ['low', 'high'] }),
    );
    expect((await agent.as(tokens.high).send('t1', script)).body.status.state).toBe('completed');
    expect((await agent.as(tokens.none).send('t2', script)).status).toBe(401);
  });

  it('comes before the hold: no approval is requested for a call that the caller may not make', async () => {
    const agent = await startTestAgent(demanding({}, deferring()));
    expect((await agent.as(tokens.low).send('t1', script)).status).toBe(401);
    expect((await agent.as(tokens.high).get('/deferrals')).body).toEqual({
      deferrals: [],
      total: 0,
    });
  });
});
