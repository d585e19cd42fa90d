import { describe, expect, it } from 'vitest';
import { saying } from '../helpers/agent-client.ts';
import { deferring, startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const rate_limit = { read_rps: 1e6, read_burst: 1e6, write_rps: 1e6, write_burst: 1e6 };

/** Callers by name, each with a token that is its name twelve times. */
const callers: Record<string, { email?: string; org?: string }> = {
  ann: { email: 'ann@acme.example', org: 'acme' },
  kim: { email: 'kim@acme.example', org: 'acme' },
  lee: { email: 'lee@acme.example', org: 'acme' },
  eve: { email: 'eve@globex.example', org: 'globex' },
  joe: { email: 'joe@nowhere.example' },
};

const tokenOf = (name: string): string => name.repeat(12);

function startAgent(task_access: string, rule: object = {}): Promise<TestAgent> {
  const providers = Object.entries(callers).map(([name, { email, org }]) => {
    const identity = { user_id: name, email, claims: org === undefined ? {} : { org_id: org } };
    return { type: 'static_token', name, settings: { token: tokenOf(name), identity } };
  });
  return startTestAgent({
    ...deferring(rule),
    server: { task_access, rate_limit },
    auth: { required: true, providers },
  });
}

const notFound = { status: 404, body: { error: 'task not found', code: 'task_not_found' } };

describe('a task of an organisation', () => {
  it('stays in it, with any caller of a further run', async () => {
    const agent = await startAgent('org');
    await agent.as(tokenOf('ann')).send('order-1', [{ say: 'one' }]);
    for (const token of [tokenOf('joe'), agent.token, tokenOf('kim')]) {
      expect((await agent.as(token).send('order-1', [{ say: 'more' }])).status).toBe(200);
      expect(await agent.as(tokenOf('eve')).get('/tasks/order-1')).toMatchObject(notFound);
      expect((await agent.as(tokenOf('eve')).get('/tasks')).body).toEqual({ tasks: [] });
    }
    expect((await agent.as(tokenOf('ann')).get('/tasks/order-1')).body.history).toHaveLength(8);
  });

  it('is neither shown nor overwritten by a send with its id', async () => {
    const agent = await startAgent('org');
    await agent.as(tokenOf('ann')).send('order-1', [{ say: 'private' }]);
    const before = (await agent.as(tokenOf('ann')).get('/tasks/order-1')).body;
    const eve = agent.as(tokenOf('eve'));
    const body = { id: 'order-1', message: saying('what was it?') };
    expect(await eve.post('/tasks/send', body)).toMatchObject(notFound);
    expect(await eve.post('/tasks/sendSubscribe', body)).toMatchObject(notFound);
    expect((await eve.rpc('tasks/send', body)).body.error).toMatchObject({ code: -32001 });
    expect((await agent.as(tokenOf('ann')).get('/tasks/order-1')).body).toEqual(before);
    expect((await eve.send('order-2', [{ say: 'mine' }])).status).toBe(200);
  });

  it('may be one without an organisation that a member continues', async () => {
    const agent = await startAgent('org');
    await agent.as(tokenOf('joe')).send('open', [{ say: 'hello' }]);
    expect((await agent.as(tokenOf('eve')).get('/tasks/open')).status).toBe(200);
    await agent.as(tokenOf('ann')).send('open', [{ say: 'private' }]);
    expect(await agent.as(tokenOf('eve')).get('/tasks/open')).toMatchObject(notFound);
    expect((await agent.as(tokenOf('joe')).get('/tasks/open')).status).toBe(200);
  });

  it('is not shown for an organisation that only a header names', async () => {
    const agent = await startAgent('org');
    await agent.as(tokenOf('ann')).send('order-1', [{ say: 'private' }]);
    const wish = { 'X-Service-Org-ID': 'acme', 'X-Service-On-Behalf-Of': 'ann ann@acme.example' };
    expect(await agent.as(tokenOf('eve')).get('/tasks/order-1', wish)).toMatchObject(notFound);
    expect((await agent.as(tokenOf('eve')).get('/tasks', wish)).body).toEqual({ tasks: [] });
  });

  it('is recognized after a restart', async () => {
    const agent = await startAgent('org');
    await agent.as(tokenOf('ann')).send('order-1', [{ say: 'private' }]);
    await agent.as(agent.token).send('order-1', [{ say: 'more' }]);
    await agent.stop();
    const again = await startInFolder(agent.folder);
    expect(await again.as(tokenOf('eve')).get('/tasks/order-1')).toMatchObject(notFound);
    expect((await again.as(tokenOf('kim')).get('/tasks/order-1')).status).toBe(200);
  });
});

describe('with task_access requester', () => {
  it('a claimed name gives no access', async () => {
    const agent = await startAgent('requester', { approvers: ['kim@acme.example'] });
    const held = agent.as(tokenOf('ann')).send('order-1', [{ tool: 'pay', args: {} }]);
    await expect
      .poll(async () => (await agent.as(agent.token).get('/deferrals')).body.deferrals?.length)
      .toBe(1);
    const said = { decision: 'approve', approver: 'Kim', approver_email: 'kim@acme.example' };
    expect(await agent.as(tokenOf('lee')).decide('order-1', said)).toMatchObject({
      status: 404,
      body: { error: 'no pending deferral for task', code: 'deferral_not_found' },
    });
    expect((await agent.as(tokenOf('kim')).decide('order-1', said)).status).toBe(200);
    expect((await held).body.status.state).toBe('completed');
  });

  it('a second approver sees the first decider', async () => {
    const approvers = ['kim@acme.example', 'lee@acme.example'];
    const agent = await startAgent('requester', { approvers });
    const held = agent.as(tokenOf('ann')).send('order-1', [{ tool: 'pay', args: {} }]);
    await expect
      .poll(async () => (await agent.as(tokenOf('kim')).get('/deferrals')).body.deferrals?.length)
      .toBe(1);
    const decide = (name: string) =>
      agent.as(tokenOf(name)).decide('order-1', {
        decision: 'approve',
        approver_email: `${name}@acme.example`,
      });
    expect((await decide('kim')).status).toBe(200);
    await held;
    expect(await decide('lee')).toMatchObject({
      status: 409,
      body: { error: 'deferral already decided', code: 'already_decided', decision: 'approve' },
    });
    expect(await decide('joe')).toMatchObject({ status: 404 });
    expect(await agent.as(tokenOf('lee')).get('/tasks/order-1')).toMatchObject(notFound);
  });

  it('no caller sees the requests of others without sign-in', async () => {
    const agent = await startTestAgent({ server: { task_access: 'requester', rate_limit } });
    await agent.send('of-nobody', [{ say: 'hi' }]);
    await agent.as(agent.token).send('of-the-operator', [{ say: 'hi' }]);
    expect((await agent.get('/tasks/of-nobody')).status).toBe(200);
    expect(await agent.get('/tasks/of-the-operator')).toMatchObject(notFound);
    const ids = ({ body }: { body: any }) => body.tasks.map(({ id }: { id: string }) => id);
    expect(ids(await agent.get('/tasks'))).toEqual(['of-nobody']);
    expect(ids(await agent.as(agent.token).get('/tasks'))).toEqual([
      'of-the-operator',
      'of-nobody',
    ]);
  });
});
