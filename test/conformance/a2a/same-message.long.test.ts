import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentClient } from '../../helpers/agent-client.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { runAgent } from '../../helpers/agent-process.ts';
import { deferring, reached, startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { WebhookReceiver } from '../../helpers/webhook-receiver.ts';
import { officialClient, script, sending, surfaces, taskJson } from './official-client.ts';
import { approval, PayingTask, paying } from './paying-task.ts';
import { ask, openStream, type WireSurface, wireSurfaces } from './wire-surfaces.ts';

const steps = [{ tool: 'pay', args: { amount: 3 } }, { say: 'paid' }];

const namedBy = (messageId: string, message: object): object => ({ ...message, messageId });

const tasksOf = async (client: AgentClient) => (await client.get('/tasks?limit=500')).body.tasks;
const waitsOf = async (client: AgentClient) => (await client.get('/deferrals')).body.deferrals;

describe.each(wireSurfaces)('a repeated message over $name', (surface) => {
  const paid = (messageId: string) => namedBy(messageId, surface.playing(steps));
  const send = (client: AgentClient, message: object, more: object = {}) =>
    ask(client, surface, 'send', { message, ...more });

  it('is answered with its task, creates no second deferral, and is recorded', async () => {
    const agent = await startTestAgent(deferring());
    const first = surface.taskOf(await send(agent, paid('mine')));
    const there = { ...paid('mine'), taskId: first.id, contextId: first.contextId };
    for (const message of [paid('mine'), there]) {
      expect(surface.taskOf(await send(agent, message))).toEqual(first);
    }
    expect(await waitsOf(agent)).toHaveLength(1);
    await agent.decide(first.id, approval);
    await agent.reached(first.id, 'completed');
    const again = surface.taskOf(await send(agent, paid('mine')));
    expect([again.id, again.status.state]).toEqual([first.id, surface.state('completed')]);
    expect(await tasksOf(agent)).toHaveLength(1);
    expect(agent.folder.paid).toHaveLength(1);
    const repeats = agent.audit(first.id).filter(({ event }) => event === 'message_repeated');
    expect(repeats.map(({ fields }) => fields)).toEqual([
      { message_id: 'mine' },
      { message_id: 'mine' },
      { message_id: 'mine' },
    ]);
  });

  it('is another message with other parts, or in another context', async () => {
    const agent = await startTestAgent(deferring());
    const first = surface.taskOf(await send(agent, paid('mine')));
    const other = surface.taskOf(await send(agent, namedBy('mine', surface.saying('hello'))));
    const elsewhere = { ...paid('mine'), contextId: 'another' };
    const third = surface.taskOf(await send(agent, elsewhere));
    expect(new Set([first.id, other.id, third.id]).size).toBe(3);
    expect(other.status.state).toBe(surface.state('completed'));
    expect([third.contextId, await waitsOf(agent)]).toEqual(['another', expect.any(Array)]);
    expect(await waitsOf(agent)).toHaveLength(2);
    const again = surface.taskOf(await send(agent, elsewhere));
    expect([again.id, surface.taskOf(await send(agent, paid('mine'))).id]).toEqual([
      third.id,
      first.id,
    ]);
  });

  it('that names another task goes to that task', async () => {
    const agent = await startTestAgent(deferring());
    const first = surface.taskOf(await send(agent, paid('mine')));
    const second = surface.taskOf(await send(agent, paid('other')));
    const there = { ...paid('mine'), taskId: second.id };
    expect(surface.taskOf(await send(agent, there)).id).toBe(second.id);
    expect(surface.taskOf(await send(agent, paid('mine'))).id).toBe(first.id);
    expect(await send(agent, { ...paid('mine'), taskId: 'nobody' })).toMatchObject(
      surface.refusal(-32001, 'task not found'),
    );
    const { body } = await agent.get('/deferrals?order=deadline');
    expect(
      body.deferrals.map(({ task_id: id, messages = [] }: any) => [id, messages.length]),
    ).toEqual([
      [first.id, 0],
      [second.id, 1],
    ]);
  });

  it("counts as the user's, and keeps the role of an agent separately", async () => {
    const agent = await startTestAgent();
    const role = surface.version === '0.3' && surface.isRpc ? 'agent' : 'ROLE_AGENT';
    const { id } = surface.taskOf(await send(agent, { ...surface.saying('hi'), role }));
    const { history } = (await agent.get(`/tasks/${id}`)).body;
    expect(history[0]).toMatchObject({ role: 'user', metadata: { role: 'agent' } });
    expect(history[0].parts).toEqual([{ kind: 'text', text: 'hi' }]);
  });

  it('may be streamed, beginning with the current state', async () => {
    const agent = await startTestAgent(deferring());
    const { id } = surface.taskOf(await send(agent, paid('mine')));
    const stream = await openStream(agent, surface, 'stream', { message: paid('mine') });
    const first = surface.resultOf((await stream.next())?.data);
    const { id: joined, status } = first.task ?? first;
    expect([joined, status.state]).toEqual([id, surface.state('auth-required')]);
    await agent.decide(id, approval);
    const last = surface.resultOf((await stream.rest()).at(-1)?.data);
    expect((last.statusUpdate ?? last).status.state).toBe(surface.state('completed'));
    const late = await openStream(agent, surface, 'stream', { message: paid('mine') });
    const events = await late.rest();
    expect(events).toHaveLength(1);
    const only = surface.resultOf(events[0]?.data);
    expect((only.task ?? only).status.state).toBe(surface.state('completed'));
    expect(await tasksOf(agent)).toHaveLength(1);
  });

  it('creates one task of twenty at once', async () => {
    const agent = await startTestAgent(deferring());
    const configuration = (index: number) =>
      index % 2 === 0 ? {} : { configuration: { blocking: false, returnImmediately: true } };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send(agent, paid('mine'), configuration(index))),
    );
    const ids = new Set(answers.map((answer) => surface.taskOf(answer).id));
    expect(ids.size).toBe(1);
    expect([(await tasksOf(agent)).length, (await waitsOf(agent)).length]).toEqual([1, 1]);
  });

  it('is retried when the first was refused before it began', async () => {
    const agent = await startTestAgent();
    const refused = await send(
      agent,
      namedBy('mine', { ...surface.saying('hi'), parts: [], content: [] }),
    );
    expect(JSON.stringify(refused.body)).toContain('parts');
    const taken = surface.taskOf(await send(agent, namedBy('mine', surface.saying('hi'))));
    expect(taken.status.state).toBe(surface.state('completed'));
  });

  it('has an id of at most 256 characters', async () => {
    const agent = await startTestAgent();
    const long = namedBy('x'.repeat(257), surface.saying('hi'));
    expect(await send(agent, long)).toMatchObject(
      surface.refusal(-32602, 'message.messageId must be at most 256 characters'),
    );
    const fits = surface.taskOf(await send(agent, namedBy('x'.repeat(256), surface.saying('hi'))));
    expect(fits.status.state).toBe(surface.state('completed'));
  });

  it('is recognized after a power cut between its commit and its answer', async () => {
    const folder = new AgentFolder({
      ...deferring({}, { on_restart: 'resume' }),
      server: { a2a_hold: true },
    });
    onTestFinished(() => folder.remove());
    const first = await runAgent(folder);
    const unanswered = send(first, paid('mine')).catch(() => 'cut off');
    await expect.poll(() => waitsOf(first), { timeout: 10_000 }).toHaveLength(1);
    const [{ task_id: id }] = await waitsOf(first);
    await first.kill();
    expect(await unanswered).toBe('cut off');
    const second = await runAgent(folder);
    const again = send(second, paid('mine'));
    await reached(second, id, 'deferred');
    await second.decide(id, approval);
    expect(surface.taskOf(await again)).toMatchObject({
      id,
      status: { state: surface.state('completed') },
    });
    expect(await tasksOf(second)).toHaveLength(1);
    expect(folder.paid).toHaveLength(1);
  });
});

