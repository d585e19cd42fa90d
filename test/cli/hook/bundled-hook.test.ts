import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { startTestAgent } from '../../helpers/test-agent.ts';
import { bundleOnce } from '../../tooling/bundle-once.ts';
import { cleanUp, type Ended, startProcess } from '../holdpoint.ts';

afterAll(cleanUp);

/** Prints the files and the clients of Node's own that the process loaded. */
const probe = `process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => file !== __filename);
  const clients = process.moduleLoadList.filter((name) => /undici|esm_loader|zlib/.test(name));
  require('node:fs').writeSync(2, JSON.stringify({ files, clients }));
});`;

const event = JSON.stringify({
  ...{ session_id: 's-1', hook_event_name: 'PreToolUse', tool_name: 'Bash' },
  ...{ tool_use_id: 'toolu_01', tool_input: { command: 'ls' } },
});

const allowed =
  '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}\n';

async function runFile(file: string, words: string[], flags: string[] = []): Promise<Ended> {
  const dist = dirname(await bundleOnce());
  const options = { input: event };
  return await startProcess(process.execPath, [...flags, join(dist, file), ...words], options)
    .ended;
}

it('the hook of the package is one file, and loads no client but http', async () => {
  const { folder } = await startTestAgent({ gate: { tools: { '*': {} } } });
  const place = mkdtempSync(join(tmpdir(), 'holdpoint-probe-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const required = join(place, 'probe.cjs');
  writeFileSync(required, probe);
  const words = ['hook', 'claude-code', '--dir', folder.path];
  const { code, stdout, stderr } = await runFile('hook.cjs', words, ['--require', required]);
  expect([code, stdout]).toEqual([0, allowed]);
  const file = join(dirname(await bundleOnce()), 'hook.cjs');
  expect(JSON.parse(stderr)).toEqual({ files: [file], clients: [] });
});

it('the command of the package runs the same hook', async () => {
  const { folder } = await startTestAgent({ gate: { tools: { '*': {} } } });
  const words = ['hook', 'claude-code', '--dir', folder.path];
  expect(await runFile('cli.js', words)).toEqual({
    ...{ code: 0, signal: null, stdout: allowed, stderr: '' },
  });
});

it.each(['hook.cjs', 'cli.js'])('a hook that fails blocks the call: %s', async (file) => {
  expect(await runFile(file, ['hook', 'vim'])).toEqual({
    ...{ code: 2, signal: null, stdout: '' },
    stderr:
      'Holdpoint blocked the call: name one coding agent: claude-code, codex, cursor, copilot, opencode\n',
  });
});
