import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startAgent } from '../../../src/agent/start/start-agent.ts';
import { denial, says, startFakePlatform } from '../../actors/access/admission/fake-platform.ts';
import { playing } from '../../helpers/agent-client.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { runAgent } from '../../helpers/agent-process.ts';
import { fullStore } from '../../helpers/full-store.ts';
import { storeEnvironment } from '../../helpers/kept-store.ts';
import { deferring, expectIntact, startTestAgent, TestAgent } from '../../helpers/test-agent.ts';
import {
  type Asked,
  ask,
  type Operation,
  openStream,
  refusedAtDoor,
  wireSurfaces,
} from './wire-surfaces.ts';

vi.setConfig({ testTimeout: 30_000 });

const everything: [Operation, Asked][] = [
  ['send', { message: {} }],
  ['stream', { message: {} }],
  ['get', { id: 't1' }],
  ['cancel', { id: 't1' }],
  ['subscribe', { id: 't1' }],
  ['setPush', { id: 't1', config: {} }],
  ['getPush', { id: 't1', configId: 'c1' }],
  ['listPush', { id: 't1' }],
  ['deletePush', { id: 't1', configId: 'c1' }],
  ['card', {}],
];

const hardened = {
  'x-correlation-id': expect.stringMatching(/./),
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': expect.stringMatching(/^no-store/),
};

