import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { shownEntries } from '../../../../src/actors/tools/sandbox/hidden-files.ts';
import { agentFolder } from '../skills/agent-folder.ts';

/** What is shown of a folder, as `kind name`. */
async function shownOf(
  folder: string,
  hidden: string[] = [],
  writable: string[] = [],
): Promise<string[]> {
  const shown = await shownEntries(folder, { hidden, writable });
  return shown.map(({ kind, path }) => `${kind} ${path.slice(folder.length + 1)}`).toSorted();
}

describe('shownEntries', () => {
  it('shows the entries of the folder except those named like a secret', async () => {
    const folder = agentFolder({
      'service.yaml': '',
      '.service/runtime.token': '',
      '.env': '',
      '.env.local': '',
      '.git/config': '',
      'server.key': '',
      'scripts/go.sh': '',
    });
    expect(await shownOf(folder)).toEqual(['bind scripts']);
  });

  it('hides secrets in the shown folders, at any depth, except in node_modules', async () => {
    const folder = agentFolder({
      'skills/pay/.env': '',
      'skills/pay/data/.ssh/id': '',
      'skills/pay/data/CERT.PEM': '',
      'skills/pay/node_modules/x/test.pem': '',
      'node_modules/y/.env': '',
    });
    expect(await shownOf(folder)).toEqual([
      'bind node_modules',
      'bind skills',
      'hideFile skills/pay/.env',
      'hideFile skills/pay/data/CERT.PEM',
      'hideFolder skills/pay/data/.ssh',
    ]);
  });

  it('hides files named after secrets, and not code and prose about them', async () => {
    const folder = agentFolder({
      'secrets.txt': '',
      'api-token.json': '',
      'data/credentials': '',
      'data/db_password.txt': '',
      'data/creds.json': '',
      'data/tokenizer.json': '',
      'data/secretary.csv': '',
      'scripts/reset_password.py': '',
      'scripts/token.mjs': '',
      'skills/secrets/SKILL.md': '',
      'skills/secrets/scripts/token.sh': '',
      'skills/pay/secrets/one.txt': '',
      'docs/tokens.md': '',
    });
    expect(await shownOf(folder)).toEqual([
      'bind data',
      'bind docs',
      'bind scripts',
      'bind skills',
      'hideFile data/credentials',
      'hideFile data/creds.json',
      'hideFile data/db_password.txt',
      'hideFolder skills/pay/secrets',
    ]);
  });

  it('hides the configuration of the agent', async () => {
    const folder = agentFolder({
      'service.yaml': '',
      'slack-config.yaml': '',
      'skills/pay/config.yaml': '',
    });
    expect(await shownOf(folder)).toEqual(['bind skills']);
  });

  it("does not search the scripts' own folders", async () => {
    const folder = agentFolder({ 'work/token.txt': '', 'other/token.txt': '' });
    expect(await shownOf(folder, [], [join(folder, 'work')])).toEqual([
      'bind other',
      'bind work',
      'hideFile other/token.txt',
    ]);
  });

  it('hides the given files and folders', async () => {
    const folder = agentFolder({ 'log/audit.ndjson': '', 'log/other': '', 'store/tasks.db': '' });
    const hidden = [join(folder, 'log/audit.ndjson'), join(folder, 'store')];
    expect(await shownOf(folder, hidden)).toEqual(['bind log', 'hideFile log/audit.ndjson']);
  });

  it('hides files next to a hidden one, for any folder name', async () => {
    const folder = agentFolder({
      'tasks.db': '',
      'tasks.db-wal': '',
      'log/audit.ndjson.1': '',
      'log/audit-000000000001.ndjson': '',
      'log/audit-notes.md': '',
    });
    const links = agentFolder({});
    symlinkSync(folder, join(links, 'agent'));
    const hidden = ['tasks.db', 'log/audit.ndjson'].map((name) => join(links, 'agent', name));
    expect(await shownOf(folder, hidden)).toEqual([
      'bind log',
      'hideFile log/audit-000000000001.ndjson',
      'hideFile log/audit.ndjson.1',
    ]);
  });

  it('hides sockets, which would lead out of a sandbox', async () => {
    const folder = agentFolder({ 'run/pid': '' });
    for (const name of ['collector.sock', 'run/collector.sock']) {
      const server = createServer().listen(join(folder, name));
      onTestFinished(() => void server.close());
      await once(server, 'listening');
    }
    expect(await shownOf(folder)).toEqual(['bind run', 'hideFile run/collector.sock']);
  });

  it('shows a link as a link, not its target', async () => {
    const folder = agentFolder({ 'scripts/go.sh': '' });
    symlinkSync('/etc', join(folder, 'system'));
    expect(await shownOf(folder)).toEqual(['bind scripts', 'link system']);
  });

  it('refuses a folder that is too large to search', async () => {
    const names = Array.from({ length: 10_001 }, (_, index) => `data/${index}`);
    const folder = agentFolder({ 'data/first': '' });
    for (const name of names) writeFileSync(join(folder, name), '');
    await expect(shownEntries(folder, { hidden: [], writable: [] })).rejects.toThrow(
      `${folder} holds more than 10000 files, too many to hide its secrets; keep data elsewhere`,
    );
  });
});
