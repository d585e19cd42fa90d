import { describe, expect, it, onTestFinished } from 'vitest';
import {
  canary,
  denial,
  type FakePlatform,
  says,
  startFakePlatform,
} from '../actors/access/admission/fake-platform.ts';
import { playing, saying } from '../helpers/agent-client.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { deferring, expectIntact, startInFolder, type TestAgent } from '../helpers/test-agent.ts';
import { refusedAtDoor } from './a2a/wire-surfaces.ts';

const refusal = {
  error: 'admission_denied',
  reason: denial.reason,
  scope: denial.scope,
  window: denial.window,
  reset_at: denial.reset_at,
};

function admissionOf(platform: FakePlatform): NodeJS.ProcessEnv {
  return {
    SERVICE_ADMISSION_URL: `${platform.url}/v1/admission?tier=gold`,
    SERVICE_PLATFORM_TOKEN: canary,
    SERVICE_ORG_ID: 'acme',
    SERVICE_WORKSPACE_ID: '',
  };
}

function folderOf(settings: ServiceSettings = {}): AgentFolder {
  const folder = new AgentFolder(settings);
  onTestFinished(() => folder.remove());
  return folder;
}

/** Starts an agent in this environment that is stopped after the test. */
function startIn(env: NodeJS.ProcessEnv, folder: AgentFolder = folderOf()): Promise<TestAgent> {
  return startInFolder(folder, env);
}

/** What the log says of admission. */
function saidOf({ log }: TestAgent): [level: string, message: string][] {
  return log
    .filter(({ message }) => message.startsWith('admission'))
    .map(({ level, message }) => [level, message]);
}