describe.each(wireSurfaces)('the checks of $name', (surface) => {
  it('accept only authenticated callers', async () => {
    const provider = {
      type: 'static_token',
      name: 'ops',
      settings: { token: 'token-of-ops-1234', identity: { user_id: 'ops' } },
    };
    const agent = await startTestAgent({ auth: { required: true, providers: [provider] } });
    for (const [operation, asked] of everything) {
      const { status, headers, body } = await ask(agent, surface, operation, asked);
      expect({ status, body }).toEqual(
        refusedAtDoor(surface, 401, { error: 'unauthorized', message: expect.any(String) }),
      );
      expect(headers.get('www-authenticate')).toBe('Bearer');
      const wrong = { ...asked, headers: { authorization: 'Bearer nobody' } };
      expect((await ask(agent, surface, operation, wrong)).status).toBe(401);
    }
    const known = agent.as('token-of-ops-1234');
    const sent = await ask(known, surface, 'send', { message: surface.saying('hi') });
    expect(surface.taskOf(sent).status.state).toBe(surface.state('completed'));
  });

  it('ask for admission only for sends', async () => {
    const platform = await startFakePlatform();
    const folder = new AgentFolder(deferring());
    const quiet = () => undefined;
    const agent = new TestAgent(
      await startAgent({
        directory: folder.path,
        host: '127.0.0.1',
        port: 0,
        noAuth: false,
        inspectPort: null,
        env: {
          ...storeEnvironment(),
          SERVICE_ADMISSION_URL: `${platform.url}/v1/admission`,
          SERVICE_PLATFORM_TOKEN: 'x',
        },
        log: { info: quiet, warn: quiet, error: quiet },
      }),
      folder,
      [],
    );
    onTestFinished(() => agent.close());
    platform.reply = says(denial);
    const { reason, scope, window, reset_at } = denial;
    const message = { ...surface.saying('hi'), taskId: 't-5' };
    for (const operation of ['send', 'stream'] as const) {
      const { status, body } = await ask(agent, surface, operation, { message });
      const said = { error: 'admission_denied', reason, scope, window, reset_at };
      expect({ status, body }).toEqual(refusedAtDoor(surface, 402, said, 1));
    }
    for (const [operation, asked] of everything.slice(2)) {
      expect((await ask(agent, surface, operation, asked)).status).not.toBe(402);
    }
    expect((await agent.get('/tasks')).body).toEqual({ tasks: [] });
    const denials = agent.audit().filter(({ event }) => event === 'task_admission_denied');
    expect(denials.map(({ task_id }) => task_id)).toEqual(['t-5', 't-5']);
  });

  it('allow a cancel at any request rate', async () => {
    const rate_limit = { read_rps: 1_000, read_burst: 1_000, write_rps: 0.001, write_burst: 1 };
    const agent = await startTestAgent({ server: { rate_limit } });
    const message = surface.saying('hi');
    const sent = await ask(agent, surface, 'send', { message });
    expect((await ask(agent, surface, 'send', { message })).status).toBe(429);
    const { id } = surface.taskOf(sent);
    const { status, body } = await ask(agent, surface, 'cancel', { id });
    expect({ status, body }).toEqual(
      surface.refusal(-32002, `task ${id} is completed and cannot be canceled`),
    );
  });

  it('reveal nothing of the tasks in any refusal', async () => {
    const agent = await startTestAgent();
    const { body } = await agent.post('/tasks/send', {
      id: 't1',
      message: playing([{ say: 'x' }]),
    });
    expect(body.id).toBe('t1');
    const message = surface.saying('hi');
    const all = [...everything, ['send', { message }] as const, ['stream', { message }] as const];
    for (const [operation, asked] of all) {
      const { headers } = await ask(agent, surface, operation, asked);
      const shown = Object.fromEntries(headers);
      const isPublic = surface.name === 'HTTP+JSON 0.3.0' && operation === 'card';
      expect(shown).toMatchObject({
        ...hardened,
        ...(isPublic ? { 'cache-control': 'max-age=60' } : {}),
      });
      const internal = ['x-powered-by', 'server', ...(isPublic ? [] : ['etag'])];
      for (const name of internal) expect(shown).not.toHaveProperty(name);
    }
  });

  it('refuse a send while the audit log cannot be written', async () => {
    const agent = await startTestAgent();
    const disk = await fullStore(agent);
    await disk.noticed();
    for (const operation of ['send', 'stream'] as const) {
      const { status, body } = await ask(agent, surface, operation, {
        message: surface.saying('hi'),
      });
      const error = expect.stringMatching(/be record|cannot record/) as unknown as string;
      const taskId = /[0-9a-f-]{36}/.exec(JSON.stringify(body))?.[0];
      const said = { error, ...(taskId === undefined ? {} : { task_id: taskId }) };
      const expected = refusedAtDoor(surface, 503, said, 1);
      expect({ status, body }).toEqual(expected);
    }
    await disk.fix();
    const sent = await ask(agent, surface, 'send', { message: surface.saying('hi') });
    expect(surface.taskOf(sent).status.state).toBe(surface.state('completed'));
    await expectIntact(agent.auditPath);
  });

  it('disconnect waiting callers when the agent stops', async () => {
    const folder = new AgentFolder({ ...deferring(), server: { a2a_hold: true } });
    onTestFinished(() => folder.remove());
    const agent = await runAgent(folder);
    const message = () => surface.playing([{ tool: 'pay' }, { say: 'paid' }]);
    const held = ask(agent, surface, 'send', { message: message() });
    const stream = await openStream(agent, surface, 'stream', { message: message() });
    await vi.waitFor(
      async () => expect((await agent.get('/deferrals')).body.deferrals).toHaveLength(2),
      10_000,
    );
    const { deferrals } = (await agent.get('/deferrals')).body;
    agent.signal('SIGTERM');
    const { status, body } = await held;
    const isHeld = deferrals.map((one: any) => one.task_id);
    const task_id = isHeld.find((id: string) => JSON.stringify(body).includes(id));
    expect(task_id).toEqual(expect.any(String));
    const said = { error: 'service is shutting down', task_id };
    expect({ status, body }).toEqual(refusedAtDoor(surface, 503, said, 1));
    const last = (await stream.rest()).at(-1);
    const told = {
      'JSON-RPC 0.3.0': {
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32603, message: 'service is shutting down' },
      },
      'JSON-RPC 1.0': {
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32603, message: 'service is shutting down' },
      },
      'HTTP+JSON 0.3.0': { code: -32603, message: 'service is shutting down' },
      'HTTP+JSON 1.0': {
        error: { code: 503, status: 'UNAVAILABLE', message: 'service is shutting down' },
      },
    }[surface.name];
    expect(last).toEqual({ id: expect.stringMatching(/^\d+$/), event: 'error', data: told });
    expect(await agent.ended()).toBe(0);
  });
});
