import { describe, expect, it } from 'vitest';
import { AgentClient } from '../helpers/agent-client.ts';
import { startTestAgent, textOf } from '../helpers/test-agent.ts';

const auth = {
  required: true,
  providers: ['ann', 'bob'].map((name) => ({
    type: 'static_token',
    name,
    settings: {
      token: `token-of-${name}`,
      identity: { user_id: name, claims: { org_id: 'acme' } },
    },
  })),
};

const asking = (text: string, contextId: string) => ({
  task: {
    contextId,
    message: {
      kind: 'message',
      role: 'user',
      messageId: text,
      contextId,
      parts: [{ kind: 'text', text }],
    },
  },
});

describe('GET /sessions', () => {
  it('shows each caller only their own sessions, with their messages', async () => {
    const agent = await startTestAgent({ auth, server: { task_access: 'any' } });
    const [ann, bob] = ['ann', 'bob'].map((name) => new AgentClient(agent.url, `token-of-${name}`));
    expect(textOf(await ann!.post('/tasks/send', asking('hello', 'c-1')))).toBe('echo: hello');
    await ann!.post('/tasks/send', asking('and again', 'c-1'));
    await bob!.post('/tasks/send', asking('let me in', 'c-1'));

    const { status, body } = await ann!.get('/sessions');
    expect([status, body]).toEqual([
      200,
      {
        sessions: [
          {
            id: 'c-1',
            preview: 'hello',
            created_at: expect.stringMatching(/Z$/),
            updated_at: expect.stringMatching(/Z$/),
          },
        ],
      },
    ]);
    const whole = await ann!.get('/sessions/c-1');
    expect(whole.body).toMatchObject(body.sessions[0]);
    const words = whole.body.messages.map(({ role, parts: [{ text }] }: any) => `${role} ${text}`);
    expect(words).toEqual([
      'user hello',
      'agent echo: hello',
      'user and again',
      'agent echo: and again',
    ]);
    expect((await bob!.get('/sessions')).body.sessions).toMatchObject([{ preview: 'let me in' }]);
    expect(await bob!.get('/sessions/c-2')).toMatchObject({
      status: 404,
      body: { error: 'session not found', code: 'session_not_found' },
    });
    expect((await new AgentClient(agent.url, null).get('/sessions/c-1')).status).toBe(401);
    expect((await ann!.get('/sessions?limit=0')).status).toBe(400);
  });

  it('comes in pages, with a cursor for the next', async () => {
    const agent = await startTestAgent({});
    for (const name of ['one', 'two', 'three']) await agent.post('/tasks/send', asking(name, name));
    const first = (await agent.get('/sessions?limit=2')).body;
    expect(first).toMatchObject({
      sessions: [{ id: 'three' }, { id: 'two' }],
      next_cursor: expect.stringMatching(/^\d+-\d+$/),
    });
    const next = (await agent.get(`/sessions?limit=2&cursor=${first.next_cursor}`)).body;
    expect(next).toEqual({ sessions: [expect.objectContaining({ id: 'one' })] });
    expect(await agent.get('/sessions?cursor=3')).toMatchObject({
      status: 400,
      body: { error: 'cursor must be the next_cursor of the page before', code: 'invalid_cursor' },
    });
  });

  it('finds a session by a contextId of any characters', async () => {
    const agent = await startTestAgent({});
    const id = '../../etc/ü %2F?';
    await agent.post('/tasks/send', asking('odd', id));
    const { sessions } = (await agent.get('/sessions')).body;
    expect(sessions).toMatchObject([{ id, preview: 'odd' }]);
    const whole = await agent.get(`/sessions/${encodeURIComponent(id)}`);
    expect([whole.status, whole.body.messages?.length]).toEqual([200, 2]);
  });
});
