import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import {
  beginChat,
  chatEvent,
  endChat,
  keys,
  startRawModel,
  wires,
} from '../../helpers/model-server.ts';
import { deferring, startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { eventJson, officialClient, sending, surfaces } from './official-client.ts';
import { openStream, wireSurfaces } from './wire-surfaces.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A model that says what a test has it say, while it says it. */
class TalkedModel {
  readonly #asked: ServerResponse[] = [];
  #wake: () => void = () => undefined;

  /** Starts an agent that asks this model. */
  async agent(settings: object = {}): Promise<TestAgent> {
    const url = await startRawModel((response) => {
      this.#asked.push(response);
      this.#wake();
    });
    const model = { name: 'm', ...wires['openai-compatible'](url) };
    return startTestAgent({ ...settings, model }, { env: keys });
  }

  /** Resolves with the next request once it is there. */
  async asked(): Promise<ServerResponse> {
    for (;;) {
      const response = this.#asked.shift();
      if (response !== undefined) return response;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

const call = {
  tool_calls: [
    { index: 0, id: 'c1', type: 'function', function: { name: 'pay', arguments: '{"amount":5}' } },
  ],
};

/** Ends a turn by asking for a call. */
function endWithCall(response: ServerResponse): void {
  response.end(`${chatEvent(call)}${chatEvent({}, 'tool_calls')}data: [DONE]\n\n`);
}

/** Reads chunks until they contain a string, as pieces of one turn of the event loop are sent together. */
async function chunksUntil(
  next: () => Promise<any>,
  text: string,
): Promise<{ text: string; append: boolean }> {
  const chunks: { text: string; append: boolean }[] = [];
  const said = () => chunks.map((chunk) => chunk.text).join('');
  while (said() !== text) {
    const { artifactUpdate } = await next();
    const { append = false, artifact } = artifactUpdate;
    chunks.push({ append, text: artifact.parts.map((part: any) => part.text).join('') });
  }
  return { text: said(), append: chunks[0]?.append ?? false };
}

/** What one event says, in one line. */
function gist({ task, statusUpdate, artifactUpdate }: any): string {
  if (task !== undefined) return `task ${task.status.state}`;
  if (statusUpdate !== undefined) return `status ${statusUpdate.status.state}`;
  const { append = false, lastChunk = false, artifact } = artifactUpdate;
  const text = artifact.parts.map((part: any) => part.text).join('');
  return `${append ? 'append' : 'anew'}${lastChunk ? ' last' : ''} ${JSON.stringify(text)}`;
}

/** The official client of HTTP+JSON 0.3.0 does not read that a chunk is appended, so it gets the answer whole at last. */
const isLossy = ({ version, transport }: { version: string; transport: string }) =>
  version === '0.3' && transport === 'HTTP+JSON';

describe.each(surfaces)('tokens for the official client of $version over $transport', (surface) => {
  const more = isLossy(surface) ? 'anew' : 'append';
  const lastOf = (answer: string) =>
    isLossy(surface) ? `anew last "${answer}"` : 'append last ""';
  const start = async (settings?: object) => {
    const model = new TalkedModel();
    const agent = await model.agent(settings);
    const client = await officialClient(agent.url, surface);
    const read = (stream: AsyncGenerator<any>) => async () =>
      eventJson((await stream.next()).value);
    return { model, agent, client, read };
  };

  it('arrive during the model turn, and the last chunk completes the answer', async () => {
    const { model, agent, client, read } = await start();
    const next = read(client.sendMessageStream(sending({ parts: [{ text: 'hello' }] })));
    const task = await next();
    const speech = await model.asked();
    expect([gist(task), gist(await next())]).toEqual([
      'task TASK_STATE_SUBMITTED',
      'status TASK_STATE_WORKING',
    ]);
    beginChat(speech, 'It ');
    expect(await next()).toEqual({
      artifactUpdate: {
        taskId: task.task.id,
        contextId: task.task.contextId,
        artifact: {
          artifactId: `${task.task.id}:response`,
          name: 'response',
          parts: [{ text: 'It ' }],
        },
      },
    });
    speech.write(chatEvent({ content: 'is ' }));
    speech.write(chatEvent({ content: 'paid.' }));
    expect(await chunksUntil(next, 'is paid.')).toEqual({
      append: !isLossy(surface),
      text: 'is paid.',
    });
    endChat(speech);
    expect([gist(await next()), gist(await next())]).toEqual([
      lastOf('It is paid.'),
      'status TASK_STATE_COMPLETED',
    ]);
    const { body } = await agent.get(`/tasks/${task.task.id}`);
    expect(body.artifacts[0].parts).toEqual([{ kind: 'text', text: 'It is paid.' }]);
  });

  it('of a turn with a call are no part of the answer', async () => {
    const { model, agent, client, read } = await start(deferring());
    const next = read(client.sendMessageStream(sending({ parts: [{ text: 'pay' }] })));
    const { id } = (await next()).task;
    await next();
    const first = await model.asked();
    beginChat(first, 'I shall ', 'pay.');
    expect(await chunksUntil(next, 'I shall pay.')).toEqual({
      append: false,
      text: 'I shall pay.',
    });
    endWithCall(first);
    expect(gist(await next())).toBe('status TASK_STATE_AUTH_REQUIRED');
    await agent.decide(id, { decision: 'approve' });
    expect(gist(await next())).toBe('status TASK_STATE_WORKING');
    const second = await model.asked();
    beginChat(second, 'I shall ');
    expect(gist(await next())).toBe('anew "I shall "');
    second.write(chatEvent({ content: 'rest.' }));
    expect(gist(await next())).toBe(`${more} "rest."`);
    endChat(second);
    expect([gist(await next()), gist(await next())]).toEqual([
      lastOf('I shall rest.'),
      'status TASK_STATE_COMPLETED',
    ]);
  });

  it('begin with the whole turn for a late subscriber', async () => {
    const { model, client, read } = await start();
    const stream = client.sendMessageStream(sending({ parts: [{ text: 'hello' }] }));
    const next = read(stream);
    const { id } = (await next()).task;
    await next();
    const speech = await model.asked();
    beginChat(speech, 'It ', 'is ');
    await chunksUntil(next, 'It is ');
    const joined = read(client.resubscribeTask({ tenant: '', id }));
    expect([gist(await joined()), gist(await joined())]).toEqual([
      'task TASK_STATE_WORKING',
      'anew "It is "',
    ]);
    speech.write(chatEvent({ content: 'paid.' }));
    expect(gist(await joined())).toBe(`${more} "paid."`);
    endChat(speech);
    expect([gist(await joined()), gist(await joined())]).toEqual([
      lastOf('It is paid.'),
      'status TASK_STATE_COMPLETED',
    ]);
  });
});

describe.each(wireSurfaces)('tokens in a stream of $name', (surface) => {
  it('are chunks of the only artifact, one event each', async () => {
    const model = new TalkedModel();
    const agent = await model.agent();
    const asked = { message: surface.saying('hello') };
    const stream = await openStream(agent, surface, 'stream', asked);
    const next = async () => surface.resultOf((await stream.next())?.data);
    const speech = await model.asked();
    const first = await next();
    const { id, contextId } = first.task ?? first;
    await next();
    beginChat(speech, 'It ');
    const part = surface.name === 'JSON-RPC 0.3.0' ? { kind: 'text' } : {};
    const artifact = (text: string) =>
      expect.objectContaining({ artifactId: `${id}:response`, parts: [{ ...part, text }] });
    const whole = { taskId: id, contextId };
    const begun = await next();
    expect(begun.artifactUpdate ?? begun).toMatchObject({ ...whole, artifact: artifact('It ') });
    speech.write(chatEvent({ content: 'is.' }));
    const more = await next();
    expect(more.artifactUpdate ?? more).toMatchObject({
      ...whole,
      append: true,
      artifact: artifact('is.'),
    });
    endChat(speech);
    const isWhole = surface.name === 'HTTP+JSON 0.3.0';
    const last = await next();
    expect(last.artifactUpdate ?? last).toMatchObject({
      ...whole,
      ...(isWhole ? {} : { append: true }),
      lastChunk: true,
      artifact: artifact(isWhole ? 'It is.' : ''),
    });
    const ended = await next();
    const { status } = ended.statusUpdate ?? ended;
    expect(status.state).toBe(surface.state('completed'));
    expect(status.message).toBeUndefined();
  });

  it('of a failed model leave no answer', async () => {
    const model = new TalkedModel();
    const agent = await model.agent();
    const asked = { message: surface.saying('hello') };
    const stream = await openStream(agent, surface, 'stream', asked);
    const speech = await model.asked();
    beginChat(speech, 'It ');
    const isChunk = ({ data }: { data: any }) => {
      const result = surface.resultOf(data);
      return (result.artifactUpdate ?? result).artifact !== undefined;
    };
    const [begun] = await stream.until(isChunk);
    const first = surface.resultOf(begun?.data);
    speech.destroy();
    const rest = (await stream.rest()).map(({ data }) => surface.resultOf(data));
    expect(rest).toHaveLength(1);
    const [failed] = rest;
    expect((failed.statusUpdate ?? failed).status.state).toBe(surface.state('failed'));
    const { id } = first.task ?? first;
    expect((await agent.get(`/tasks/${id}`)).body.artifacts ?? []).toEqual([]);
  });
});
