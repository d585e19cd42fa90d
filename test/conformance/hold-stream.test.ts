import { describe, expect, it } from 'vitest';
import type { AgentClient } from '../helpers/agent-client.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { EventReader } from '../helpers/event-reader.ts';
import { startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const settings = {
  gate: { tools: { Bash: {} } },
  security: { defer: { enabled: true, tools: { Bash: { to: 'channel:console:*' } } } },
} as ServiceSettings;

const asked = { key: 's-1:1', tool: 'Bash', args: { command: 'rm -rf build' } };

async function held(agent: AgentClient): Promise<any> {
  return (await agent.post('/holds', asked)).body;
}

async function streamed(agent: AgentClient, id: string, query = ''): Promise<EventReader> {
  const abort = new AbortController();
  const headers = { accept: 'text/event-stream' };
  const response = await agent.open('GET', `/holds/${id}${query}`, {
    headers,
    signal: abort.signal,
  });
  return new EventReader(response, abort);
}

const decide = (agent: AgentClient, id: string, decision: string) =>
  agent.post(`/holds/${id}/decisions`, { decision });

const released = (agent: TestAgent, id: string) =>
  agent.audit(id).filter(({ event }) => event === 'hold_released').length;

describe('the stream of a hold', () => {
  it('sends its state, and ends with the decision, which releases the call once', async () => {
    const agent = await startTestAgent(settings);
    const pending = await held(agent);
    const id = pending.hold_id;
    const [one, other] = [await streamed(agent, id), await streamed(agent, id)];
    expect(one.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const status = { id: undefined, event: 'status', data: pending };
    expect([await one.next(), await other.next()]).toEqual([status, status]);
    await decide(agent, id, 'approve');
    const results = [await one.next(), await other.next()];
    expect(results.map((event) => [event?.event, event?.data.status])).toEqual([
      ['result', 'approved'],
      ['result', 'approved'],
    ]);
    const taken = results.map((event) => event?.data.released);
    expect(taken.filter((isReleased) => isReleased === false)).toHaveLength(1);
    expect([await one.next(), await other.next()]).toEqual([undefined, undefined]);
    expect(released(agent, id)).toBe(1);
    const { data } = (await (await streamed(agent, id)).next()) ?? {};
    expect(data).toEqual((await agent.get(`/holds/${id}`)).body);
  });

  it('releases nothing to a disconnected client, and nothing to HEAD', async () => {
    const agent = await startTestAgent(settings);
    const { hold_id: id } = await held(agent);
    const left = await streamed(agent, id);
    await left.next();
    left.leave();
    // The gate notices the end of the connection before it answers these.
    for (let asked = 0; asked < 5; asked += 1) await agent.get('/healthz');
    await decide(agent, id, 'approve');
    const head = await agent.request('HEAD', `/holds/${id}`, {
      headers: { accept: 'text/event-stream' },
    });
    expect(head.status).toBe(200);
    expect(released(agent, id)).toBe(0);
    expect((await (await streamed(agent, id)).next())?.data.released).toBe(false);
    expect(released(agent, id)).toBe(1);
  });

  it('is closed to other callers, and refuses a wrong wait as JSON does', async () => {
    const tokens = ['ann', 'bob'].map((user_id) => ({
      ...{ type: 'static_token', name: user_id, decide: true },
      settings: { token: `t-${user_id}`, identity: { user_id } },
    }));
    const agent = await startTestAgent({ ...settings, auth: { providers: tokens } });
    const [ann, bob] = [agent.as('t-ann'), agent.as('t-bob')];
    const { hold_id: id } = await held(ann);
    const answer = async (at: AgentClient, path: string) => {
      const { status, body } = await at.get(path, { accept: 'text/event-stream' });
      return [status, body.error];
    };
    expect(await answer(bob, `/holds/${id}`)).toEqual([404, 'hold not found']);
    expect((await answer(agent, `/holds/${id}`))[0]).toBe(401);
    expect((await answer(ann, `/holds/${id}?wait=x`))[0]).toBe(400);
    await decide(bob, id, 'reject');
    expect((await (await streamed(ann, id)).next())?.data.status).toBe('rejected');
  });

  it('ends when the gate stops, without a result', async () => {
    const agent = await startTestAgent(settings);
    const stream = await streamed(agent, (await held(agent)).hold_id);
    await stream.next();
    const stopping = agent.stop();
    expect(await stream.next()).toBeUndefined();
    await stopping;
  });
});
