import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { decide, startGate } from '../packages/client/a-gate.ts';
import { runCommand } from '../tooling/run-command.ts';
import { clone, fencesOf, readPage } from './fences.ts';

const snippets = fencesOf(readPage('docs/clients.md')).flatMap(({ language, text }) =>
  language === 'ts' ? [text] : [],
);

/** Runs a snippet of the page as a program of its own. */
async function runSnippet(text: string, url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'snippet-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const program = text
    .replaceAll('@holdpoint/client', join(clone, 'packages/client/client.ts'))
    .replaceAll('http://localhost:8080', url);
  writeFileSync(join(folder, 'snippet.ts'), program);
  return runCommand(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'snippet.ts'],
    folder,
  );
}

it('the first call runs as the page shows it', async () => {
  const agent = await startGate();
  const [first = ''] = snippets;
  expect(first.trim().split('\n').length).toBeLessThanOrEqual(10);
  const approved = runSnippet(first, agent.url);
  await decide(agent, { decision: 'approve' });
  expect(await approved).toEqual({ status: 0, stdout: 'ran rm -rf build\n', stderr: '' });
});

it('the message for the model after a rejection is that of the page', async () => {
  const agent = await startGate();
  const rejected = runSnippet(snippets[0] ?? '', agent.url);
  await decide(agent, { decision: 'reject', note: 'keep it' });
  expect(await rejected).toEqual({
    ...{ status: 0, stderr: '' },
    stdout: 'Bash did not run: defer: rejected by unknown: keep it\n',
  });
});

it('the client holds, reports and tests as the page shows it', async () => {
  const agent = await startGate();
  const [first = '', hold = '', test = ''] = snippets;
  const [imports = '', create = ''] = [first.split('\n')[0], first.split('\n')[2]];
  const held = runSnippet(`${imports}\n${create}\n${hold}`, agent.url);
  await decide(agent, { decision: 'approve', note: 'it is old' });
  expect(await held).toMatchObject({
    ...{ status: 0, stdout: "approved { command: 'rm -rf build' } it is old unknown\n" },
  });
  const { status, stdout } = await runSnippet(test, agent.url);
  expect([status, stdout]).toEqual([0, expect.stringContaining("status: 'succeeded'")]);
});
