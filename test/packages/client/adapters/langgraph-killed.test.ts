import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { decide, startGate, waitingIn } from '../a-gate.ts';

it('a LangGraph agent that was killed during its wait resumes with the same hold', {
  timeout: 60_000,
}, async () => {
  const agent = await startGate();
  const folder = mkdtempSync(join(tmpdir(), 'graph-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const ran = join(folder, 'ran');
  const program = join(import.meta.dirname, 'langgraph-process.ts');
  const start = () =>
    spawn(
      process.execPath,
      [
        ...['--disable-warning=ExperimentalWarning', program],
        ...[agent.url, join(folder, 'checkpoints.json'), ran],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
  const first = start();
  const id = await waitingIn(agent);
  first.kill('SIGKILL');
  expect(await once(first, 'exit')).toEqual([null, 'SIGKILL']);
  const second = start();
  const output: Buffer[] = [];
  second.stdout.on('data', (piece: Buffer) => output.push(piece));
  await decide(agent, { decision: 'approve' });
  expect(await once(second, 'close')).toEqual([0, null]);
  expect(Buffer.concat(output).toString()).toBe('ran rm -rf build\n');
  expect(readFileSync(ran, 'utf8')).toBe('rm -rf build\n');
  const asked = agent.audit().filter(({ event }) => event === 'hold_deferred');
  expect(asked.map(({ task_id }) => task_id)).toEqual([id]);
  const { key, outcome } = (await agent.get(`/holds/${id}`)).body;
  expect([key, outcome]).toMatchObject(['thread-1:call-1', { status: 'succeeded' }]);
});