describe('admission of an agent', () => {
  it('asks the platform once in a window, for the agent and its tenancy', async () => {
    const platform = await startFakePlatform();
    const agent = await startIn(admissionOf(platform));
    for (const id of ['t-1', 't-2', 't-3']) expect((await agent.send(id, [])).status).toBe(200);
    expect(platform.calls).toEqual([
      {
        method: 'GET',
        url: '/v1/admission?tier=gold&agent_id=till',
        headers: expect.objectContaining({ authorization: `Bearer ${canary}`, 'org-id': 'acme' }),
      },
    ]);
    expect(platform.calls[0]?.headers).not.toHaveProperty('workspace-id');
    expect(saidOf(agent)).toEqual([
      ['info', `admission: on; ${platform.url} is called before an invocation starts`],
    ]);
  });

  it('refuses with 402 on every transport, starts nothing, and records each denial', async () => {
    const platform = await startFakePlatform();
    platform.reply = says(denial);
    const agent = await startIn(admissionOf(platform));
    const message = saying('hello');
    const answers = [
      await agent.post('/tasks/send', { id: 't-1', message }),
      await agent.post('/tasks/sendSubscribe', { task: { id: 't-2', message } }),
      await agent.post('/tasks/send/', { message }),
      await agent.rpc('tasks/send', { id: 't-3', message }),
      await agent.rpc('tasks/sendSubscribe', { id: 't-4', message }),
      await agent.rpc('message/send', { message: { ...message, taskId: 't-5' } }),
      await agent.rpc('message/stream', { message }),
      await agent.rpc('SendMessage', { message }),
      await agent.rpc('SendStreamingMessage', { message }),
    ];
    for (const [index, { status, headers, body }] of answers.entries()) {
      // Methods that the documents speak of have the body that they show; those of A2A are answered as JSON-RPC.
      const called = refusedAtDoor({ isRpc: true }, 402, refusal, 1);
      expect({ status, body }).toEqual(
        index < 5 ? { status: 402, body: { ...refusal, code: 'admission_denied' } } : called,
      );
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-correlation-id')).toBeTruthy();
    }
    expect(platform.calls).toHaveLength(1);
    expect((await agent.get('/tasks')).body.tasks).toEqual([]);
    const denials = agent.audit().filter(({ event }) => event === 'task_admission_denied');
    expect(denials.map(({ task_id, fields }) => [task_id, fields?.['cached']])).toEqual([
      ['t-1', false],
      ['t-2', true],
      [undefined, true],
      ['t-3', true],
      ['t-4', true],
      ['t-5', true],
      ...Array(3).fill([undefined, true]),
    ]);
    expect(denials[0]).toMatchObject({
      event: 'task_admission_denied',
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      correlation_id: answers[0]?.headers.get('x-correlation-id'),
      entity_id: 'till',
      entity_type: 'agent',
      org_id: 'acme',
      fields: {
        reason: denial.reason,
        scope: denial.scope,
        window: denial.window,
        reset_at: denial.reset_at,
        cached: false,
      },
    });
    await expectIntact(agent.auditPath);
  });

  it('does not apply to reads, cancels, decisions and probes', async () => {
    const folder = folderOf(deferring({}, { on_restart: 'resume' }));
    const before = await startIn({}, folder);
    for (const id of ['t-1', 't-2']) {
      before.send(id, [{ tool: 'pay' }, { say: 'paid' }]).catch(() => undefined);
      await before.reached(id, 'deferred');
    }
    await before.stop();
    const platform = await startFakePlatform();
    platform.reply = says(denial);
    const agent = await startIn(admissionOf(platform), folder);
    expect((await agent.send('t-3', [])).status).toBe(402);
    for (const path of ['/healthz', '/readyz', '/tasks', '/tasks/t-1', '/deferrals', '/metrics']) {
      expect((await agent.get(path)).status).toBe(200);
    }
    expect((await agent.rpc('tasks/get', { id: 't-1' })).body.result.id).toBe('t-1');
    expect((await agent.rpc('tasks/cancel', { id: 't-2' })).body.result.id).toBe('t-2');
    const decision = { decision: 'approve', approver_email: 'ann@example.com' };
    expect((await agent.decide('t-1', decision)).status).toBe(200);
    await agent.reached('t-1', 'completed');
    expect(platform.calls).toHaveLength(1);
  });

  it('makes one call for a hundred first requests', async () => {
    const platform = await startFakePlatform();
    platform.reply = says(denial);
    const agent = await startIn(admissionOf(platform));
    const sends = Array.from({ length: 100 }, (_, index) =>
      agent.post('/tasks/send', { id: `t-${index}`, message: playing([]) }),
    );
    const statuses = (await Promise.all(sends)).map(({ status }) => status);
    expect(statuses).toEqual(Array(100).fill(402));
    expect(platform.calls).toHaveLength(1);
    const cached = agent
      .audit()
      .filter(({ event }) => event === 'task_admission_denied')
      .map(({ fields }) => fields?.['cached']);
    expect(cached.filter((value) => value === false)).toHaveLength(1);
    expect(cached.filter((value) => value === true)).toHaveLength(99);
  });

  it('makes no call for an unauthenticated caller', async () => {
    const platform = await startFakePlatform();
    const identity = { user_id: 'ops' };
    const settings = { token: 'the-token-of-ops-1234', identity };
    const providers = [{ type: 'static_token', name: 'ops', settings }];
    const agent = await startIn(
      admissionOf(platform),
      folderOf({ auth: { required: true, providers } }),
    );
    expect((await agent.send('t-1', [])).status).toBe(401);
    expect((await agent.rpc('tasks/send', { message: playing([]) })).status).toBe(401);
    expect(platform.calls).toEqual([]);
    expect((await agent.as(settings.token).send('t-1', [])).status).toBe(200);
    expect(platform.calls).toHaveLength(1);
  });

  it('admits when the platform fails, and logs it once', async () => {
    const platform = await startFakePlatform();
    platform.reply = says('down', 503);
    const agent = await startIn(admissionOf(platform));
    expect((await agent.send('t-1', [])).status).toBe(200);
    expect((await agent.send('t-2', [])).status).toBe(200);
    expect(saidOf(agent).slice(1)).toEqual([['warn', 'admission: call failed, admitting']]);
    expect(JSON.stringify([agent.log, agent.audit()])).not.toContain(canary);
  });

  it.each<[string, NodeJS.ProcessEnv, [string, string][]]>([
    ['silently with neither variable', {}, []],
    [
      'with a warning when the token is missing',
      { SERVICE_ADMISSION_URL: 'http://127.0.0.1:1/' },
      [
        [
          'warn',
          'admission: off, because SERVICE_PLATFORM_TOKEN is not set; set it, or unset SERVICE_ADMISSION_URL',
        ],
      ],
    ],
  ])('is off %s', async (_, env, said) => {
    const agent = await startIn(env);
    expect((await agent.send('t-1', [])).status).toBe(200);
    expect(saidOf(agent)).toEqual(said);
  });

  it('stops the start for a URL that cannot be called', async () => {
    const env = { SERVICE_ADMISSION_URL: 'platform', SERVICE_PLATFORM_TOKEN: canary };
    await expect(startIn(env)).rejects.toThrow(/^SERVICE_ADMISSION_URL is not an http or https/);
  });
});
