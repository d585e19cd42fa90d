import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { startModelServer } from '../helpers/model-server.ts';
import { cleanUp, holdpoint, startCommand, temporaryFolder } from './holdpoint.ts';

afterAll(cleanUp);

it('an agent is created, gets a skill, and runs an approved call of it, with the log verified', async () => {
  const mock = await startModelServer();
  const directory = join(await temporaryFolder(), 'desk');
  const at = ['--dir', directory];
  const run = async (...words: string[]) => {
    const ended = await holdpoint(words);
    expect(ended).toMatchObject({ code: 0 });
    return ended.stdout;
  };
  const server = ['--provider', 'openai-compatible', '--model', 'gpt-5', '--base-url'];
  await run('init', 'desk', ...at, ...server, `${mock.url}/v1`, '--held', 'datetime_now', '--yes');
  onTestFinished(async () => void (await holdpoint(['serve', 'stop', ...at])));
  await run('serve', 'start', ...at, '--port', '0');
  await run('skills', 'add', 'json-diff', ...at, '--yes');
  const file = join(directory, 'service.yaml');
  const service = parse(readFileSync(file, 'utf8')) as any;
  service.security.defer.tools.json_diff = { to: 'channel:console:*', timeout: '20m' };
  writeFileSync(file, stringify(service));
  await run('serve', 'stop', ...at);
  await run('serve', 'start', ...at, '--port', '0');
  const args = { before: '{"price": 5}', after: '{"price": 7}' };
  const diff = { name: 'json_diff', arguments: JSON.stringify(args) };
  mock.on({ userMessage: 'What has changed', hasToolResult: false }, { toolCalls: [diff] });
  mock.on({ userMessage: 'What has changed', hasToolResult: true }, { content: 'The price.' });
  const sent = startCommand(['task', 'send', 'What has changed?', ...at]);
  const task = await vi.waitUntil(
    async () => {
      const { stdout } = await holdpoint(['task', 'deferrals', ...at, '--json']);
      return /"task_id":\s*"([^"]+)"/.exec(stdout)?.[1];
    },
    { timeout: 60_000, interval: 200 },
  );
  await run('task', 'approve', task, ...at);
  expect((await sent.ended).stdout).toContain('The price.');
  expect(JSON.stringify(mock.getRequests().at(-1)?.body)).toContain('price');
  expect(await run('audit', 'verify', join(directory, '.service/audit.ndjson'))).toContain(
    'intact',
  );
  const log = readFileSync(join(directory, '.service/audit.ndjson'), 'utf8');
  expect(log).toContain('"task_deferred_decision"');
});
