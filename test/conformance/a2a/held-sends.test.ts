import { describe, expect, it } from 'vitest';
import type { AgentClient } from '../../helpers/agent-client.ts';
import { deferring, startTestAgent } from '../../helpers/test-agent.ts';
import { officialClient, script, sending, surfaces, taskJson } from './official-client.ts';
import { ask, headersOf, type WireSurface, wireSurfaces } from './wire-surfaces.ts';

const paying = [{ tool: 'pay', args: { amount: 3 } }, { say: 'paid' }];
const server = { a2a_hold: true, hold_heartbeat: '100ms' };

const token = 'token-without-acr';
const auth = {
  required: true,
  providers: [
    { type: 'static_token', name: 'ops', settings: { token, identity: { user_id: 'ann' } } },
  ],
};

/** Sends a task and resolves with its answer once that has begun, and the id of the task. */
async function sendUntilBegun(agent: AgentClient, surface: WireSurface, steps: object[]) {
  const { method, path, body } = surface.request('send', { message: surface.playing(steps) });
  const response = await agent.open(method, path, { body, headers: headersOf(surface) });
  const [{ task_id: id }] = (await agent.get('/deferrals')).body.deferrals;
  return { response, id: id as string };
}

const approve = (agent: AgentClient, id: string) => agent.decide(id, { decision: 'approve' });

describe.each(wireSurfaces)('a held send over $name', (surface) => {
  it('begins its answer while its task waits, with the body of the end', async () => {
    const agent = await startTestAgent({ ...deferring(), server });
    const { response, id } = await sendUntilBegun(agent, surface, paying);
    await approve(agent, id);
    const body = JSON.parse(await response.text());
    expect(surface.taskOf({ body })).toMatchObject({
      id,
      status: { state: surface.state('completed') },
    });
    const quick = await ask(agent, surface, 'send', { message: surface.playing([{ say: 'x' }]) });
    // What a run took is known at its end alone.
    const {
      'x-service-duration-ms': duration,
      'x-service-model': model,
      'x-service-tokens-in': tokensIn,
      'x-service-tokens-out': tokensOut,
      ...common
    } = headersAtHeart(quick.headers);
    expect(duration).toMatch(/^\d+$/);
    expect([model, tokensIn, tokensOut]).toEqual(['demo', '0', '0']);
    expect(headersAtHeart(response.headers)).toEqual({ ...common, 'x-accel-buffering': 'no' });
  });

  it('has a failed task, or the JSON-RPC error, when a step-up is needed', async () => {
    const stepUp = { enabled: true, tools: { grant: 'high' } };
    const { security } = deferring();
    const settings = { auth, security: { ...security, step_up: stepUp }, server };
    const agent = (await startTestAgent(settings)).as(token);
    const steps = [{ tool: 'pay', args: {} }, { tool: 'grant' }];
    const { response, id } = await sendUntilBegun(agent, surface, steps);
    await approve(agent, id);
    const body = JSON.parse(await response.text());
    expect(response.status).toBe(200);
    if (surface.isRpc) expect(body.error).toMatchObject({ code: -32040 });
    else {
      expect(surface.taskOf({ body })).toMatchObject({
        id,
        status: { state: surface.state('failed') },
        metadata: { step_up: { tool: 'grant', required_acr: 'high' } },
      });
    }
  });

  it('is cut by a shutdown', async () => {
    const agent = await startTestAgent({ ...deferring(), server });
    const { response } = await sendUntilBegun(agent, surface, paying);
    await agent.stop();
    await expect(response.text()).rejects.toThrow('terminated');
    expect(agent.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe.each(surfaces)('the official client of $version over $transport', (surface) => {
  it('reads the answer of a held send after its blanks', async () => {
    const agent = await startTestAgent({ ...deferring(), server });
    const first = Promise.withResolvers<string>();
    const client = await officialClient(agent.url, surface, async (...request) => {
      const response = await fetch(...request);
      // A client of 0.3 reads the card as well.
      if (request[1]?.method !== 'POST') return response;
      const copy = response.clone().body?.getReader();
      copy?.read().then(({ value }) => first.resolve(String(value)), first.reject);
      return response;
    });
    const sent = client.sendMessage(sending(script(...paying)));
    // The code of a blank.
    expect(await first.promise).toMatch(/^32(,32)*$/);
    const [{ task_id: id }] = (await agent.get('/deferrals')).body.deferrals;
    await approve(agent, id);
    expect(taskJson(await sent)).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } });
  });
});

/** What an answer says of itself, without what differs from one to the next. */
function headersAtHeart(headers: Headers): Record<string, string> {
  const varying = ['content-length', 'transfer-encoding', 'date', 'x-correlation-id'];
  return Object.fromEntries([...headers].filter(([name]) => !varying.includes(name)));
}
