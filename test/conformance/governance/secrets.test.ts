import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startServer, vectorsBody } from '../../actors/governance/alignment/embedding-server.ts';
import { assumedRole, fakeSts, refusal } from '../../actors/governance/credentials/fake-sts.ts';
import type { Answer } from '../../helpers/agent-client.ts';
import { type GovernedAgent, startGovernedAgent } from '../../helpers/governed-agent.ts';
import { textOfTables } from '../../helpers/kept-tables.ts';

/** Everything that nobody may ever read. */
const secrets = {
  CALLER_TOKEN: 'bearer-canary-7d1f0c',
  LOW_TOKEN: 'bearer-canary-2b9e4a',
  VAULT_KEY: 'vault-canary-55aa01',
  EMBED_KEY: 'embed-canary-90210f',
  BASE_ID: 'AKIDCANARY0001',
  BASE_SECRET: 'base-canary-0f0f0f',
};
const assumed = {
  key: 'ASIACANARY0001',
  secret: 'sts-canary-secret-01',
  token: 'sts-canary-token-02',
};
const values = [...Object.values(secrets), ...Object.values(assumed)];

const stored = (tool: string) => ({
  tool,
  provider: 'static',
  spec: { name: 'PAY_TOKEN', from_env: 'VAULT_KEY' },
});

/** Settings under which every layer is on and lets `pay` go in the end. */
function everything(embedder: string, tokenService: string) {
  const caller = (name: string, token_env: string, acr: string) => ({
    type: 'static_token',
    name,
    settings: { token_env, identity: { user_id: name, claims: { acr } } },
  });
  return {
    auth: {
      required: true,
      providers: [caller('high', 'CALLER_TOKEN', 'gold'), caller('low', 'LOW_TOKEN', 'tin')],
    },
    security: {
      intent_alignment: {
        enabled: true,
        provider: 'openai-compatible',
        base_url: `${embedder}/v1`,
        api_key_env: 'EMBED_KEY',
        drift: {},
      },
      step_up: {
        enabled: true,
        tools: { sign: 'gold', encode: 'gold', fall: 'gold', pay: 'gold' },
      },
      modify: {
        enabled: true,
        tools: {
          sign: {
            arguments: [{ path: 'memo', set: 'made by MODIFY' }],
            output: [{ replace: { pattern: '^key', with: 'the key' } }],
          },
        },
      },
      guardrails: {
        enabled: true,
        deny_prompts: [{ pattern: 'forbidden' }],
        deny_commands: [{ pattern: 'rm -rf' }],
        deny_output: [{ pattern: 'id=', action: 'redact' }],
        redact: ['secrets', 'pii'],
      },
      defer: {
        enabled: true,
        tools: { sign: { to: 'channel:console:desk', timeout: '5m' } },
      },
    },
    credentials: [
      stored('sign'),
      stored('encode'),
      stored('fall'),
      {
        tool: 'pay',
        provider: 'sts_assume_role',
        spec: {
          role_arn: 'arn:aws:iam::123456789012:role/refunds',
          endpoint: tokenService,
          access_key_env: 'BASE_ID',
          secret_key_env: 'BASE_SECRET',
        },
      },
    ],
  };
}

const say = { say: 'heard {result}' };

/** Everything an agent has left behind, in its memory of lines, in its files and in its answers. */
function traces(agent: GovernedAgent, answers: Answer[]): Map<string, Buffer> {
  const folder = join(agent.folder.path, '.service');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const tables = textOfTables(agent.folder.path);
  return new Map([
    ...(tables === null ? [] : [['tables', Buffer.from(tables)] as const]),
    ...files.map((path) => [path, readFileSync(path)] as const),
    ['log', Buffer.from(inspect(agent.log, { depth: Number.POSITIVE_INFINITY }))],
    ['answers', Buffer.from(inspect(answers, { depth: Number.POSITIVE_INFINITY }))],
  ]);
}

/** Names the traces that hold a string, plain or in base64. */
function holding(found: Map<string, Buffer>, text: string): string[] {
  const forms = [
    text,
    Buffer.from(`as ${text}`).toString('base64'),
    Buffer.from(text).toString('base64'),
  ];
  return [...found]
    .filter(([, bytes]) => forms.some((form) => bytes.includes(form)))
    .map(([name]) => name);
}

