import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import type { SinkStats } from '../../../../src/actors/records/sinks/audit-sinks.ts';

it('a process continues when its output is not read, and delivers it later', async () => {
  const script = join(import.meta.dirname, 'stdout-process.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [[stats]] = (await once(child, 'message')) as [SinkStats[]];
  expect(stats).toEqual({
    name: 'stdout',
    state: 'open',
    delivered: expect.any(Number),
    dropped: 0,
    lag: 5_000 - (stats?.delivered ?? 0),
  });
  expect(stats?.lag).toBeGreaterThan(3_000);
  child.send('go on');
  const written = await text(child.stdout!);
  const numbers = written
    .trimEnd()
    .split('\n')
    .map((line) => Number(line.split(' ')[0]));
  expect(numbers).toEqual(Array.from({ length: 5_000 }, (_, index) => index));
});
