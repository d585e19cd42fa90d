import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createWebhookAdapter } from '../../../../src/actors/channels/webhook/webhook-adapter.ts';
import { webhookEvent } from '../../../../src/actors/channels/webhook/webhook-event.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';
import { anEgress } from '../../outbound/egress/an-egress.ts';
import { aNotice } from './a-notice.ts';
import { type RawPost, RawReceiver } from './raw-receiver.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const page = readFileSync(join(root, 'docs/webhook.md'), 'utf8');

const secret = `whsec_${Buffer.from('canary-secret-of-32-bytes-012345').toString('base64')}`;

const environment = { PATH: process.env['PATH'] ?? '', OPS_WEBHOOK_SECRET: secret };

let folder: string;
let genuine: RawPost;

/** Writes the block of the page in some language that holds some words into the folder of the test. */
function written(language: string, words: string, file: string): string {
  const blocks = [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))];
  const block = blocks.map(([, text]) => text).find((text) => text?.includes(words));
  if (block === undefined) throw new Error(`the page shows no ${language} with ${words}`);
  writeFileSync(join(folder, file), block);
  return join(folder, file);
}

async function posted(): Promise<RawPost> {
  const receiver = await RawReceiver.open();
  const { egress } = anEgress();
  const url = `http://ops.example.test:${receiver.port}/`;
  const adapter = createWebhookAdapter({
    settings: { dashboardUrl: null, targets: { ops: { url, secret } } },
    agentUrl: () => 'http://127.0.0.1:8080',
    agentId: 'refunds',
    outbound: egress,
    clock: new ManualClock(Date.now()),
  });
  await adapter.deliver(aNotice(), new AbortController().signal);
  const [post] = receiver.posts;
  if (post === undefined) throw new Error('nothing was posted');
  return post;
}

const tampered = (post: RawPost): RawPost => ({ ...post, body: post.body.replace('40', '41') });

beforeEach(async () => {
  folder = temporaryFolder();
  genuine = await posted();
});

describe('the checks on the page', () => {
  it('work in Node', async () => {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const receiver = spawn(process.execPath, [written('js', 'createServer', 'receiver.mjs')], {
      env: { ...environment, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void receiver.kill());
    const lines = createInterface({ input: receiver.stdout });
    const [ready] = await once(lines, 'line');
    const port = /:(\d+)$/.exec(String(ready))?.[1];
    const answered = (post: RawPost) =>
      fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: post.headers as Record<string, string>,
        body: post.body,
      });
    const said = once(lines, 'line');
    const answers = [await answered(genuine), await answered(tampered(genuine))];
    expect(answers.map(({ status }) => status)).toEqual([204, 401]);
    expect(await said).toEqual(['approval.requested issue_refund pays back 40 € for order A-1042']);
  });

  it('work in Python', () => {
    written('python', 'is_genuine', 'check.py');
    const script = `import json, sys, check
for post in json.load(sys.stdin):
    print(check.is_genuine(post["body"].encode(), post["headers"]))`;
    const time = Number(genuine.headers['webhook-timestamp']);
    const old = { ...genuine.headers, 'webhook-timestamp': String(time - 301) };
    const { stdout } = spawnSync('python3', ['-c', script], {
      cwd: folder,
      env: environment,
      input: JSON.stringify([genuine, tampered(genuine), { ...genuine, headers: old }]),
      encoding: 'utf8',
    });
    expect(stdout.trim().split(/\s+/)).toEqual(['True', 'False', 'False']);
  });

  it('work in a shell', () => {
    const script = written('sh', 'openssl dgst', 'check.sh');
    const say = ({ body, headers }: RawPost) => {
      writeFileSync(join(folder, 'body.json'), body);
      const { stdout, status } = spawnSync('sh', [script], {
        cwd: folder,
        env: {
          ...environment,
          WEBHOOK_ID: String(headers['webhook-id']),
          WEBHOOK_TIMESTAMP: String(headers['webhook-timestamp']),
          WEBHOOK_SIGNATURE: String(headers['webhook-signature']),
        },
        encoding: 'utf8',
      });
      return [stdout.trim(), status];
    };
    expect([genuine, tampered(genuine)].map(say)).toEqual([
      ['genuine', 0],
      ['forged', 1],
    ]);
  });
});

describe('the page', () => {
  it('shows a posted event, key for key', () => {
    const example = JSON.parse(/```json\n(\{\n.*?)```/s.exec(page)?.[1] ?? '');
    const sender = { agentId: 'refunds', agentUrl: 'http://127.0.0.1', dashboardUrl: null };
    const event = webhookEvent('approval.requested', aNotice({ args: {} }), sender, 0);
    expect(Object.keys(example)).toEqual(Object.keys(event));
    expect(Object.keys(example.data)).toEqual(Object.keys(event.data));
  });
});
