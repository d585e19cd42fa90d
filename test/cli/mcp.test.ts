import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SeenTools } from '../../src/actors/tools/mcp/seen-tools.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { cleanUp, holdpoint } from './holdpoint.ts';

const shop = { name: 'shop', command: 'node', args: ['server.mjs'], tools: { deny: [] } };

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const definition = (name: string, description: string) => ({
  ...{ name, description, parameters: { type: 'object' } },
  sha256: sha256(description),
});

const folders: AgentFolder[] = [];

/** An agent whose server has changed one tool and has a new one. */
function changedAgent(): AgentFolder {
  const folder = new AgentFolder({ mcp: { servers: [shop] } });
  folders.push(folder);
  mkdirSync(join(folder.path, '.service'));
  const seen = new SeenTools(folder.path);
  seen.check('shop', [definition('pay', 'Pays.'), definition('gone', 'Goes.')], () => false);
  seen.check('shop', [definition('pay', 'Pays\u001b[2J!'), definition('more', 'M.')], () => false);
  return folder;
}

afterAll(async () => {
  for (const folder of folders) folder.remove();
  await cleanUp();
});

describe.concurrent('holdpoint mcp', () => {
  it('lists withheld tools, as accepted and as offered, and accepts them', async () => {
    const { path } = changedAgent();
    const pay = `pay@${sha256('Pays\u001b[2J!').slice(0, 32)}`;
    const listed = await holdpoint(['mcp', 'list', '--dir', path]);
    expect(listed).toMatchObject({
      code: 0,
      stdout: `shop node
  pay: withheld: it is not what was seen
    seen     Pays.
             {"type":"object"}
    offered  Pays\\u001b[2J!
             {"type":"object"}
  more: withheld: it has not been accepted yet
    offered  M.
             {"type":"object"}
  gone: not offered now
`,
      stderr: `accept them with \`holdpoint mcp accept shop ${pay} more@${sha256('M.').slice(0, 32)}\`\n`,
    });
    const accepted = await holdpoint(['mcp', 'accept', 'shop', pay, '--dir', path, '--json']);
    expect([accepted.code, JSON.parse(accepted.stdout)]).toEqual([
      0,
      { server: 'shop', accepted: ['pay'] },
    ]);
    const after = await holdpoint(['mcp', 'list', '--dir', path, '--json']);
    const { servers } = JSON.parse(after.stdout) as {
      servers: { tools: { name: string; standing: string }[] }[];
    };
    expect(servers[0]?.tools.map(({ name, standing }) => [name, standing])).toEqual([
      ['pay', 'accepted'],
      ['more', 'new'],
      ['gone', 'gone'],
    ]);
  });

  it('accepts only the tools that the user has seen', async () => {
    const { path } = changedAgent();
    const { stderr } = await holdpoint(['mcp', 'list', '--dir', path]);
    const pay = /pay@\w+/.exec(stderr)?.[0] ?? '';
    const seen = new SeenTools(path);
    seen.check('shop', [definition('pay', 'Pays me.')], () => false);
    const accepted = await holdpoint(['mcp', 'accept', 'shop', pay, '--dir', path]);
    expect([accepted.code, accepted.stderr]).toEqual([
      1,
      expect.stringContaining('shop has changed its tool pay since you have seen it'),
    ]);
    expect(seen.accept('shop', [pay])).toEqual([]);
    expect(seen.toolsOf('shop')?.[0]?.accepted?.description).toBe('Pays.');
  });

  it('reports an unknown server', async () => {
    const { path } = changedAgent();
    const server = await holdpoint(['mcp', 'accept', 'till', '--dir', path]);
    expect([server.code, server.stderr]).toEqual([
      3,
      expect.stringContaining('service.yaml names no MCP server till'),
    ]);
    const tool = await holdpoint(['mcp', 'accept', 'shop', 'gone', '--dir', path]);
    expect([tool.code, tool.stderr]).toEqual([
      3,
      expect.stringContaining('shop does not offer a tool gone'),
    ]);
    writeFileSync(join(path, '.service', 'mcp-tools.json'), '[]');
    const broken = await holdpoint(['mcp', 'list', '--dir', path]);
    expect([broken.code, broken.stderr]).toEqual([
      1,
      expect.stringContaining('mcp-tools.json cannot be read; remove it'),
    ]);
  });

  it('needs no model key', async () => {
    const model = { provider: 'openai', name: 'gpt-5' };
    const folder = new AgentFolder({ model, mcp: { servers: [shop] } });
    folders.push(folder);
    expect(await holdpoint(['mcp', 'list', '--dir', folder.path])).toMatchObject({
      ...{ code: 0, stdout: 'shop node\n  the agent has not received its tools yet\n', stderr: '' },
    });
  });
});
