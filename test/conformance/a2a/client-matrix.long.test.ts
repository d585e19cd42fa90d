import type { StreamResponse } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { RequestMalformedError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { type AgentProcess, launchAgentProcess } from '../../helpers/agent-process.ts';
import { reached } from '../../helpers/test-agent.ts';
import {
  eventJson,
  officialClient,
  type Surface,
  script,
  sending,
  surfaces,
  taskJson,
  waitingIn,
} from './official-client.ts';
import { approval, PayingTask, paying } from './paying-task.ts';

const desk = { to: 'channel:console:desk', timeout: '5m' };
const hurried = { to: 'channel:console:desk', timeout: '1s' };
const defer = { enabled: true, tools: { pay: desk, grant: hurried } };

const folder = new AgentFolder({ security: { defer } });
const undo: (() => Promise<void>)[] = [];
let agent: AgentProcess;

beforeAll(async () => {
  agent = await launchAgentProcess(folder, (kill) => undo.push(kill));
});

afterAll(async () => {
  for (const step of undo) await step();
  folder.remove();
});

/** The SDK's HTTP+JSON of 0.3 has no room for the names of files and for the history length of a send. */
const isLossy = ({ version, transport }: Surface) => version === '0.3' && transport === 'HTTP+JSON';

describe.concurrent.each(surfaces)('the official client of $version over $transport', (surface) => {
  let client: Client;

  beforeAll(async () => {
    client = await officialClient(agent.url, surface);
  });

  /** A conversation of its own, by which its task is found. */
  const contextOf = (name: string) => `${name} ${surface.version} ${surface.transport}`;

  /** Sends without waiting and resolves with the task once it waits. */
  async function parked(name: string): Promise<PayingTask> {
    const contextId = contextOf(name);
    const answer = await client.sendMessage(
      sending({ ...paying, contextId }, { returnImmediately: true }),
    );
    const { id } = taskJson(answer);
    await reached(agent, id, 'deferred');
    return new PayingTask(id, contextId);
  }

  const read = async ({ id }: { id: string }, historyLength?: number) =>
    taskJson(
      await client.getTask({
        tenant: '',
        id,
        ...(historyLength !== undefined && { historyLength }),
      }),
    );

  it('uses its own version of the protocol', () => {
    const { protocolVersion, transport } = client;
    expect([protocolVersion, transport.protocolName]).toEqual([surface.version, surface.transport]);
  });

  it('gets the task when an approval is needed, and then its further states', async () => {
    const contextId = contextOf('paused');
    const paused = taskJson(await client.sendMessage(sending({ ...paying, contextId })));
    const task = new PayingTask(paused.id, contextId);
    expect(paused).toEqual(task.waiting);
    expect(await read(task)).toEqual(task.waiting);
    const stream = client.resubscribeTask({ tenant: '', id: task.id });
    expect(await nextOf(stream)).toEqual({ task: task.waiting });
    await agent.decide(task.id, approval);
    expect(await restOf(stream)).toEqual(task.approvedEvents);
    expect(await read(task)).toEqual(task.completed);
  });

  it('gets an answer at once on request, and then the further states of the task', async () => {
    const task = await parked('at once');
    expect(await read(task)).toEqual(task.waiting);
    await agent.decide(task.id, approval);
    await reached(agent, task.id, 'completed');
    expect(await read(task)).toEqual(task.completed);
  });

  it('streams through the wait to the end', async () => {
    const contextId = contextOf('streamed');
    const stream = client.sendMessageStream(sending({ ...paying, contextId }));
    const first = await nextOf(stream);
    const task = new PayingTask(first.task.id, contextId);
    expect(first).toEqual({ task: task.submitted });
    expect([await nextOf(stream), await nextOf(stream)]).toEqual(task.heldEvents);
    await agent.decide(task.id, approval);
    expect(await restOf(stream)).toEqual(task.approvedEvents);
  });

  it('reconnects to a task after its stream was cut, and misses nothing', async () => {
    const contextId = contextOf('dropped');
    const drop = new AbortController();
    const dropped = client.sendMessageStream(sending({ ...paying, contextId }), {
      signal: drop.signal,
    });
    const task = new PayingTask((await nextOf(dropped)).task.id, contextId);
    await waitingIn(agent, contextId);
    drop.abort();
    await expect(restOf(dropped)).rejects.toThrow();
    const stream = client.resubscribeTask({ tenant: '', id: task.id });
    expect(await nextOf(stream)).toEqual({ task: task.waiting });
    await agent.decide(task.id, approval);
    expect(await restOf(stream)).toEqual(task.approvedEvents);
  });

  it('cannot reconnect to an ended task', async () => {
    const task = await parked('joined late');
    await agent.decide(task.id, approval);
    await reached(agent, task.id, 'completed');
    const stream = client.resubscribeTask({ tenant: '', id: task.id });
    await expect(stream.next()).rejects.toThrow(
      `task ${task.id} is completed; get it instead of following it`,
    );
  });

  it('cancels a waiting task, once', async () => {
    const task = await parked('canceled');
    const request = { tenant: '', id: task.id, metadata: undefined };
    const canceled = task.ended('CANCELED', 'canceled: external_signal');
    expect(taskJson(await client.cancelTask(request))).toEqual(canceled);
    expect(await read(task)).toEqual(canceled);
    await expect(client.cancelTask(request)).rejects.toMatchObject({
      name: 'TaskNotCancelableError',
      message: `task ${task.id} is canceled and cannot be canceled`,
    });
  });

  it('gets a rejection as the failure of an answered task', async () => {
    const contextId = contextOf('rejected');
    const { id } = taskJson(await client.sendMessage(sending({ ...paying, contextId })));
    await agent.decide(id, { decision: 'reject', approver: 'Ann', note: 'too much' });
    const task = new PayingTask(id, contextId);
    expect(await read(task)).toEqual(task.ended('FAILED', 'defer: rejected by Ann: too much'));
  });

  it('streams to the failure of a task on a timeout', async () => {
    const contextId = contextOf('timed out');
    const granting = script({ tool: 'grant', args: {} });
    const stream = client.sendMessageStream(sending({ ...granting, contextId }));
    const { task } = await nextOf(stream);
    const expected = new PayingTask(task.id, contextId);
    const told = (await restOf(stream)).map(({ statusUpdate }) => statusUpdate.status);
    expect(told).toEqual([
      expected.status('WORKING', null),
      expected.status('AUTH_REQUIRED', 'Waiting for approval of grant'),
      expected.status('FAILED', 'defer: no decision within 1s (auto-deny)'),
    ]);
  });

  it('gets a refusal for a message to an ended task, with the remedy', async () => {
    const task = await parked('ended');
    await agent.decide(task.id, approval);
    await reached(agent, task.id, 'completed');
    const message = { ...paying, taskId: task.id, contextId: task.contextId };
    const failure = await client.sendMessage(sending(message)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnsupportedOperationError);
    expect(failure).toMatchObject({
      message: `task ${task.id} is completed and accepts no message; omit taskId and keep contextId to continue the conversation`,
    });
    const next = await client.sendMessage(
      sending({ parts: [{ text: 'thanks' }], contextId: task.contextId }),
    );
    expect(taskJson(next)).toMatchObject({
      contextId: task.contextId,
      artifacts: [{ parts: [{ text: 'echo: thanks' }] }],
    });
  });

  it('gets the requested part of the history of a task', async () => {
    const task = await parked('history');
    await agent.decide(task.id, approval);
    await reached(agent, task.id, 'completed');
    const { history, ...bare } = task.completed;
    expect(await read(task, 0)).toEqual(bare);
    expect(await read(task, 1)).toEqual({ ...bare, history: history.slice(1) });
    expect(await read(task, 2)).toEqual(task.completed);
  });

  it.skipIf(isLossy(surface))('gets the requested part of the history of a send', async () => {
    const short = await client.sendMessage(
      sending({ parts: [{ text: 'short' }] }, { historyLength: 1 }),
    );
    expect(taskJson(short).history).toEqual([
      expect.objectContaining({ role: 'ROLE_AGENT', parts: [{ text: 'echo: short' }] }),
    ]);
  });

  it('keeps files and data of a message unchanged', async () => {
    const parts: { filename?: string; [kind: string]: unknown }[] = [
      { text: 'look' },
      { data: { order: 7, lines: [{ sku: 'a' }] } },
      { raw: 'AAEC/w==', filename: 'a.bin', mediaType: 'application/octet-stream' },
      { url: 'https://files.example.com/b.pdf', filename: 'b.pdf', mediaType: 'application/pdf' },
    ];
    const kept = isLossy(surface) ? parts.map(({ filename: _, ...part }) => part) : parts;
    const answer = taskJson(await client.sendMessage(sending({ parts })));
    expect(answer.history[0].parts).toEqual(kept);
    expect((await read(answer)).history[0].parts).toEqual(kept);
  });

  it('is refused an extended card without sign-in, and then requests none', async () => {
    const asked = client.transport.getExtendedAgentCard({ tenant: '' });
    // The path of 0.3.0 has the card that everybody sees.
    if (isLossy(surface)) expect((await asked).name).toBe('till');
    else await expect(asked).rejects.toBeInstanceOf(UnsupportedOperationError);
    expect((await client.getAgentCard()).name).toBe('till');
  });

  it('lists the tasks of a conversation, where its version supports it', async () => {
    const task = await parked('listed');
    const listing = {
      tenant: '',
      contextId: task.contextId,
      status: 0,
      pageToken: '',
      statusTimestampAfter: undefined,
    };
    if (surface.version === '0.3') {
      await expect(client.listTasks(listing)).rejects.toThrow('tasks/list');
      return;
    }
    const { history: _, ...listed } = task.waiting;
    const { tasks, ...page } = await client.listTasks(listing);
    expect({ tasks: tasks.map(taskJson), ...page }).toEqual({
      tasks: [listed],
      nextPageToken: '',
      pageSize: 50,
      totalSize: 1,
    });
  });

  it('distinguishes an empty message from an unknown task', async () => {
    const empty = await client.sendMessage(sending({ parts: [] })).catch((error: unknown) => error);
    expect(empty).toBeInstanceOf(RequestMalformedError);
    await expect(read({ id: 'nobody' })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
      message: 'task not found',
    });
  });
});

type Stream = AsyncGenerator<StreamResponse, void, undefined>;

async function nextOf(stream: Stream): Promise<any> {
  const { value } = await stream.next();
  if (value === undefined) throw new Error('the stream has ended');
  return eventJson(value);
}

async function restOf(stream: Stream): Promise<any[]> {
  const events: unknown[] = [];
  for await (const event of stream) events.push(eventJson(event));
  return events;
}
