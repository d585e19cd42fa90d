import { beforeAll, describe, expect, it } from 'vitest';
import { playing, saying } from '../../helpers/agent-client.ts';
import { deferring, launchAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { ask, type WireSurface, wireSurfaces } from './wire-surfaces.ts';

let agent: TestAgent;

beforeAll(async () => {
  agent = await launchAgent(deferring());
  return () => agent.close();
});

const script = [{ tool: 'pay' }, { say: 'paid' }];

async function heldOver(surface: WireSurface): Promise<string> {
  const configuration =
    surface.version === '0.3' ? { blocking: false } : { returnImmediately: true };
  const message = surface.playing(script);
  const sent = await ask(agent, surface, 'send', { message, configuration });
  const { id } = surface.taskOf(sent);
  await agent.reached(id, 'deferred');
  return id;
}

/** Calls a method under a name that two surfaces share. */
async function call(method: string, id: string, version?: string): Promise<any> {
  const body = { jsonrpc: '2.0', id: 1, method, params: { id } };
  const headers = version === undefined ? {} : { 'A2A-Version': version };
  return (await agent.post('/', body, headers as Record<string, string>)).body;
}

describe('tasks/get and tasks/cancel, which two surfaces have,', () => {
  it('answer in the form of the surface that created the task', async () => {
    const left = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    expect((await call('tasks/get', 't1')).result).toEqual((await agent.get('/tasks/t1')).body);
    expect((await call('tasks/cancel', 't1')).result.status.state).toBe('canceled');
    expect((await call('tasks/cancel', 't1')).result.status.state).toBe('canceled');
    await left;
    for (const surface of wireSurfaces) {
      const id = await heldOver(surface);
      expect((await call('tasks/get', id)).result.status.state).toBe('auth-required');
      expect((await agent.get(`/tasks/${id}`)).body.status.state).toBe('deferred');
      expect((await call('tasks/cancel', id)).result.status.state).toBe('canceled');
      expect((await call('tasks/cancel', id)).error).toEqual({
        code: -32002,
        message: `task ${id} is canceled and cannot be canceled`,
      });
    }
  });

  it('answer in the form of a requested version', async () => {
    const left = agent.send('t2', script);
    await agent.reached('t2', 'deferred');
    for (const version of ['0.3', '0.3.0']) {
      expect((await call('tasks/get', 't2', version)).result.status.state).toBe('auth-required');
    }
    expect((await call('tasks/get', 't2', '1.0')).error).toMatchObject({ code: -32601 });
    expect((await call('tasks/get', 't2', '2.0')).error).toMatchObject({ code: -32009 });
    expect((await call('tasks/cancel', 't2', '0.3')).result.status.state).toBe('canceled');
    expect((await call('tasks/cancel', 't2', '0.3')).error).toMatchObject({ code: -32002 });
    await left;
  });

  it('answer for a missing task as before', async () => {
    const legacy = {
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32001, message: 'task not found', data: { error: 'task not found' } },
    };
    expect(await call('tasks/get', 'none')).toEqual(legacy);
    expect(await call('tasks/cancel', 'none')).toEqual(legacy);
    expect((await call('tasks/get', 'none', '0.3')).error).toEqual({
      code: -32001,
      message: 'task not found',
    });
  });
});

it.each([undefined, '0.3', '1.0', '2.0', 'junk'])(
  'legacy methods ignore A2A-Version %s',
  async (version) => {
    const headers: Record<string, string> = version === undefined ? {} : { 'A2A-Version': version };
    const params = { message: saying('hi') };
    const { status, body } = await agent.post(
      '/',
      { jsonrpc: '2.0', id: 7, method: 'tasks/send', params },
      headers,
    );
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        jsonrpc: '2.0',
        id: 7,
        result: (await agent.get(`/tasks/${body.result.id}`)).body,
      },
    });
  },
);

it('a task of A2A accepts a legacy send once it is final, like every task', async () => {
  const [surface] = wireSurfaces;
  if (surface === undefined) throw new Error('there is no surface');
  const sent = await ask(agent, surface, 'send', { message: surface.saying('one') });
  const { id } = surface.taskOf(sent);
  const again = await agent.post('/tasks/send', { id, message: playing([{ say: 'two' }]) });
  expect([again.status, again.body.status.state]).toEqual([200, 'completed']);
});