describe('a message of one caller', () => {
  const people = { ann: 'acme', rob: 'globex', amy: 'acme' };
  const signingIn = {
    required: true,
    providers: Object.entries(people).map(([user, org]) => ({
      type: 'static_token',
      name: user,
      settings: {
        token: `the-token-of-${user}`,
        identity: { user_id: user, claims: { org_id: org } },
      },
    })),
  };

  const over = (surface: WireSurface, client: AgentClient, messageId: string) =>
    ask(client, surface, 'send', { message: namedBy(messageId, surface.playing(steps)) });

  it('leads no other caller to its task, on any surface and with any id', async () => {
    for (const surface of wireSurfaces) {
      const agent = await startTestAgent({
        ...deferring(),
        auth: signingIn,
        server: { task_access: 'requester' },
      });
      const as = (user: string) => agent.as(`the-token-of-${user}`);
      const ids: string[] = [];
      for (const user of Object.keys(people)) {
        const { id } = surface.taskOf(await over(surface, as(user), 'one'));
        expect(surface.taskOf(await over(surface, as(user), 'one')).id).toBe(id);
        ids.push(id);
      }
      expect(new Set(ids).size).toBe(3);
      const unknown = { ...namedBy('two', surface.saying('hi')), taskId: ids[0] };
      expect(await ask(as('rob'), surface, 'send', { message: unknown })).toMatchObject(
        surface.refusal(-32001, 'task not found'),
      );
    }
  });
});

