import { describe, expect, it } from 'vitest';
import type { EventReader } from '../../helpers/event-reader.ts';
import { beginChat, chatEvent, endChat, startRawModel } from '../../helpers/model-server.ts';
import { builderKey, openBuilder } from '../../helpers/skill-writer.ts';
import type { TestDashboard } from '../../helpers/test-dashboard.ts';
import { forecast, weather, writtenDown } from '../../helpers/weather-skill.ts';

const path = '/api/agents/till/skill-builder/chat';
const asking = (content: string) => [{ role: 'user', content }];

async function heard(
  page: TestDashboard,
  body: object,
): Promise<{ name: string; data: unknown }[]> {
  const stream = await page.stream(path, { body });
  return all(stream);
}

async function all(stream: EventReader) {
  return (await stream.rest()).map(({ event = '', data }) => ({ name: event, data }));
}

const namesOf = (events: { name: string }[]) =>
  events.map(({ name }) => name).filter((name, index, names) => name !== names[index - 1]);

const said = (events: { name: string; data: unknown }[]) =>
  events
    .filter(({ name }) => name === 'token')
    .map(({ data }) => (data as { text: string }).text)
    .join('');

describe('a conversation with the skill builder', () => {
  it('is sent token by token, then as a message, a draft and its end', async () => {
    const { page, mock } = await openBuilder();
    const answer = writtenDown(weather, { 'forecast.sh': forecast });
    mock.on({ userMessage: 'the weather' }, { content: answer });
    const events = await heard(page, { messages: asking('Write one for the weather') });
    expect(namesOf(events)).toEqual(['token', 'message', 'skill_draft', 'done']);
    expect(events.filter(({ name }) => name === 'token').length).toBeGreaterThan(1);
    expect(said(events)).toBe(answer);
    expect(events.slice(-3)).toEqual([
      { name: 'message', data: { content: 'Here it is.' } },
      { name: 'skill_draft', data: { skill_md: weather, scripts: { 'forecast.sh': forecast } } },
      { name: 'done', data: {} },
    ]);
  });

  it('is an interview while the model asks', async () => {
    const { page, mock } = await openBuilder();
    mock.on({ userMessage: 'weather' }, { content: '{"message": "Which city?", "skill": null}' });
    const events = await heard(page, { messages: asking('the weather') });
    expect(events.slice(-2)).toEqual([
      { name: 'message', data: { content: 'Which city?' } },
      { name: 'done', data: {} },
    ]);
  });

  it('ends with only `done` when the model returns nothing', async () => {
    const address = await startRawModel((response) => {
      beginChat(response);
      endChat(response);
    });
    const { page } = await openBuilder({ address });
    expect(await heard(page, { messages: asking('Hello') })).toEqual([{ name: 'done', data: {} }]);
  });

  it('sends the model the messages, the prompt of `context` and the key', async () => {
    const { page, mock } = await openBuilder();
    mock.on({ userMessage: 'and now' }, { content: 'Yes.' });
    const messages = [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'asked' },
      { role: 'user', content: 'and now' },
    ];
    await heard(page, { messages });
    const { body: context } = await page.get('/api/agents/till/skill-builder/context');
    const [request] = mock.getRequests();
    expect(request?.body).toMatchObject({
      model: 'gpt-5',
      messages: [{ role: 'system', content: context.system_prompt }, ...messages],
    });
    expect(context.system_prompt).toContain('## Tool: <name>');
    expect(context.system_prompt).not.toContain('Edit Mode');
    expect(request?.headers?.['authorization']).not.toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['no messages', {}],
    ['no message', { messages: [] }],
    ['an empty message', { messages: asking(' ') }],
    ['a last message of the model', { messages: [{ role: 'assistant', content: 'a' }] }],
    ['a system message', { messages: [{ role: 'system', content: 'a' }, ...asking('b')] }],
    ['more than 200 messages', { messages: Array.from({ length: 201 }, () => asking('a')[0]) }],
    ['more than a megabyte', { messages: asking('x'.repeat(1024 * 1024 + 1)) }],
    ['no name of the edited skill', { messages: asking('a'), mode: 'edit' }],
    ['another mode', { messages: asking('a'), mode: 'delete' }],
  ])('is refused with %s', async (_, body) => {
    const { page } = await openBuilder();
    expect((await page.post(path, body)).status).toBe(400);
  });

  it('is refused without a model, or without its key', async () => {
    const { page } = await openBuilder({ isSet: false });
    const body = { messages: asking('Hello') };
    const answers = [await page.post(path, body)];
    await page.request('PUT', '/api/settings/skill-builder', {
      body: { provider: 'anthropic', model: 'claude-sonnet-4-5' },
    });
    answers.push(await page.post(path, body));
    expect(answers.map(({ status, body: { error } }) => [status, error])).toEqual([
      [400, 'no model writes skills yet; name one in the settings of the skill builder'],
      [400, 'there is no key in ANTHROPIC_API_KEY; give it in the settings'],
    ]);
  });

  it('is refused for a missing agent', async () => {
    const { page } = await openBuilder();
    const body = { messages: asking('Hello') };
    expect((await page.post('/api/agents/nobody/skill-builder/chat', body)).status).toBe(404);
  });
});

