import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';

const text = `agent_id: till
model: {provider: scripted, name: scripted}
security:
  # Money waits.
  defer:
    enabled: true
    tools:
      pay: {to: "channel:console:desk", timeout: 20m}
`;

async function till() {
  let path = '';
  const dashboard = await openDashboard((workspace) => {
    const directory = join(workspace, 'till');
    mkdirSync(directory);
    new AgentFolder({}, directory);
    path = join(directory, 'service.yaml');
    writeFileSync(path, text);
  });
  const { body } = await dashboard.get('/api/agents/till/policy/rules');
  const preview = (sent: object) => dashboard.post('/api/agents/till/policy/preview', sent);
  return { read: body, preview, path };
}

const pay = {
  ...{ tool: 'pay', deny: false, acr: '', modify: '' },
  defer: { to: ['channel:console:desk'], timeout: '20m', quorum: 1, approvers: [] },
};

it('tells the rules of every tool, and works out what edited ones make of the file, without writing it', async () => {
  const { read, preview, path } = await till();
  expect(read.rules.find(({ tool }: { tool: string }) => tool === 'pay')).toEqual(pay);
  expect(read.content).toBe(text);
  const rules = [
    { ...pay, defer: null },
    { ...pay, tool: 'echo', defer: null, deny: true },
  ];
  const { status, body } = await preview({ etag: read.etag, rules });
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({
      ...{ calls: [], counts: {}, weaker: [], before: text, etag: read.etag },
      unread: 'the agent does not run, so its calls cannot be read; start it',
    }),
  ]);
  expect(body.content).toContain('# Money waits.');
  expect(body.content).toContain('denied_tools');
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('refuses rules that were read of another file, and rules that cannot be', async () => {
  const { read, preview, path } = await till();
  const { etag } = read;
  const wrong = await preview({ etag, rules: [{ ...pay, modify: 'no map' }] });
  expect([wrong.status, wrong.body.error]).toEqual([
    400,
    'the rules of pay under MODIFY must be a map with arguments or output',
  ]);
  const invalid = await preview({ etag, rules: [{ ...pay, defer: { ...pay.defer, to: ['x'] } }] });
  expect([invalid.status, invalid.body.valid]).toEqual([400, false]);
  const none = await preview({ etag, rules: [{ ...pay, evil: true }] });
  expect([none.status, none.body.error]).toEqual([400, expect.stringContaining('send content')]);
  writeFileSync(path, `${text}# theirs\n`);
  const late = await preview({ etag, rules: [pay] });
  expect([late.status, late.body.content]).toEqual([412, `${text}# theirs\n`]);
});
