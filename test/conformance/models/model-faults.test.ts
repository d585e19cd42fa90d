import type { ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { desertedUrl } from '../../helpers/deserted-url.ts';
import {
  beginChat,
  canaryKey,
  chatEvent,
  endChat,
  keys,
  startModelServer,
  startRawModel,
  wires,
} from '../../helpers/model-server.ts';
import { startTestAgent, type TestAgent, textOf } from '../../helpers/test-agent.ts';

const ask = (id: string) => ({
  task: { id, message: { parts: [{ kind: 'text', text: 'hello' }] } },
});

/** An agent whose model is at this address. */
function agentAt(url: string, more: object = {}): Promise<TestAgent> {
  const model = {
    name: 'm',
    ...wires['openai-compatible'](url),
    api_key_env: 'MODEL_KEY',
    ...more,
  };
  return startTestAgent({ model }, { env: { ...keys, MODEL_KEY: canaryKey } });
}

/** Expects the daemon to have continued after a failed task, and to have kept the key secret. */
async function expectUnharmed(agent: TestAgent): Promise<void> {
  expect((await agent.get('/readyz')).status).toBe(200);
  expect(
    JSON.stringify([agent.audit(), agent.log, (await agent.get('/tasks')).body]),
  ).not.toContain(canaryKey);
}

const faults: [name: string, answer: (response: ServerResponse) => void, said: RegExp][] = [
  [
    'is reset in the middle of a stream',
    (response) => {
      beginChat(response, 'Hel');
      response.write(chatEvent({ content: 'lo' }), () => response.destroy());
    },
    /^the answer of openai-compatible m broke off; try again$/,
  ],
  [
    'ends its stream before the answer has ended',
    (response) => {
      beginChat(response, 'Hello');
      response.end();
    },
    /^the answer of openai-compatible m broke off; try again$/,
  ],
  [
    'answers with ten megabytes of words',
    (response) => {
      const piece = chatEvent({ content: 'x'.repeat(100_000) });
      beginChat(response);
      for (let count = 0; count < 100; count += 1) response.write(piece);
      endChat(response);
    },
    /^the answer of openai-compatible m is longer than 1 MiB; ask for less at once$/,
  ],
  [
    'answers with one word of ten megabytes',
    (response) => {
      beginChat(response, 'x'.repeat(10_000_000));
      endChat(response);
    },
    /^the answer of openai-compatible m is longer than 1 MiB; ask for less at once$/,
  ],
  [
    'answers with nothing',
    (response) => {
      beginChat(response);
      endChat(response);
    },
    /^openai-compatible m answered with nothing; ask again in other words$/,
  ],
  [
    'answers with a page for people',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end(`<html>${canaryKey}</html>`);
    },
    /could not be read; check that model.base_url serves the API of openai-compatible$/,
  ],
  [
    'answers with what is no JSON',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: {"${canaryKey}\n\n`);
    },
    /could not be read; check that model.base_url serves the API of openai-compatible$/,
  ],
  [
    'refuses with a page of ten megabytes',
    (response) => {
      response.writeHead(400, { 'content-type': 'text/plain' });
      response.end(canaryKey.repeat(500_000));
    },
    /^openai-compatible m rejected the request \(400\)/,
  ],
  [
    'does not know the model',
    (response) => {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `no model for ${canaryKey}` } }));
    },
    /does not know the model m \(404\); fix model.name or model.base_url$/,
  ],
  [
    'is somewhere else',
    (response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:9/v1/chat/completions' });
      response.end();
    },
    /answered with a redirect \(307\), which is not followed/,
  ],
  [
    'gives arguments that are no JSON',
    (response) => {
      beginChat(response);
      const call = { index: 0, id: 'c1', function: { name: 'pay', arguments: '{"amount":' } };
      response.write(chatEvent({ tool_calls: [call] }));
      response.end(`${chatEvent({}, 'tool_calls')}data: [DONE]\n\n`);
    },
    /^the run was ended after 5 model turns .* with: the arguments of pay are not valid JSON: cut off at character 10$/,
  ],
  [
    'reports in the middle of its stream that it is not allowed',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const error = { message: `bad key ${canaryKey}`, type: 'authentication_error' };
      response.end(`data: ${JSON.stringify({ error })}\n\n`);
    },
    /^openai-compatible refused the key in MODEL_KEY \(401\)/,
  ],
  [
    'asks for more calls than anybody could rule on',
    (response) => {
      beginChat(response);
      for (let index = 0; index < 2_000; index += 1) {
        const call = { index, id: `c${index}`, function: { name: 'pay', arguments: '{}' } };
        response.write(chatEvent({ tool_calls: [call] }));
      }
      response.end(`${chatEvent({}, 'tool_calls')}data: [DONE]\n\n`);
    },
    /^openai-compatible m asked for more than 100 calls at once; ask for less at once$/,
  ],
];

