import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../../helpers/agent-folder.ts';
import type { StreamedEvent } from '../../helpers/event-reader.ts';
import {
  beginChat,
  chatEvent,
  endChat,
  keys,
  startModelServer,
  startRawModel,
  wires,
} from '../../helpers/model-server.ts';
import { launchAgent, startInFolder, startTestAgent } from '../../helpers/test-agent.ts';

const message = (text: string) => ({ message: { parts: [{ kind: 'text', text }] } });

/** The folder of an agent whose model is at this address, with a skill without scripts. */
function folderWith(url: string, instructions: ServiceSettings['instructions']): AgentFolder {
  const model = { name: 'm', ...wires['openai-compatible'](url) };
  const folder = new AgentFolder({
    model,
    ...(instructions === undefined ? {} : { instructions }),
  });
  mkdirSync(join(folder.path, 'skills'));
  const tone = '---\nname: tone\ndescription: How to talk.\n---\nAnswer in one sentence.\n';
  writeFileSync(join(folder.path, 'skills', 'tone.md'), tone);
  writeFileSync(join(folder.path, 'AGENT.md'), 'You work at the till.\n');
  return folder;
}

it.each(['You work at the till.', { file: 'AGENT.md' }])(
  'the model receives its instructions and the skills without scripts, and every tool: %j',
  async (instructions) => {
    const mock = await startModelServer();
    mock.on({ systemMessage: 'You work at the till.' }, { content: 'Yes.' });
    const agent = await startInFolder(folderWith(mock.url, instructions));

    await agent.post('/tasks/send', { task: { id: 't1', ...message('hello') } });

    const body = mock.getLastRequest()?.body as { messages: object[]; tools: any[] };
    expect(body.messages).toEqual([
      {
        role: 'system',
        content: 'You work at the till.\n\n# Skill: tone\n\nAnswer in one sentence.',
      },
      { role: 'user', content: 'hello' },
    ]);
    expect(body.tools.map((tool) => tool.function)).toContainEqual({
      name: 'pay',
      description: 'Does what pay does.',
      parameters: { type: 'object' },
    });
  },
);

it.each([
  ['../../../../../../etc/hostname', 'leads out of the folder of the agent'],
  ['out.md', 'leads out of the folder of the agent'],
  ['gone.md', 'does not exist'],
  ['skills', 'are not a file'],
])('the agent does not start with instructions at %s', async (file, why) => {
  const folder = folderWith('http://127.0.0.1:1', { file });
  symlinkSync('/etc/hostname', join(folder.path, 'out.md'));
  const start = launchAgent({}, { folder });
  await expect(start).rejects.toMatchObject({
    problems: [{ path: 'instructions.file', message: expect.stringContaining(why) }],
  });
  folder.remove();
});

it('the words of the model are streamed as they arrive', async () => {
  const heard = Promise.withResolvers<void>();
  const url = await startRawModel((response) => {
    beginChat(response, 'Good ');
    void heard.promise.then(() => {
      response.write(chatEvent({ content: 'morning.' }));
      endChat(response);
    });
  });
  const model = { name: 'm', ...wires['openai-compatible'](url) };
  const agent = await startTestAgent({ model });
  const stream = await agent.stream('/tasks/sendSubscribe', {
    body: { task: { id: 't1', ...message('hello') } },
  });
  const word = ({ event, data }: StreamedEvent) => event === 'progress' && data.text;
  const first = await stream.until((event) => word(event) === 'Good ');
  heard.resolve();
  const rest = await stream.untilState('completed');
  const words = [...first, ...rest].map(word).filter(Boolean);
  expect(words).toEqual(['Good ', 'morning.']);
});

it('the model may be called while tools may reach nothing, and no tool may call it', async () => {
  const mock = await startModelServer();
  const toolCalls = [{ name: 'http_request', arguments: JSON.stringify({ url: mock.url }) }];
  mock.on({ userMessage: 'ask it' }, { toolCalls });
  const model = {
    name: 'm',
    ...wires['openai-compatible'](mock.url),
    on_tool_error: 'fail',
  };
  const settings = { model, egress: { mode: 'deny-all' }, builtin_tools: ['http_request'] };
  const agent = await startTestAgent(settings as ServiceSettings, { env: keys });

  const failed = await agent.post('/tasks/send', { task: { id: 't1', ...message('ask it') } });

  expect(failed.body.status.message.parts[0].text).toContain('egress blocked: 127.0.0.1');
  expect(mock.getRequests()).toHaveLength(1);
  const hops = agent.audit('t1').filter(({ event }) => event.startsWith('egress_'));
  expect(hops.map(({ event }) => event)).toEqual(['egress_allowed', 'egress_blocked']);
});

it('nothing that a caller names is fetched', async () => {
  let fetched = 0;
  const elsewhere = await startRawModel((response) => {
    fetched += 1;
    response.end('secret');
  });
  const mock = await startModelServer();
  mock.on({ userMessage: /./ }, { content: 'I see.' });
  const model = { name: 'm', ...wires.google(mock.url) };
  const agent = await startTestAgent({ model, egress: { mode: 'dev-open' } }, { env: keys });
  const file = { uri: `${elsewhere}/picture.png`, mimeType: 'image/png' };
  const parts = [
    { kind: 'text', text: 'look' },
    { kind: 'file', file },
  ];
  const { body } = await agent.post('/tasks/send', { task: { id: 't1', message: { parts } } });
  expect([body.status.state, fetched]).toEqual(['completed', 0]);
});
