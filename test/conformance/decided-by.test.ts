import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AgentClient } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

/** An agent that knows Ann and Bob by their tokens. */
function anAgent(): Promise<TestAgent> {
  const people = ['ann', 'bob'].map((name) => ({
    type: 'static_token',
    name,
    settings: {
      token_env: `${name.toUpperCase()}_TOKEN`,
      identity: { user_id: name, email: `${name}@example.com` },
    },
  }));
  const { security } = deferring();
  const settings = { security, auth: { required: true, providers: people } };
  return startTestAgent(settings, { env: { ANN_TOKEN: 'of-ann', BOB_TOKEN: 'of-bob' } });
}

async function decided(client: AgentClient, query = ''): Promise<any> {
  return (await client.get(`/deferrals?decided_by=me${query}`)).body;
}

describe('the decisions of a caller', () => {
  it('have the outcome of approved calls, and belong to no one else', async () => {
    const agent = await anAgent();
    const [ann, bob, operator] = ['of-ann', 'of-bob', agent.token].map((token) => agent.as(token));
    if (ann === undefined || bob === undefined || operator === undefined) throw new Error();
    const send = async (id: string) => {
      const done = bob.send(id, [{ tool: 'pay', args: { id } }, { say: 'paid' }]);
      await vi.waitFor(async () => {
        const { body } = await operator.get(`/tasks/${id}`);
        expect(body.status?.state).toBe('deferred');
      }, patient);
      return done;
    };
    const approved = send('approved');
    await vi.waitFor(
      async () => expect((await operator.get('/deferrals')).body.total).toBe(1),
      patient,
    );
    await ann.decide('approved', { decision: 'approve', note: 'checked' });
    await approved;
    const rejected = send('rejected');
    await vi.waitFor(
      async () => expect((await operator.get('/deferrals')).body.total).toBe(1),
      patient,
    );
    await ann.decide('rejected', { decision: 'reject', note: 'no' });
    await rejected;
    const shown = {
      id: expect.any(String),
      tool: 'pay',
      args_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      approver: 'unknown',
      decided_at: expect.stringMatching(/Z$/),
    };
    const first = { ...shown, task_id: 'approved', decision: 'approve', note: 'checked' };
    const second = { ...shown, task_id: 'rejected', decision: 'reject', note: 'no' };
    expect(await decided(ann)).toEqual({ deferrals: [second, { ...first, outcome: 'ran' }] });
    expect(await decided(bob)).toEqual({ deferrals: [] });
    expect(await decided(operator)).toEqual({ deferrals: [] });
    const { deferrals, next_cursor } = await decided(ann, '&limit=1');
    expect(deferrals).toEqual([second]);
    expect(await decided(ann, `&limit=1&cursor=${next_cursor}`)).toEqual({
      deferrals: [{ ...first, outcome: 'ran' }],
    });
  });

  it('name the error of a failed call, and a call that never ran', async () => {
    const folder = new AgentFolder(deferring());
    onTestFinished(() => folder.remove());
    const script = join(folder.path, 'scripts/pay.sh');
    writeFileSync(script, 'echo broken >&2\nexit 3\n');
    const agent = await startInFolder(folder);
    for (const [id, change] of [
      ['failed', () => undefined],
      ['changed', () => writeFileSync(script, 'cat\n')],
    ] as const) {
      const done = agent.send(id, [{ tool: 'pay', args: { id } }, { say: 'paid' }]);
      await agent.reached(id, 'deferred');
      change();
      expect((await agent.decide(id, { decision: 'approve' })).status).toBe(200);
      await done;
    }
    const { deferrals } = await decided(agent);
    expect(deferrals).toMatchObject([
      { task_id: 'changed', outcome: 'never_ran' },
      { task_id: 'failed', outcome: 'failed', error: expect.stringContaining('broken') },
    ]);
  });

  it('are requested by no other name', async () => {
    const agent = await startTestAgent(deferring());
    expect(await agent.get('/deferrals?decided_by=ann')).toMatchObject({
      status: 400,
      body: { error: 'decided_by must be me', code: 'invalid_query' },
    });
  });
});