describe('a model that', () => {
  it.each(faults)('%s fails the task with one message', async (_, answer, said) => {
    const url = await startRawModel(answer);
    const agent = await agentAt(url);

    const failed = await agent.post('/tasks/send', ask('t1'));

    expect(failed.body.status.state).toBe('failed');
    expect(textOf(failed)).toMatch(said);
    expect(agent.folder.paid).toEqual([]);
    await expectUnharmed(agent);
  });

  it('sends a long error blocks nothing', async () => {
    // A pattern that looks to the end from each of its beginnings takes a minute for this.
    const error = { message: 'token count '.repeat(50_000), type: 'invalid_request_error' };
    const url = await startRawModel((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ error })}\n\n`);
    });
    const agent = await agentAt(url);
    const lag = monitorEventLoopDelay({ resolution: 5 });
    lag.enable();
    const failed = await agent.post('/tasks/send', ask('t1'));
    lag.disable();
    expect(textOf(failed)).toMatch(/^openai-compatible m rejected the request \(400\)/);
    expect(lag.max / 1e6).toBeLessThan(5_000);
  });

  it('cannot be reached fails the task with the remedy', async () => {
    const agent = await agentAt(desertedUrl);
    const failed = await agent.post('/tasks/send', ask('t1'));
    expect(textOf(failed)).toBe(
      `openai-compatible at ${desertedUrl} could not be reached (ECONNREFUSED); check model.base_url and the network`,
    );
    await expectUnharmed(agent);
  });

  it('never ends its stream is aborted at its time limit, and its connection is closed', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await startRawModel((response) => {
      response.on('close', closed.resolve);
      beginChat(response, 'on ');
      const timer = setInterval(() => response.write(chatEvent({ content: 'and on ' })), 20);
      response.on('close', () => clearInterval(timer));
    });
    const agent = await agentAt(url, { timeout: '300ms' });

    const failed = await agent.post('/tasks/send', ask('t1'));

    expect(textOf(failed)).toBe(
      'openai-compatible m did not finish its answer within 300ms; raise model.timeout if it needs longer',
    );
    await closed.promise;
    await expectUnharmed(agent);
  });

  it('is being called when its task is canceled has its connection closed', async () => {
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const url = await startRawModel((response) => {
      response.on('close', closed.resolve);
      beginChat(response, 'let me ');
      asked.resolve();
    });
    const agent = await agentAt(url);
    const sent = agent.post('/tasks/send', ask('t1'));
    await asked.promise;

    await agent.post('/tasks/t1/cancel', { reason: 'cost_limit_exceeded' });

    await closed.promise;
    expect((await sent).body.status).toMatchObject({ state: 'canceled' });
    await expectUnharmed(agent);
  });

  it.each([429, 529, 503])(
    'answers %d is replaced by its fallback, and not called for a while',
    async (status) => {
      const mock = await startModelServer();
      const second = await startModelServer();
      mock.on({ userMessage: 'hello' }, { error: { message: canaryKey }, status, retryAfter: 60 });
      second.on({ userMessage: 'hello' }, { content: 'Hello from the second.' });
      const fallback = { name: 'f', ...wires.anthropic(second.url) };
      const agent = await agentAt(mock.url, { fallbacks: [fallback] });

      const answers = [
        await agent.post('/tasks/send', ask('t1')),
        await agent.post('/tasks/send', ask('t2')),
      ];

      expect(answers.map(textOf)).toEqual(['Hello from the second.', 'Hello from the second.']);
      const called = agent.audit().filter(({ event }) => event === 'llm_call');
      expect(
        called.map(({ task_id, fields }) => [
          task_id,
          fields?.['model'],
          'error' in (fields ?? {}),
        ]),
      ).toEqual([
        ['t1', 'm', true],
        ['t1', 'f', false],
        ['t2', 'f', false],
      ]);
      // The first one is left alone while it cools down.
      expect([mock.getRequests().length, second.getRequests().length]).toEqual([1, 2]);
      await expectUnharmed(agent);
    },
  );

  it.each([400, 401, 403])(
    'answers %d fails the task, and no fallback is called',
    async (status) => {
      const mock = await startModelServer();
      const second = await startModelServer();
      mock.on({ userMessage: 'hello' }, { error: { message: canaryKey }, status });
      const fallback = { name: 'f', ...wires.anthropic(second.url) };
      const agent = await agentAt(mock.url, { fallbacks: [fallback] });

      const failed = await agent.post('/tasks/send', ask('t1'));

      expect(textOf(failed)).toContain(`(${status})`);
      expect(second.getRequests()).toEqual([]);
      await expectUnharmed(agent);
    },
  );

  it('fails after its words were streamed is not called again, nor is its fallback', async () => {
    let asked = 0;
    const url = await startRawModel((response) => {
      asked += 1;
      beginChat(response, 'Dear ');
      response.write(chatEvent({ content: 'customer' }), () => response.destroy());
    });
    const second = await startModelServer();
    const fallback = { name: 'f', ...wires.anthropic(second.url) };
    const agent = await agentAt(url, { fallbacks: [fallback] });

    const failed = await agent.post('/tasks/send', ask('t1'));

    expect(textOf(failed)).toBe('the answer of openai-compatible m broke off; try again');
    expect([asked, second.getRequests().length]).toEqual([1, 0]);
  });
});
