import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it, vi } from 'vitest';
import { cleanUp, holdpoint, refundAgent, startDaemon, startProcess } from '../cli/holdpoint.ts';

const bin = fileURLToPath(new URL('../../bin', import.meta.url));

afterAll(cleanUp);

/** An agent in a folder of its own, with what its console says. */
async function anAgent() {
  const directory = await refundAgent();
  const daemon = await startDaemon(directory);
  const lines: string[] = [];
  const { stderr } = daemon.child;
  if (stderr === null) throw new Error('the daemon has no console');
  createInterface({ input: stderr }).on('line', (line) => {
    const { adapter, msg } = JSON.parse(line) as { adapter?: string; msg: string };
    if (adapter === 'console') lines.push(msg);
  });
  return {
    daemon,
    /** Resolves with the first line from the console that holds some words. */
    async said(words: string): Promise<string> {
      const found = () => lines.find((line) => line.includes(words));
      await vi.waitUntil(() => found() !== undefined, { timeout: 20_000, interval: 20 });
      return found()?.trim() ?? '';
    },
  };
}

/** Runs a line as a person does who copies it from the console into a shell. */
function pasted(command: string, directory: string) {
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  return startProcess('sh', ['-c', command], { cwd: directory, env }).ended;
}

it('the console shows the command that releases a held call, and the person who released it', async () => {
  const { daemon, said } = await anAgent();
  const { directory } = daemon;
  const sent = holdpoint(['task', 'send', 'refund', '--id', 't-1', '--dir', directory]);
  const approve = await said('holdpoint task approve');
  expect(await pasted(approve, directory)).toMatchObject({ code: 0, stderr: '' });
  const ended = await said('issue_refund of task t-1');
  expect(ended).toMatch(/^issue_refund of task t-1 was approved by \S+$/);
  expect((await sent).code).toBe(0);
  expect((await daemon.stop()).code).toBe(0);
});

it('the console shows the command that rejects a held call, which works once', async () => {
  const { daemon, said } = await anAgent();
  const { directory } = daemon;
  const sent = holdpoint(['task', 'send', 'refund', '--id', 't-2', '--dir', directory]);
  const reject = (await said('holdpoint task reject')).replace('WHY', "'too much'");
  expect(await pasted(reject, directory)).toMatchObject({ code: 0, stderr: '' });
  expect(await said('issue_refund of task t-2')).toMatch(/^.* was rejected by \S+: too much$/);
  expect((await sent).code).toBe(1);
  expect((await pasted(reject, directory)).code).toBe(1);
  await daemon.stop();
});
