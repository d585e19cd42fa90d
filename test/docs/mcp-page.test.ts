import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { planImport } from '../../src/agent/import/import-agent.ts';
import { readImport } from '../../src/agent/import/read-import.ts';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';
import { clone, fencesOf, readPage } from './fences.ts';

const page = readPage('docs/mcp.md');
const clients = fencesOf(page).filter(
  ({ language, text }) =>
    ['json', 'toml'].includes(language) && text.includes('http://localhost:8080/mcp'),
);
const url = 'http://localhost:8080/mcp';
const tools = { deny: [] };
const bearer = (value: string) => ({ url, headers: { Authorization: `Bearer ${value}` } });

it.each([
  [
    'Claude Desktop',
    {
      command: 'npx',
      args: ['mcp-remote', url, '--header', 'Authorization: Bearer ${SERVICE_TOKEN}'],
      env: { SERVICE_TOKEN: '${SERVICE_TOKEN}' },
    },
  ],
  ['Cursor', bearer('${SERVICE_TOKEN}')],
  ['VS Code', bearer('${TOKEN}')],
  ['Codex', { ...bearer('${SERVICE_TOKEN}'), timeout: '60s' }],
  ['Windsurf', bearer('${SERVICE_TOKEN}')],
  ['Zed', bearer('${REFUNDS_TOKEN}')],
  ['opencode', bearer('${SERVICE_TOKEN}')],
])('the page has settings for %s that name the address and the token', async (client, server) => {
  const start = page.split('\n').findIndex((line) => line.startsWith(client)) + 1;
  const fence = clients.find(({ line }) => line > start);
  expect(fence).toBeDefined();
  const { language = '', text = '' } = fence ?? {};
  // The settings on the page have no comments, so that they also suit programs without JSONC.
  if (language === 'json') expect(() => JSON.parse(text) as unknown).not.toThrow();
  const file = `settings.${language}`;
  const source = await readImport(join(agentFolder({ [file]: text }), file));
  const { service, keys } = await planImport(source, { env: {}, without: [] });
  expect(keys.filter(({ outcome }) => outcome === 'refused')).toEqual([]);
  expect(service['mcp']).toEqual({ servers: [{ name: 'refunds', ...server, tools }] });
});

it('the page has settings for every client', () => {
  expect(clients).toHaveLength(7);
});

it('the page has the command of Claude Code with the same address and header', () => {
  const [command = ''] = fencesOf(page).flatMap(({ text }) =>
    text.startsWith('claude mcp add') ? [text.trim()] : [],
  );
  expect(command).toBe(
    `claude mcp add --transport http refunds ${url} --header "Authorization: Bearer $SERVICE_TOKEN"`,
  );
});

it('the page has an entry for the registry with the name and version of the package', () => {
  const script = join(clone, 'scripts/server-json.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  const entry = JSON.parse(readFileSync(join(clone, 'server.json'), 'utf8')) as Record<
    string,
    string
  >;
  // The limits of the registry's schema.
  expect(entry['name']).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(entry['description']?.length).toBeLessThanOrEqual(100);
  expect(entry['version']).toMatch(/^\d+\.\d+\.\d+$/);
});
