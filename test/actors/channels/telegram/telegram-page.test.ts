import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../../../helpers/agent-folder.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { startInFolder } from '../../../helpers/test-agent.ts';

const page = readFileSync(
  fileURLToPath(new URL('../../../../docs/telegram.md', import.meta.url)),
  'utf8',
);

/** The blocks of the page in YAML, without the indentation of the list they are in. */
const blocks = [...page.matchAll(/^( *)```yaml\n(.*?)```/gms)].map(([, indent = '', text = '']) =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
);

it('the page shows files that allow the people that they name', async () => {
  const [service, telegram] = blocks;
  expect(service).toBe('channels: [telegram]\n');
  const fake = await FakeTelegram.start();
  const folder = new AgentFolder({ channels: ['telegram'] });
  onTestFinished(() => folder.remove());
  const file = `${telegram}  api_url: ${fake.apiUrl}\n`;
  writeFileSync(join(folder.path, 'telegram-config.yaml'), file);
  await startInFolder(folder, { TELEGRAM_BOT_TOKEN: fake.token });
  fake.say({ text: 'hello' });
  fake.say({ text: 'hello', user: { id: 8, username: 'eve' }, chat: 8 });
  await fake.reached('sendMessage', 2);
  const said = fake.called('sendMessage').map(({ chat_id: chat, text }) => [chat, text]);
  expect(new Map(said as [number, string][])).toEqual(
    new Map([
      [7, 'echo: hello'],
      [8, expect.stringContaining('Your Telegram id is 8')],
    ]),
  );
});
