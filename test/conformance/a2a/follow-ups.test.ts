import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentClient, Answer } from '../../helpers/agent-client.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { runAgent } from '../../helpers/agent-process.ts';
import { deferring, startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { eventJson, officialClient, sending, surfaces, taskJson } from './official-client.ts';
import { approval, deferral, PayingTask, paying } from './paying-task.ts';
import { ask, openStream, wireSurfaces } from './wire-surfaces.ts';

const steps = [{ tool: 'pay', args: { amount: 3 } }];

const historyOf = async (agent: AgentClient, id: string): Promise<string[]> => {
  const { history } = (await agent.get(`/tasks/${id}`)).body;
  return history.map(({ role, parts }: any) => `${role}: ${parts[0].text ?? 'script'}`);
};

describe.each(wireSurfaces)('a message over $name to a task that waits', (surface) => {
  const says = (text: string, taskId: string, more: object = {}): object => ({
    ...surface.saying(text),
    taskId,
    ...more,
  });
  const send = (agent: AgentClient, message: object, more: object = {}): Promise<Answer> =>
    ask(agent, surface, 'send', { message, ...more });
  const parked = async (agent: AgentClient, more: object = {}): Promise<any> =>
    surface.taskOf(await send(agent, { ...surface.playing(steps), ...more }));

  it('keeps the metadata of the message and of its parts, on every surface', async () => {
    const agent = await startTestAgent(deferring());
    const role = surface.version === '0.3' && surface.isRpc ? 'agent' : 'ROLE_AGENT';
    const annotated = ({ ...message }: any, more: object = {}) => {
      const list = 'parts' in message ? 'parts' : 'content';
      const parts = message[list].map((part: object) => ({ ...part, metadata: { lang: 'en' } }));
      return { ...message, ...more, metadata: { correlation: { id: 7 } }, [list]: parts };
    };
    const first = surface.taskOf(await send(agent, annotated(surface.playing(steps))));
    const later = surface.taskOf(await send(agent, annotated(says('news?', first.id), { role })));
    const metadataOf = ({ metadata, parts, content = parts }: any) => [
      ...[metadata, content[0].metadata],
    ];
    // The parts of HTTP+JSON 0.3.0 have no metadata.
    const ofPart = surface.version === '0.3' && !surface.isRpc ? undefined : { lang: 'en' };
    const expected = [
      [{ correlation: { id: 7 } }, ofPart],
      [{ correlation: { id: 7 }, role: 'agent' }, ofPart],
    ];
    expect(later.history.map(metadataOf)).toEqual(expected);
    const { history } = (await agent.get(`/tasks/${first.id}`)).body;
    expect(history.map(metadataOf)).toEqual(expected);
  });

  it('is answered with the current task, shown at once, and read by the model after the decision', async () => {
    const agent = await startTestAgent(deferring());
    const task = await parked(agent);
    const answered = surface.taskOf(await send(agent, says('any news?', task.id)));
    expect([answered.id, answered.contextId, answered.status.state]).toEqual([
      task.id,
      task.contextId,
      surface.state('auth-required'),
    ]);
    expect(answered.metadata.deferral).toEqual(task.metadata.deferral);
    expect(answered.history).toHaveLength(2);
    expect(await historyOf(agent, task.id)).toEqual(['user: script', 'user: any news?']);
    await agent.decide(task.id, approval);
    const { artifacts } = await agent.reached(task.id, 'completed');
    expect(artifacts[0].parts[0].text).toMatch(/\nany news\?$/);
    expect((await historyOf(agent, task.id)).slice(0, 2)).toEqual([
      'user: script',
      'user: any news?',
    ]);
  });

  it('decides nothing, with any text', async () => {
    const agent = await startTestAgent(deferring());
    const { id, metadata } = await parked(agent);
    const pin = { decision: 'approve', approver: 'Ann', deferral_id: metadata.deferral.id };
    for (const text of ['approve', 'yes', JSON.stringify(pin)]) await send(agent, says(text, id));
    const { body } = await agent.get(`/tasks/${id}`);
    expect([body.status.state, body.metadata.deferral]).toEqual(['deferred', metadata.deferral]);
    expect(agent.folder.paid).toEqual([]);
    expect(
      (await agent.decide(id, { ...approval, args_sha256: deferral.args_sha256 })).status,
    ).toBe(200);
    await agent.reached(id, 'completed');
    const decisions = agent.audit(id).filter(({ event }) => event === 'task_deferred_decision');
    expect(decisions).toHaveLength(1);
    expect(agent.folder.paid).toHaveLength(1);
  });

  it('may be streamed until the end of the task', async () => {
    const agent = await startTestAgent(deferring());
    const { id } = await parked(agent);
    const stream = await openStream(agent, surface, 'stream', { message: says('and now?', id) });
    const first = surface.resultOf((await stream.next())?.data);
    expect((first.task ?? first).status.state).toBe(surface.state('auth-required'));
    expect((first.task ?? first).history).toHaveLength(2);
    await agent.decide(id, approval);
    const last = surface.resultOf((await stream.rest()).at(-1)?.data);
    expect((last.statusUpdate ?? last).status.state).toBe(surface.state('completed'));
  });

  it('is stored once, for any repetition', async () => {
    const agent = await startTestAgent(deferring());
    const { id } = await parked(agent);
    const message = says('any news?', id, { messageId: 'again' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(agent, message)));
    expect(new Set(answers.map((answer) => surface.taskOf(answer).id))).toEqual(new Set([id]));
    expect(await historyOf(agent, id)).toEqual(['user: script', 'user: any news?']);
    await agent.post(`/tasks/${id}/cancel`);
    expect(surface.taskOf(await send(agent, message))).toMatchObject({
      id,
      status: { state: surface.state('canceled') },
    });
  });

  it('belongs to the context of the task, which may be omitted', async () => {
    const agent = await startTestAgent(deferring());
    const { id } = await parked(agent, { contextId: 'mine' });
    expect(await send(agent, says('hello', id, { contextId: 'other' }))).toMatchObject(
      surface.refusal(
        -32602,
        `task ${id} is part of another context; name its own, or leave contextId out`,
      ),
    );
    const taken = surface.taskOf(await send(agent, says('hello', id, { contextId: 'mine' })));
    expect([taken.id, taken.contextId]).toEqual([id, 'mine']);
    expect(await historyOf(agent, id)).toEqual(['user: script', 'user: hello']);
  });

  it('is refused when too many messages wait', async () => {
    const agent = await startTestAgent(deferring());
    const { id } = await parked(agent);
    for (let count = 0; count < 20; count += 1) await send(agent, says('more', id));
    const refusal = surface.refusal(
      -32004,
      `task ${id} holds at most 20 messages and 256 KiB for the model; wait for the decision`,
    );
    expect(await send(agent, says('one more', id))).toMatchObject(refusal);
    expect(await historyOf(agent, id)).toHaveLength(21);
  });

  it('is refused when a guardrail denies it, and the task keeps waiting', async () => {
    const guardrails = { enabled: true, deny_prompts: [{ pattern: 'launch' }] };
    const { security } = deferring();
    const agent = await startTestAgent({ security: { ...security, guardrails } as object });
    const { id } = await parked(agent);
    expect(await send(agent, says('launch it', id))).toMatchObject(
      surface.refusal(-32602, expect.stringMatching(/^denied by guardrail: /)),
    );
    expect(await historyOf(agent, id)).toEqual(['user: script']);
    const checks = agent.audit(id).filter(({ event }) => event === 'guardrail_check');
    expect(checks).toHaveLength(1);
    expect((await agent.get(`/tasks/${id}`)).body.status.state).toBe('deferred');
  });

  it('holds the request until the end where that is configured', async () => {
    const agent = await startTestAgent({ ...deferring(), server: { a2a_hold: true } });
    const sent = parked(agent);
    await expect.poll(async () => (await agent.get('/deferrals')).body.deferrals.length).toBe(1);
    const [{ task_id: id }] = (await agent.get('/deferrals')).body.deferrals;
    const said = send(agent, says('and?', id));
    await expect.poll(() => historyOf(agent, id)).toHaveLength(2);
    await agent.decide(id, approval);
    for (const task of [await sent, surface.taskOf(await said)]) {
      expect([task.id, task.status.state]).toEqual([id, surface.state('completed')]);
    }
  });

  it('survives a power cut, and is recognized afterwards', async () => {
    const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
    onTestFinished(() => folder.remove());
    const first = await runAgent(folder);
    const { id } = await parked(first);
    const message = says('any news?', id);
    await send(first, message);
    await first.kill();
    const second = await runAgent(folder);
    expect(surface.taskOf(await send(second, message)).id).toBe(id);
    expect(await historyOf(second, id)).toEqual(['user: script', 'user: any news?']);
    await second.decide(id, approval);
    await expect
      .poll(async () => (await second.get(`/tasks/${id}`)).body.artifacts?.[0].parts[0].text, {
        timeout: 10_000,
      })
      .toMatch(/\nany news\?$/);
  });
});

it('a legacy send cannot continue a waiting task', async () => {
  const agent = await startTestAgent(deferring());
  const held = agent.send('t', steps);
  await agent.reached('t', 'deferred');
  const message = { parts: [{ kind: 'text', text: 'approve' }], messageId: 'm', taskId: 't' };
  expect((await agent.post('/tasks/send', { id: 't', message })).status).toBe(409);
  expect(await historyOf(agent, 't')).toEqual(['user: script']);
  await agent.decide('t', approval);
  await held;
});

describe.each(surfaces)('the official client of $version over $transport', (surface) => {
  it('sends a message to a waiting task, and follows it to its end', async () => {
    const agent: TestAgent = await startTestAgent(deferring());
    const client = await officialClient(agent.url, surface);
    const { id } = taskJson(await client.sendMessage(sending({ ...paying, contextId: 'talk' })));
    const news = { parts: [{ text: 'any news?' }], taskId: id, messageId: randomUUID() };
    const { history, ...rest } = new PayingTask(id, 'talk').waiting;
    const said = { ...news, contextId: 'talk', role: 'ROLE_USER' };
    const text = `Waiting for approval of pay. Your message is shown to the approvers and given to the model after the decision; cancel the task to call it off.`;
    const { message, ...status } = rest.status;
    const acknowledged = { ...status, message: { ...message, parts: [{ text }] } };
    const task = { ...rest, status: acknowledged, history: [...history, said] };
    expect(taskJson(await client.sendMessage(sending(news)))).toEqual(task);
    const stream = client.sendMessageStream(sending(news));
    const { value } = await stream.next();
    expect(value === undefined ? null : eventJson(value)).toEqual({ task });
    await agent.decide(id, approval);
    const events = [];
    for await (const event of stream) events.push(eventJson(event));
    expect(events.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });
});
