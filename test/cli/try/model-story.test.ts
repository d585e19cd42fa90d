import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Interruption } from '../../../src/cli/interruption.ts';
import { Output } from '../../../src/cli/output.ts';
import { StdinText } from '../../../src/cli/stdin-text.ts';
import type { Thinker } from '../../../src/cli/try/thinker.ts';
import { tryAgent } from '../../../src/cli/try/try.ts';
import { canaryKey, startModelServer, startRawModel } from '../../helpers/model-server.ts';

vi.setConfig({ testTimeout: 30_000 });

const refund = { order_id: 'A-1042', amount: 89.9, reason: 'it arrived broken' };
const asking = 'Please refund order A-1042';

/** Plays with a model at `url`: the story, or a chat of `lines`. Answers what it printed, and its failure. */
async function play(url: string, { isJson = false, lines = [] as string[] } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'holdpoint-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const directory = join(folder, 'kept');
  const env = { PATH: process.env['PATH'], ANTHROPIC_API_KEY: canaryKey };
  const isTTY = lines.length > 0;
  const stdout = Object.assign(new PassThrough(), { isTTY });
  const stderr = new PassThrough();
  const streams = { stdout, stderr, env, isDebug: false, mayColour: false };
  const typed = Object.assign(new PassThrough(), { isTTY });
  typed.write(lines.map((line) => `${line}\n`).join(''));
  const stdin = typed as unknown as NodeJS.ReadStream;
  const session = {
    output: new Output({ ...streams, isJson }),
    interruption: new Interruption((reason) => {
      throw reason;
    }),
    env,
    stdin,
    input: new StdinText(stdin),
    passphrase: { value: null, fromStdin: false },
  };
  const thinker: Thinker = {
    provider: 'anthropic',
    model: 'some-model',
    keyVariable: 'ANTHROPIC_API_KEY',
    urlVariable: null,
    baseUrl: `${url}/v1`,
  };
  const printed = text(stdout);
  const failure = await tryAgent(session, { keep: directory }, async () => ({ thinker })).then(
    () => null,
    (error: unknown) => error,
  );
  stdout.end();
  return { printed: await printed, failure, directory };
}

function calls(name: string, args: object) {
  return { toolCalls: [{ name, arguments: JSON.stringify(args) }] };
}

/** A model that does what it was instructed to, and asks for `wanted`. */
function obeys(mock: LLMock, wanted: object = refund): void {
  const read = (result: string) => ({ userMessage: asking, toolResultContains: result });
  mock.on(read('refund_id":"R-'), { content: 'The 89.90 EUR are on their way.' });
  mock.on(read('Desk lamp, brass'), calls('issue_refund', wanted));
  mock.on(
    { userMessage: asking, hasToolResult: false },
    calls('lookup_order', { order_id: 'A-1042' }),
  );
}

async function everyByteOf(directory: string): Promise<string> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = files
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
  return (await Promise.all(paths.map((path) => readFile(path, 'latin1')))).join('\n');
}

