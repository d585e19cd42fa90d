import { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { type AgentProcess, launchAgentProcess } from '../../helpers/agent-process.ts';
import { deferring, reached } from '../../helpers/test-agent.ts';
import { type ReceivedNote, WebhookReceiver } from '../../helpers/webhook-receiver.ts';
import {
  failureOf,
  officialClient,
  type Surface,
  sending,
  surfaces,
  taskJson,
} from './official-client.ts';
import { approval, inOlderWords, PayingTask, paying } from './paying-task.ts';

const egress = { allowed_domains: ['127.0.0.1'], allow_private_ips: true };
const settings = { ...deferring(), egress };

const folder = new AgentFolder(settings);
const undo: (() => Promise<void>)[] = [];
let agent: AgentProcess;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await WebhookReceiver.open();
  agent = await launchAgentProcess(folder, (kill) => undo.push(kill));
});

afterAll(async () => {
  for (const step of undo) await step();
  await receiver.close();
  folder.remove();
});

const secret = {
  token: 'known-by-this',
  authentication: { scheme: 'Bearer', credentials: 'let-me-in' },
};

describe.concurrent.each(surfaces)('push over $version $transport', (surface) => {
  const { version, transport } = surface;
  const pathOf = (name: string) => `/${name}/${version}/${transport}`;
  const urlOf = (name: string) => `http://127.0.0.1:${receiver.port}${pathOf(name)}`;
  let client: Client;

  beforeAll(async () => {
    client = await officialClient(agent.url, surface);
  });

  async function parked(name: string, config?: object): Promise<PayingTask> {
    const contextId = `${name} ${version} ${transport}`;
    const message = sending(
      { ...paying, contextId },
      { returnImmediately: true, ...(config && { taskPushNotificationConfig: config }) },
    );
    const { id } = taskJson(await client.sendMessage(message));
    await reached(agent, id, 'deferred');
    return new PayingTask(id, contextId);
  }

  it('sends every change in order to a receiver that fails at first', async () => {
    const path = pathOf('failing');
    receiver.answer(path, 500, 'reset');
    const task = await parked('failing', { id: 'mine', url: urlOf('failing'), ...secret });
    await agent.decide(task.id, approval);
    const notes = await receiver.received(path, 6);
    const { waiting, working, completed } = bodiesOf(task, surface);
    expect(notes.map(({ answered, body }) => [answered, withoutRepeats(body)])).toEqual([
      [500, working],
      ['reset', working],
      [200, working],
      [200, waiting],
      [200, working],
      [200, completed],
    ]);
    expect(notes.map(headersOf)).toEqual(notes.map(() => headers(surface)));
  });

  it('stores, shows, lists and deletes receivers, and hides their credentials', async () => {
    const task = await parked('kept');
    const mine = { id: 'mine', taskId: task.id, url: urlOf('kept'), ...secret };
    const { token: _, ...shown } = { ...mine, authentication: { scheme: 'Bearer' } };
    const other = { id: 'other', taskId: task.id, url: urlOf('other') };
    const named = { tenant: '', taskId: task.id, id: 'mine' };
    expect(json(await client.createTaskPushNotificationConfig(config(mine)))).toEqual({
      ...shown,
      token: secret.token,
    });
    expect(json(await client.createTaskPushNotificationConfig(config(other)))).toEqual(other);
    expect(json(await client.getTaskPushNotificationConfig(named))).toEqual(shown);
    const listing = { tenant: '', taskId: task.id, pageSize: 0, pageToken: '' };
    const { configs } = await client.listTaskPushNotificationConfig(listing);
    expect(configs.map(json)).toEqual([shown, other]);
    await client.deleteTaskPushNotificationConfig(named);
    await expect(client.getTaskPushNotificationConfig(named)).rejects.toThrow(
      `task ${task.id} has no push notification config mine`,
    );
    await agent.decide(task.id, approval);
    await receiver.received(pathOf('other'), 2);
    expect(receiver.all(pathOf('kept'))).toEqual([]);
  });

  it('refuses a receiver outside the egress policy, with its reason', async () => {
    const task = await parked('refused');
    const setting = (more: object) =>
      failureOf(
        client.createTaskPushNotificationConfig(config({ id: 'mine', taskId: task.id, ...more })),
      );
    const name = 'RequestMalformedError';
    expect(await setting({ url: 'https://elsewhere.test/' })).toEqual({
      name,
      message: 'egress blocked: elsewhere.test is not on the allowlist (mode=allowlist)',
    });
    expect(await setting({ url: 'ftp://127.0.0.1/' })).toEqual({
      name,
      message: 'the url of a push notification config must be an http(s) URL',
    });
    expect(await setting({ url: urlOf('refused'), token: 'a\nb' })).toEqual({
      name,
      message: 'the token and the credentials must be printable ASCII of at most 4,096 characters',
    });
    const listing = { tenant: '', taskId: task.id, pageSize: 0, pageToken: '' };
    expect(await client.listTaskPushNotificationConfig(listing)).toMatchObject({ configs: [] });
  });

  it('starts no task for a send whose receiver is refused', async () => {
    const contextId = `unstarted ${version} ${transport}`;
    const refused = { taskPushNotificationConfig: { url: 'https://elsewhere.test/' } };
    await expect(client.sendMessage(sending({ ...paying, contextId }, refused))).rejects.toThrow(
      'egress blocked: elsewhere.test is not on the allowlist (mode=allowlist)',
    );
    const { body } = await agent.get('/tasks?limit=100');
    expect(body.tasks.filter((task: any) => task.contextId === contextId)).toEqual([]);
  });
});

const config = (of: object) => TaskPushNotificationConfig.fromJSON(of);
const json = (of: TaskPushNotificationConfig) => TaskPushNotificationConfig.toJSON(of);

/** What a receiver gets while a task continues, in the form of its version. */
/** The tests of the other surfaces pay the same at the same time. */
function withoutRepeats(body: unknown): unknown {
  const text = JSON.stringify(body, (name, value: unknown) =>
    name === 'repeats' ? undefined : value,
  );
  return JSON.parse(text);
}

function bodiesOf({ waiting, working, completed }: PayingTask, { version }: Surface) {
  const write = version === '1.0' ? (task: object) => ({ task }) : inOlderWords;
  return { waiting: write(waiting), working: write(working), completed: write(completed) };
}

function headersOf({ headers: got }: ReceivedNote): object {
  const { 'content-type': type, 'x-a2a-notification-token': token, authorization } = got;
  return { type, token, authorization };
}

function headers({ version }: Surface): object {
  return {
    type: version === '1.0' ? 'application/a2a+json' : 'application/json',
    token: 'known-by-this',
    authorization: 'Bearer let-me-in',
  };
}