describe('a run through every layer', () => {
  it('leaves no secret in the audit log, the log, the answers or the store', async () => {
    const embedder = await startServer(({ body }, response) => {
      const vectors = (body as { input: string[] }).input.map(() => [1, 0]);
      response.writeHead(200, { 'content-type': 'application/json' }).end(vectorsBody(vectors));
    });
    const expiration = new Date(Date.now() + 900_000).toISOString();
    const sts = await fakeSts((count) =>
      count === 1
        ? { status: 200, body: assumedRole(assumed, expiration) }
        : { status: 403, body: refusal('AccessDenied', secrets.BASE_SECRET) },
    );
    const agent = await startGovernedAgent(everything(embedder.address, sts.url), { env: secrets });
    const high = agent.as(secrets.CALLER_TOKEN);
    const low = agent.as(secrets.LOW_TOKEN);
    const send = (caller: typeof high, id: string, text: string, script: unknown[]) => {
      const parts = [
        { kind: 'text', text },
        { kind: 'data', data: { script } },
      ];
      return caller.post('/tasks/send', { id, message: { role: 'user', parts } });
    };
    const signing = [{ tool: 'sign', args: { memo: 'x' } }, say];
    const held = send(high, 'approved', 'sign it', signing);
    const isHeld = async () => (await high.get('/tasks/approved')).body.status?.state;
    await expect.poll(isHeld, { interval: 5 }).toBe('deferred');
    const answers = [
      await high.get('/deferrals'),
      await high.decide('approved', { decision: 'approve', approver: 'ann' }),
      await held,
      await send(high, 'encoded', 'encode it', [{ tool: 'encode' }, say]),
      await send(high, 'failed', 'fall', [{ tool: 'fall', args: { text: 'no' } }]),
      await send(high, 'assumed', 'pay', [{ tool: 'pay', args: { amount: 5 } }, say]),
      await send(high, 'unassumed', 'pay', [{ tool: 'pay', args: { amount: 5 } }, say]),
      await send(low, 'challenged', 'sign it', signing),
      await send(high, 'denied', 'the forbidden', signing),
      await send(agent.as(`${secrets.CALLER_TOKEN}x`), 'unknown', 'sign it', signing),
    ];
    expect(answers.slice(2).map(({ status, body }) => [status, textOf(body)])).toEqual([
      [200, 'heard the key=[redacted:credential] [redacted]'],
      [200, expect.stringMatching(/^heard .*\[redacted:credential\].*$/)],
      [200, 'fall failed with exit code 3: {"text":"no"} [redacted]'],
      [200, 'heard {"amount":5}'],
      [
        200,
        'the credential for pay could not be issued: the role may not be assumed; check its trust policy and external_id',
      ],
      [401, 'step_up_required'],
      [200, 'denied by guardrail: forbidden'],
      [401, 'unauthorized'],
    ]);
    const { tasks } = (await high.get('/tasks')).body;
    expect(tasks).toHaveLength(7);
    for (const { id } of tasks) answers.push(await high.get(`/tasks/${id}?decisions=true`));
    expect(sts.requests).toHaveLength(2);
    expect(agent.ran.map(([tool]) => tool)).toEqual(['sign', 'encode', 'fall', 'pay']);

    for (const moment of ['while it runs', 'after it has stopped']) {
      const found = traces(agent, answers);
      // What is no secret is found, so that the search is one.
      expect(holding(found, 'forbidden').map((path) => path.split('/').at(-1))).toEqual(
        expect.arrayContaining([expect.stringMatching(/^(tasks\.db|tables$)/), 'answers']),
      );
      for (const value of values)
        expect({ moment, value, in: holding(found, value) }).toEqual({ moment, value, in: [] });
      if (moment === 'while it runs') await agent.stop();
    }
    for (const value of values.filter((secret) => secret !== secrets.EMBED_KEY)) {
      expect(JSON.stringify(embedder.seen)).not.toContain(value);
    }
  });
});

function textOf(body: any): string {
  return body.error ?? body.status.message.parts[0].text;
}