describe('a model that is hostile or fails', () => {
  it.each([
    ['../../etc/cron.d/x', 'the name of a script'],
    ['.bashrc', 'the name of a script'],
  ])('and names a script %s is reported, without a draft', async (name, words) => {
    const { page, mock } = await openBuilder();
    mock.on({ userMessage: 'x' }, { content: writtenDown(weather, { [name]: forecast }) });
    const events = await heard(page, { messages: asking('x') });
    expect(namesOf(events)).toEqual(['token', 'message', 'error']);
    expect(events.at(-1)?.data).toEqual({ error: expect.stringContaining(words) });
  });

  it('and stops in the middle of a file leaves no draft', async () => {
    const address = await startRawModel((response) => {
      beginChat(response, 'Here:\n```skill.md\n---\nname: half\n');
      response.end(`${chatEvent({}, 'length')}data: [DONE]\n\n`);
    });
    const { page } = await openBuilder({ address });
    const events = await heard(page, { messages: asking('x') });
    expect(events.at(-1)).toEqual({
      name: 'error',
      data: { error: 'openai gpt-5 ran out of tokens; request less at once' },
    });
    expect(namesOf(events)).not.toContain('skill_draft');
  });

  it('and whose connection breaks is reported', async () => {
    const address = await startRawModel((response) => {
      beginChat(response, 'Here');
      setImmediate(() => response.destroy());
    });
    const { page } = await openBuilder({ address });
    const events = await heard(page, { messages: asking('x') });
    expect(events.at(-1)).toEqual({
      name: 'error',
      data: { error: 'the answer of openai gpt-5 broke off; try again' },
    });
  });

  it('that never ends is stopped at a megabyte', async () => {
    const left = Promise.withResolvers<void>();
    const address = await startRawModel((response) => {
      beginChat(response);
      const event = chatEvent({ content: 'x'.repeat(64 * 1024) });
      const write = (): void => {
        while (!response.destroyed && response.write(event));
      };
      response.on('drain', write).on('close', () => left.resolve());
      write();
    });
    const { page } = await openBuilder({ address });
    const events = await heard(page, { messages: asking('x') });
    expect(events.at(-1)).toEqual({
      name: 'error',
      data: { error: 'the answer is longer than 1 MiB; ask for less' },
    });
    expect(said(events).length).toBeLessThanOrEqual(1024 * 1024);
    await left.promise;
  });

  it('is canceled once the client disconnects', async () => {
    const left = Promise.withResolvers<void>();
    const address = await startRawModel((response) => {
      beginChat(response, 'Wait');
      response.on('close', () => left.resolve());
    });
    const { page } = await openBuilder({ address });
    const stream = await page.stream(path, { body: { messages: asking('x') } });
    await stream.until(({ event }) => event === 'token');
    stream.leave();
    await left.promise;
  });

  it.each([
    [401, 'refused the key (401)'],
    [404, 'does not know the model (404)'],
    [429, 'is rate limited (429)'],
    [500, 'failed (500)'],
    [302, 'answered with a redirect (302)'],
  ])(
    'and answers %i is reported in our own text, without the key (WEB-8)',
    async (status, words) => {
      const address = await startRawModel((response, request) => {
        const { authorization } = request.headers;
        response.writeHead(status, {
          'content-type': 'application/json',
          location: 'http://evil.test',
        });
        response.end(JSON.stringify({ error: { message: `wrong key: ${authorization}` } }));
      });
      const { page, log } = await openBuilder({ address });
      const events = await heard(page, { messages: asking('x') });
      expect(events).toEqual([{ name: 'error', data: { error: expect.stringContaining(words) } }]);
      expect(JSON.stringify([events, log])).not.toContain(builderKey);
    },
  );
});
