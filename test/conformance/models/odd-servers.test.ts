import { describe, expect, it } from 'vitest';
import { chatEvent, keys, startRawModel, wires } from '../../helpers/model-server.ts';
import { startTestAgent, textOf } from '../../helpers/test-agent.ts';

/** An event of the chat wire, of any shape. */
const event = (json: object) => `data: ${JSON.stringify(json)}\n\n`;

const end = 'data: [DONE]\n\n';

const said = (text: string) => `${chatEvent({ content: text })}${chatEvent({}, 'stop')}${end}`;

function asked(called: object, finish = 'tool_calls'): string {
  const call = { index: 0, id: 'c1', type: 'function', function: called };
  return `${chatEvent({ tool_calls: [call] })}${chatEvent({}, finish)}${end}`;
}

/** What a model server sends, and the outcome: an answer, or the arguments with which the call ran. */
const shapes: [name: string, answer: string, becomes: string][] = [
  [
    'counts tokens in an event without choices',
    `${chatEvent({ content: 'Hi.' })}${chatEvent({}, 'stop')}${event({ usage: { prompt_tokens: 3, completion_tokens: 2 } })}${end}`,
    'Hi.',
  ],
  [
    'counts tokens in an event whose choices are null',
    `${chatEvent({ content: 'Hi.' })}${chatEvent({}, 'stop')}${event({ choices: null, usage: { prompt_tokens: 3, completion_tokens: 2 } })}${end}`,
    'Hi.',
  ],
  [
    'counts tokens in texts',
    `${chatEvent({ content: 'Hi.' })}${chatEvent({}, 'stop')}${event({ choices: [], usage: { prompt_tokens: '3', completion_tokens: 'two' } })}${end}`,
    'Hi.',
  ],
  [
    'gives no index to its choices',
    `${event({ choices: [{ delta: { content: 'Hi.' } }] })}${event({ choices: [{ delta: {}, finish_reason: 'stop' }] })}${end}`,
    'Hi.',
  ],
  [
    'names no role',
    `${chatEvent({ role: '', content: 'Hi.' })}${chatEvent({}, 'stop')}${end}`,
    'Hi.',
  ],
  ['sends arguments as an object', asked({ name: 'echo', arguments: { n: 1 } }), '{"n":1}'],
  ['repeats arguments whole', asked({ name: 'echo', arguments: '{"n":1}{"n":1}' }), '{"n":1}'],
  [
    'sends an empty object before the arguments',
    asked({ name: 'echo', arguments: '{}{"n":1}' }),
    '{"n":1}',
  ],
  [
    'encodes arguments twice',
    asked({ name: 'echo', arguments: JSON.stringify('{"n":1}') }),
    '{"n":1}',
  ],
  [
    'sends two objects that differ',
    asked({ name: 'echo', arguments: '{"n":1}{"n":2}' }),
    'the arguments of echo are not valid JSON: wrong at character 7',
  ],
  [
    'leaves a special token in the name',
    asked({ name: 'echo<|channel|>commentary', arguments: '{"n":1}' }),
    '{"n":1}',
  ],
  [
    'leaves its namespace in the name',
    asked({ name: 'functions.echo', arguments: '{"n":1}' }),
    '{"n":1}',
  ],
  [
    'writes the name with capitals',
    asked({ name: 'Echo', arguments: '{"n":1}' }),
    'unknown tool: Echo; the nearest is echo',
  ],
  [
    'sends thoughts alone',
    `${chatEvent({ reasoning_content: 'Hm.' })}${chatEvent({}, 'stop')}${end}`,
    'openai-compatible m answered with thoughts and no answer; ask again in other words',
  ],
];

const wire = { ...wires, 'openai at another address': wires['openai chat'] };

describe.each(['openai-compatible', 'openai at another address'] as const)('%s', (name) => {
  it.each(shapes)('a server that %s', async (_, answer, becomes) => {
    let turns = 0;
    const url = await startRawModel((response) => {
      turns += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(turns === 1 ? answer : said('done'));
    });
    const model = { name: 'm', ...wire[name](url), on_tool_error: 'fail' };
    const agent = await startTestAgent({ model }, { env: keys });
    const message = { parts: [{ kind: 'text', text: 'go' }] };
    const task = await agent.post('/tasks/send', { task: { id: 't1', message } });
    const ran = agent.audit('t1').find(({ event: kind }) => kind === 'tool_exec');
    const text = textOf(task);
    expect(text === 'done' ? ran?.fields?.['args_size'] : text).toEqual(
      becomes.startsWith('{')
        ? Buffer.byteLength(becomes)
        : becomes.replace('openai-compatible', name.split(' ')[0]!),
    );
  });
});

it('a call in plain text is an answer, and the log has the reason', async () => {
  const url = await startRawModel((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(said('<tool_call>{"name": "echo", "arguments": {}}</tool_call>'));
  });
  const agent = await startTestAgent(
    { model: { name: 'm', ...wires['openai-compatible'](url) } },
    { env: keys },
  );
  const message = { parts: [{ kind: 'text', text: 'go' }] };
  expect((await agent.post('/tasks/send', { task: { id: 't1', message } })).status).toBe(200);
  expect(
    agent.log.filter(({ level }) => level === 'warn').map(({ message: text }) => text),
  ).toContain(
    'model: a tool call arrived as text and was not run; enable the tool parser of the model server',
  );
});
