import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { launchAgentProcess } from '../../helpers/agent-process.ts';
import { webClient } from '../../helpers/web-issuer.ts';

const root = join(import.meta.dirname, '../../..');

it('the approvals page is served in a clone without a build', async () => {
  const clone = mkdtempSync(join(tmpdir(), 'clone-'));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  for (const part of ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json']) {
    cpSync(join(root, part), join(clone, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
  const folder = new AgentFolder({
    auth: {
      providers: [
        {
          type: 'static_token',
          name: 'shop',
          settings: { token: 'token-of-the-program', identity: { user_id: 'shop' } },
        },
      ],
    },
    approvals: {
      public_url: 'http://127.0.0.1:4999',
      sign_in: { issuer: 'http://127.0.0.1:4998', client_id: webClient },
    },
  });
  onTestFinished(() => folder.remove());
  const program = join(clone, 'src/cli.ts');
  const agent = await launchAgentProcess(folder, onTestFinished, [], [], {}, program);
  const page = await fetch(`${agent.url}/approvals/`);
  expect([page.status, page.headers.get('content-type')]).toEqual([
    200,
    'text/html; charset=utf-8',
  ]);
}, 300_000);
