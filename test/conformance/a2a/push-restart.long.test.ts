import { expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { runAgent } from '../../helpers/agent-process.ts';
import { readLog } from '../../helpers/kept-log.ts';
import { deferring, reached, startTestAgent } from '../../helpers/test-agent.ts';
import { WebhookReceiver } from '../../helpers/webhook-receiver.ts';
import { failureOf, officialClient, type Surface, sending, surfaces } from './official-client.ts';
import { approval, paying } from './paying-task.ts';

/** Settings that defer `pay`, and let receivers on this machine be reached. */
const reaching = (defer: object = {}) => ({
  ...deferring({}, defer),
  egress: { allowed_domains: ['127.0.0.1'], allow_private_ips: true },
});

async function aReceiver(): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.open();
  onTestFinished(() => receiver.close());
  return receiver;
}

const pathOf = ({ version, transport }: Surface) => `/${version}/${transport}`;

/** The states that a receiver was sent and has accepted, in the form of either version. */
const statesOf = (receiver: WebhookReceiver, surface: Surface) =>
  receiver
    .all(pathOf(surface))
    .filter(({ answered }) => answered === 200)
    .map(({ body }) => (body.task ?? body).status.state);

/** Starts a task over each surface that waits, with a receiver of its own; returns their ids. */
async function parkedOverAll(
  url: string,
  receiver: WebhookReceiver,
  more: object = {},
): Promise<string[]> {
  const port = receiver.port;
  return Promise.all(
    surfaces.map(async (surface) => {
      const client = await officialClient(url, surface);
      const hook = { url: `http://127.0.0.1:${port}${pathOf(surface)}`, ...more };
      const stream = client.sendMessageStream(
        sending(paying, { taskPushNotificationConfig: hook }),
      );
      const { value } = await stream.next();
      await stream.return();
      return value?.payload?.$case === 'task' ? value.payload.value.id : '';
    }),
  );
}

/** The words for a state in the order of `surfaces`. */
const inBothWords = (...states: string[]) =>
  surfaces.map(({ version }) =>
    version === '1.0'
      ? states.map((state) => `TASK_STATE_${state}`)
      : states.map((state) => state.toLowerCase().replace('_', '-')),
  );

/** The states that a receiver was sent, each once until the next. */
function changesOf(...asked: Parameters<typeof statesOf>): string[] {
  return statesOf(...asked).filter((state, index, all) => state !== all[index - 1]);
}

it('push notifications continue after a power cut, in order', async () => {
  const receiver = await aReceiver();
  const folder = new AgentFolder(reaching({ on_restart: 'resume' }));
  onTestFinished(() => folder.remove());
  const before = await runAgent(folder);
  // Half of them have not taken the deferral when the power goes.
  for (const surface of surfaces.slice(0, 2)) receiver.answer(pathOf(surface), 500);
  const ids = await parkedOverAll(before.url, receiver);
  for (const id of ids) await reached(before, id, 'deferred');
  for (const surface of surfaces) await receiver.received(pathOf(surface), 1);
  await before.kill();
  const after = await runAgent(folder);
  for (const surface of surfaces.slice(0, 2)) await receiver.received(pathOf(surface), 2);
  for (const id of ids) await after.decide(id, approval);
  await expect
    .poll(() => surfaces.map((surface) => statesOf(receiver, surface).at(-1)), { timeout: 15_000 })
    .toEqual(inBothWords('COMPLETED').flat());
  expect(surfaces.map((surface) => changesOf(receiver, surface).slice(-3))).toEqual(
    inBothWords('AUTH_REQUIRED', 'WORKING', 'COMPLETED'),
  );
});

it('a push notification after a power cut reports an abandoned task', async () => {
  const receiver = await aReceiver();
  const folder = new AgentFolder(reaching());
  onTestFinished(() => folder.remove());
  const before = await runAgent(folder);
  const ids = await parkedOverAll(before.url, receiver);
  for (const surface of surfaces) await receiver.received(pathOf(surface), 2);
  await before.kill();
  const after = await runAgent(folder);
  for (const surface of surfaces) await receiver.received(pathOf(surface), 3);
  expect(surfaces.map((surface) => changesOf(receiver, surface).slice(-2))).toEqual(
    inBothWords('AUTH_REQUIRED', 'FAILED'),
  );
  const { body } = await after.get(`/tasks/${ids[0]}`);
  expect(body.status.message.parts).toEqual([
    { kind: 'text', text: 'defer: abandoned by service restart' },
  ]);
});

it("the receiver's credentials are in no log, no event and no answer", async () => {
  const receiver = await aReceiver();
  const agent = await startTestAgent(reaching());
  for (const surface of surfaces) receiver.answer(pathOf(surface), 500);
  const canary = {
    id: 'mine',
    token: 'canary-token',
    authentication: { scheme: 'Bearer', credentials: 'canary-credentials' },
  };
  const ids = await parkedOverAll(agent.url, receiver, canary);
  const answers: unknown[] = [];
  for (const [index, surface] of surfaces.entries()) {
    const client = await officialClient(agent.url, surface);
    const taskId = ids[index] ?? '';
    const named = { tenant: '', taskId };
    answers.push(
      await client.getTask({ ...named, id: taskId }),
      await client.getTaskPushNotificationConfig({ ...named, id: 'mine' }),
      await client.listTaskPushNotificationConfig({ ...named, pageSize: 0, pageToken: '' }),
      await client.cancelTask({ ...named, id: taskId, metadata: undefined }),
    );
    await receiver.received(pathOf(surface), 3);
  }
  const headers = receiver.all(pathOf(surfaces[0] as Surface)).at(-1)?.headers;
  expect(headers).toMatchObject({
    authorization: 'Bearer canary-credentials',
    'x-a2a-notification-token': 'canary-token',
  });
  await agent.stop();
  const events = readLog(agent.auditPath);
  const bodies = surfaces.flatMap((surface) =>
    receiver.all(pathOf(surface)).map(({ body }) => body),
  );
  expect(JSON.stringify([answers, agent.log, events, bodies])).not.toContain('canary');
});

it.each(surfaces)(
  'a private address over $version $transport is refused where the configuration permits none',
  async (surface) => {
    const receiver = await aReceiver();
    const agent = await startTestAgent({ security: reaching().security });
    const client = await officialClient(agent.url, surface);
    const refused = (url: string) =>
      failureOf(client.sendMessage(sending(paying, { taskPushNotificationConfig: { url } })));
    const name = 'RequestMalformedError';
    expect(await refused(`http://127.0.0.1:${receiver.port}/`)).toEqual({
      name,
      message: 'egress blocked: 127.0.0.1 is not on the allowlist (mode=allowlist)',
    });
    expect(await refused('http://169.254.169.254/latest')).toEqual({
      name,
      message: 'egress blocked: 169.254.169.254 is not on the allowlist (mode=allowlist)',
    });
    expect((await agent.get('/tasks')).body).toEqual({ tasks: [] });
  },
);