describe('a message without its own id', () => {
  it('is a new one each time', async () => {
    const agent = await startTestAgent();
    const params = { message: { role: 'ROLE_USER', parts: [{ text: 'hi' }] } };
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params };
    const send = async () =>
      (await agent.post('/', body, { 'A2A-Version': '1.0' })).body.result.task.id;
    expect(await send()).not.toBe(await send());
  });

  it('is also one of a legacy send, with any id', async () => {
    const agent = await startTestAgent();
    const send = async () =>
      (
        await agent.post('/tasks/send', {
          message: { parts: [{ kind: 'text', text: 'hi' }], messageId: 'm' },
        })
      ).body.id;
    expect(await send()).not.toBe(await send());
  });
});

describe.each(surfaces)('the official client of $version over $transport', (surface) => {
  it('finds its task again by sending the same message', async () => {
    const agent: TestAgent = await startTestAgent(deferring());
    const client = await officialClient(agent.url, surface);
    const messageId = randomUUID();
    const message = sending({ ...paying, messageId, contextId: 'talk' });
    const { id } = taskJson(await client.sendMessage(message));
    expect(taskJson(await client.sendMessage(message))).toEqual(new PayingTask(id, 'talk').waiting);
    await agent.decide(id, approval);
    await agent.reached(id, 'completed');
    expect(taskJson(await client.sendMessage(message))).toEqual(
      new PayingTask(id, 'talk').completed,
    );
  });

  it('has one receiver notified, for any number of registrations', async () => {
    const receiver = await WebhookReceiver.open();
    onTestFinished(() => receiver.close());
    const agent = await startTestAgent({
      ...deferring(),
      egress: { allowed_domains: ['127.0.0.1'], allow_private_ips: true },
    });
    const client = await officialClient(agent.url, surface);
    const hook = { url: `http://127.0.0.1:${receiver.port}/` };
    const message = sending(
      { ...script({ tool: 'pay' }), messageId: 'mine' },
      { taskPushNotificationConfig: hook },
    );
    const sent = await Promise.all([1, 2, 3].map(() => client.sendMessage(message)));
    const again = await client.sendMessage(message);
    const ids = new Set([...sent, again].map((task) => taskJson(task).id));
    expect(ids.size).toBe(1);
    const [id] = ids;
    const { body } = await agent.get(`/a2a/tasks/${id}/pushNotificationConfigs`);
    expect(body.configs).toHaveLength(1);
  });
});