describe('the story with a model', () => {
  it('holds the refund that the model calls, and shows its key nowhere', async () => {
    const mock = await startModelServer();
    obeys(mock);
    const { printed, failure, directory } = await play(mock.url);
    expect(failure).toBeNull();
    expect(printed).toContain('\nThinks with: anthropic some-model (ANTHROPIC_API_KEY)\n');
    expect(printed).toMatch(/^ {3}tool {7}issue_refund$/m);
    expect(printed).toContain('   data/orders.csv has not changed\n\n3. A person releases it\n');
    expect(printed).toContain('\n   The 89.90 EUR are on their way.\n');
    expect(printed).toMatch(/^ {3}after {3}A-1042,.*,refunded,R-[0-9a-f]{12},89\.90,/m);
    expect(printed).toMatch(/\n {3}receipt {3}verified {2}\d+ events, chain intact, \d+ signed\n$/);
    expect(printed + (await everyByteOf(directory))).not.toContain(canaryKey);
  });

  it('asks a model for the refund, and gives it no script', async () => {
    const mock = await startModelServer();
    obeys(mock);
    await play(mock.url, { isJson: true });
    const sent = JSON.stringify(mock.getRequests().map(({ body }) => body));
    expect(sent).toContain('call issue_refund with its number');
    expect(sent).not.toMatch(/\bscript\b/);
  });

  it('holds each call of a model that refunds more than was requested', async () => {
    const mock = await startModelServer();
    const after = (order: string) => ({
      userMessage: asking,
      toolResultContains: `"order_id":"${order}","amount":`,
    });
    mock.on(after('A-1001'), { content: 'Both are on their way.' });
    mock.on(after('A-1042'), calls('issue_refund', { order_id: 'A-1001', reason: 'why not' }));
    obeys(mock);
    const { printed, failure } = await play(mock.url);
    expect(failure).toBeNull();
    expect(printed.match(/^\d\. .*$/gm)).toEqual([
      '1. A customer requests a refund and waits for the answer',
      '2. The agent has looked the order up and wants to pay; that call is held',
      '3. A person releases it',
      '4. The agent calls issue_refund again; that call is held too',
      '5. A person releases it',
      '6. The request is answered',
      '7. The log proves it',
    ]);
  });

  it('sends the model the refusal of the tool, and shows its answer', async () => {
    const mock = await startModelServer();
    const read = { userMessage: asking, toolResultContains: '999.00 EUR is more than' };
    mock.on(read, { content: 'I cannot pay back that much.' });
    obeys(mock, { ...refund, amount: 999 });
    const { failure, directory, printed } = await play(mock.url);
    expect(failure).toBeNull();
    expect(printed).toContain('I cannot pay back that much.');
    expect(await readFile(join(directory, 'data', 'orders.csv'), 'utf8')).toBe(
      await readFile('examples/refunds/data/orders.csv', 'utf8'),
    );
  });

  it('reports plainly when the model requests no refund, and exits normally', async () => {
    const mock = await startModelServer();
    mock.on({ userMessage: asking }, { content: 'I would rather not.' });
    const { printed, failure } = await play(mock.url);
    expect(failure).toBeNull();
    expect(printed).toContain(
      `\n2. The model answered without calling issue_refund, so nothing was held
   I would rather not.
   data/orders.csv has not changed; `,
    );
    expect(printed).toMatch(/\n {3}log {7}verified {2}\d+ events, chain intact, \d+ signed\n$/);
  });

  it('reports a refund without a request as null to programs', async () => {
    const mock = await startModelServer();
    mock.on({ userMessage: asking }, { content: 'I would rather not.' });
    const { printed } = await play(mock.url, { isJson: true });
    const { deferral, before, after, audit } = JSON.parse(printed) as Record<string, unknown>;
    expect({ deferral, audit }).toMatchObject({ deferral: null, audit: { ok: true } });
    expect(after).toBe(before);
  });

  it('states the remedy when the provider refuses the key', async () => {
    const url = await startRawModel((response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `bad key ${canaryKey}` } }));
    });
    const { failure } = await play(url);
    expect(failure).toMatchObject({
      message: expect.stringMatching(
        /^the story went wrong: the task is failed: anthropic refused the key in ANTHROPIC_API_KEY \(401\); /,
      ),
      hint: 'unset ANTHROPIC_API_KEY, or play the script with: holdpoint try --scripted',
      exitCode: 1,
    });
  });
});

describe('the chat with a model', () => {
  it('sends the model the earlier messages, and asks inline before a refund is paid', async () => {
    const mock = await startModelServer();
    obeys(mock);
    mock.on({ userMessage: 'my name is Aino' }, { content: 'Hello Aino.' });
    const lines = ['my name is Aino', `${asking}, it arrived broken`, 'y', 'exit'];
    const { printed, failure, directory } = await play(mock.url, { lines });
    expect(failure).toBeNull();
    expect(printed).toContain('Thinks with: anthropic some-model (ANTHROPIC_API_KEY)\n');
    expect(printed).toContain('This call waits for a person:');
    expect(printed).toContain('agent> The 89.90 EUR are on their way.\n');
    const told = mock.getRequests().map(({ body }) => JSON.stringify(body));
    expect(told.map((body) => body.includes('Hello Aino.'))).toEqual([false, true, true, true]);
    expect(await readFile(join(directory, 'data', 'orders.csv'), 'utf8')).toMatch(
      /^A-1042,.*,refunded,R-[0-9a-f]{12},89\.90,it arrived broken,/m,
    );
    const service = await readFile(join(directory, 'service.yaml'), 'utf8');
    expect(service).toMatch(/^agent_id: refunds\n/);
  });
});
