import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { scriptPath } from '../../../../src/actors/process/process.ts';
import { isolate, isVisible } from '../../../../src/actors/tools/sandbox/sandbox.ts';
import { isWithoutBwrap, needsBwrap } from './needs-bwrap.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'visible-')));
const agent = join(root, 'agent');
const view = {
  agentDirectory: agent,
  hidden: [join(agent, 'data/tasks.db')],
  writable: [join(agent, 'work')],
};
const files = [
  ...['server.mjs', 'lib/a.mjs', 'data/open.csv', 'data/tasks.db', 'data/tasks.db-wal'],
  ...[
    'service.yaml',
    'slack-config.yaml',
    'lib/service.yaml',
    '.env',
    'lib/.env.local',
    'lib/id_rsa',
  ],
  ...['secrets/a.txt', 'skills/secrets/SKILL.md', 'lib/token.txt', 'lib/token.mjs'],
  ...['node_modules/shop/token.json', 'work/token.txt', '.service/runtime.token'],
];
for (const file of files) {
  mkdirSync(join(agent, file, '..'), { recursive: true });
  writeFileSync(join(agent, file), 'x');
}
writeFileSync(join(root, 'outside.mjs'), 'x');
symlinkSync('../outside.mjs', join(agent, 'out.mjs'));
symlinkSync('lib/a.mjs', join(agent, 'in.mjs'));
symlinkSync('/usr/bin/env', join(agent, 'env'));

const paths = [
  ...files.map((file) => join(agent, file)),
  ...['out.mjs', 'in.mjs', 'env', '.'].map((name) => join(agent, name)),
  ...[join(root, 'outside.mjs'), '/usr/bin/env', '/bin/sh', '/etc/passwd', '/etc/hostname'],
];

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Asks a program in the sandbox which of the paths it can read. */
async function seen(): Promise<string[]> {
  const home = mkdtempSync(join(root, 'home-'));
  // A hidden file is an empty device, and a hidden folder is empty.
  const ask =
    'for f; do if test -f "$f" && ! test -s "$f" || ! test -e "$f"; then :; else test -c "$f" || echo "$f"; fi; done';
  const { program, args } = await isolate('/bin/sh', ['-c', ask, 'sh', ...paths], {
    ...view,
    ...{ level: 'bwrap', home, proxy: null, timeout: 20_000 },
  });
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    env: { PATH: scriptPath },
  });
  return (await text(child.stdout!)).split('\n').filter((line) => line !== '');
}

describe('the visibility of a path in the sandbox', () => {
  describe.skipIf(isWithoutBwrap)('follows the rule', () => {
    needsBwrap();

    it('for files in the folder of the agent, links, and files of the system', async () => {
      const visible = await Promise.all(paths.map((path) => isVisible(path, view)));
      expect(paths.filter((_, index) => visible[index])).toEqual(await seen());
    });
  });

  it('excludes home and temporary folders, and folders above that of the agent', async () => {
    const places = [homedir(), tmpdir(), root, '/', '/etc'];
    expect(await Promise.all(places.map((path) => isVisible(path, view)))).toEqual(
      places.map(() => false),
    );
  });
});
