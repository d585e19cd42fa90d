import { Connections } from './connections.ts';
import { type Daemon, makeAgentFolder, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { percentile } from './load.ts';
import { startProgram } from './program.ts';

const rounds = 5;
const turns = 100;
const tokens = 20;

/** What asks a model: `ask` resolves when the whole answer is there. */
interface Asked {
  pool: Connections;
  request: () => { method: 'POST'; path: string; headers: Record<string, string>; body: string };
  /** Whether a string of the stream holds the first token. */
  hasToken: (text: string) => boolean;
}

/** What the agent adds to a turn of a model, and to its first token, over asking the provider itself. */
export async function turnFigures(): Promise<Figure[]> {
  const provider = await startProgram('chat-server.ts');
  const folder = makeAgentFolder({
    model: `{provider: openai-compatible, name: rate-0-${tokens}, base_url: "${provider.url}/v1"}`,
  });
  const daemon = await startDaemon(folder.directory);
  const [raw, ours] = [new Connections(provider.url), new Connections(daemon.url)];
  try {
    const asked = {
      raw: { pool: raw, request: completion, hasToken: (text: string) => text.includes('tok~') },
      send: { pool: ours, request: () => send('/tasks/send', 'a'), hasToken: () => true },
      progress: { pool: ours, request: () => send('/tasks/sendSubscribe', 'b'), hasToken: isToken },
      a2a: { pool: ours, request: a2aStream, hasToken: (text: string) => text.includes('tok~') },
    };
    return await inTurns(daemon, asked);
  } finally {
    await Promise.all([raw.close(), ours.close()]);
    await daemon.stop();
    await provider.stop();
    folder.remove();
  }
}

async function inTurns(daemon: Daemon, asked: Record<string, Asked>): Promise<Figure[]> {
  const whole: Record<string, number[]> = {};
  const first: Record<string, number[]> = {};
  let cpu = 0;
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, subject] of Object.entries(asked)) {
      const began = await daemon.cpu();
      for (let turn = 0; turn < turns; turn += 1) {
        const { toFirst, toEnd } = await ask(subject);
        // The first round warms up.
        if (round < 0) continue;
        (whole[name] ??= []).push(toEnd);
        (first[name] ??= []).push(toFirst);
      }
      if (round >= 0 && name === 'send') cpu += (await daemon.cpu()) - began;
    }
  }
  const p = (values: number[] = [], share = 0.5) => `${percentile(values, share).toFixed(2)} ms`;
  const both = (values: number[] = []) => `p50 ${p(values)}, p95 ${p(values, 0.95)}`;
  const added = percentile(whole['send'] ?? [], 0.5) - percentile(whole['raw'] ?? [], 0.5);
  const figure = (what: string, measured: string): Figure => ({ what, measured, aim: '' });
  const length = `a turn of ${tokens} tokens that come at once`;
  return [
    figure(`${length}, of the provider itself`, both(whole['raw'])),
    figure(`${length}, through the agent (POST /tasks/send)`, both(whole['send'])),
    figure(
      `${length}: what the agent adds, and its CPU`,
      `${added.toFixed(2)} ms, ${(cpu / rounds / turns).toFixed(2)} ms`,
    ),
    figure('first token, of the provider itself', both(first['raw'])),
    figure('first token, POST /tasks/sendSubscribe', both(first['progress'])),
    figure('first token, message/stream of A2A', both(first['a2a'])),
  ];
}

/** Asks once, and returns the milliseconds to the first token and to the end. */
async function ask({
  pool,
  request,
  hasToken,
}: Asked): Promise<{ toFirst: number; toEnd: number }> {
  const began = performance.now();
  const { statusCode, body } = await pool.request(request());
  let toFirst = Number.NaN;
  let text = '';
  for await (const chunk of body) {
    text += String(chunk);
    if (Number.isNaN(toFirst) && hasToken(text)) toFirst = performance.now() - began;
  }
  if (statusCode !== 200 || !text.includes('tok~')) throw new Error(`${statusCode} ${text}`);
  return { toFirst, toEnd: performance.now() - began };
}

const isToken = (text: string) => text.includes('"phase":"token"');

let count = 0;

const post = (path: string, body: object) => ({
  method: 'POST' as const,
  path,
  headers: { 'content-type': 'application/json', 'a2a-version': '0.3' },
  body: JSON.stringify(body),
});

const said = { role: 'user', parts: [{ kind: 'text', text: 'hello' }] };

function completion() {
  const messages = [{ role: 'user', content: 'hello' }];
  return post('/v1/chat/completions', { model: `rate-0-${tokens}`, stream: true, messages });
}

function send(path: string, kind: string) {
  count += 1;
  return post(path, { id: `${kind}${count}`, message: { ...said, messageId: `m${count}` } });
}

function a2aStream() {
  count += 1;
  const message = { kind: 'message', messageId: `m${count}`, ...said };
  return post('/', { jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } });
}
