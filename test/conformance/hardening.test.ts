import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { cleanUp, refundAgent } from '../cli/holdpoint.ts';
import { storeEnvironment } from '../helpers/kept-store.ts';
import { type RawAnswer, rawRequest } from '../helpers/raw-request.ts';
import { commandFile, compileCache } from '../helpers/real-command.ts';

afterAll(cleanUp);

/** Runs an agent that may open only so many files, until the test has finished. */
async function runWithFiles(files: number): Promise<{ child: ChildProcess; url: string }> {
  const directory = await refundAgent();
  const run = `ulimit -n ${files}; exec "$0" --disable-warning=ExperimentalWarning "$@"`;
  const args = ['run', '--no-auth', '--dir', directory, '--port', '0'];
  const child = spawn('sh', ['-c', run, process.execPath, commandFile(), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...storeEnvironment(), NODE_COMPILE_CACHE: compileCache() },
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, url: /http:\S+/.exec(String(line))?.[0] ?? '' };
}

/** Connects from one of the addresses `127.0.0.2` and on, and begins a request. */
async function hold(url: string, host: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const localAddress = `127.0.0.${host}`;
  const socket = connect({ port: Number(port), host: hostname, localAddress });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write('GET /tasks HTTP/1.1\r\nHost: a\r\nX-A: ');
  return socket;
}

const request = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

it('the agent answers other callers while one address opens every connection it can', async () => {
  const { child, url } = await runWithFiles(256);
  const held: Socket[] = [];
  onTestFinished(() => held.forEach((socket) => void socket.destroy()));
  for (let round = 0; round < 3; round += 1) {
    held.push(...(await Promise.all(Array.from({ length: 100 }, () => hold(url, 2)))));
    const others = await Promise.all([
      ...Array.from({ length: 5 }, () => rawRequest(url, request)),
      ...Array.from({ length: 5 }, () => rawRequest(url, request, '127.0.0.3')),
    ]);
    expect(others.map(({ status }) => status)).toEqual(Array(10).fill(200));
  }
  expect(child.exitCode).toBeNull();
});

it('the agent answers 503 without free file descriptors, and recovers', async () => {
  const { child, url } = await runWithFiles(256);
  const held = await Promise.all(Array.from({ length: 124 }, (_, n) => hold(url, 2 + (n % 4))));
  onTestFinished(() => held.forEach((socket) => void socket.destroy()));
  const refused: RawAnswer = await rawRequest(url, request);
  expect([refused.status, refused.body, refused.headers['retry-after']]).toEqual([
    503,
    '{"error":"too many connections; try again","code":"too_many_connections"}',
    '1',
  ]);
  held.push(...(await Promise.all(Array.from({ length: 300 }, () => hold(url, 9)))));
  for (const socket of held) socket.destroy();
  await vi.waitUntil(
    async () => (await fetch(`${url}/healthz`).catch(() => null))?.status === 200,
    {
      timeout: 10_000,
    },
  );
  expect(child.exitCode).toBeNull();
});
