import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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

const table = `- {name: small, tool: pay, args: {amount: 5}, expect: {decision: allow}}
- {name: held, tool: pay, args: {amount: 50}, expect: {decision: defer, quorum: 1}}
`;

async function till(files: Record<string, string> = {}) {
  let path = '';
  const dashboard = await openDashboard((workspace) => {
    const directory = join(workspace, 'till');
    mkdirSync(directory);
    new AgentFolder({}, directory);
    path = join(directory, 'service.yaml');
    writeFileSync(path, text);
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(directory, name), content);
  });
  const { body } = await dashboard.get('/api/agents/till/policy/rules');
  const preview = (sent: object) => dashboard.post('/api/agents/till/policy/preview', sent);
  return { read: body, preview, path, dashboard };
}

const pay = {
  ...{ tool: 'pay', deny: false, acr: '', modify: '', listed: [] },
  conditions: [
    { rule: 'defer.tools.pay', when: '', terms: '{to: channel:console:desk, timeout: 20m}' },
  ],
  defer: { to: ['channel:console:desk'], timeout: '20m', quorum: 1, approvers: [] },
};

it('the rules of every tool are returned, and edited ones are rendered without writing the file', async () => {
  const { read, preview, path } = await till();
  expect(read.rules.find(({ tool }: { tool: string }) => tool === 'pay')).toEqual(pay);
  expect(read.content).toBe(text);
  const rules = [
    { ...pay, defer: null },
    { ...pay, tool: 'echo', defer: null, deny: true, conditions: [] },
  ];
  const { status, body } = await preview({ etag: read.etag, rules });
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({
      ...{ calls: [], counts: {}, weaker: [], before: text, etag: read.etag, tests: null },
      unread: 'the agent does not run, so its calls cannot be read; start it',
    }),
  ]);
  expect(body.content).toContain('# Money waits.');
  expect(body.content).toContain('denied_tools');
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('rules that were read from another file, and invalid rules, are refused', async () => {
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

it('the policy tests of the agent are evaluated under edited rules before they are saved', async () => {
  const { read, preview, dashboard } = await till({ 'policy.test.yaml': table });
  const failing = {
    ...{ name: 'small', place: 'policy.test.yaml row 1' },
    differences: ['decision: expected allow, got defer'],
  };
  const passing = { name: 'held', place: 'policy.test.yaml row 2', differences: [] };
  expect((await dashboard.post('/api/agents/till/policy/tests', {})).body).toEqual({
    ...{ rows: [failing, passing], problem: null },
  });
  const when = 'double(args.amount) > 10.0';
  const conditions = pay.conditions.map((one) => ({ ...one, when }));
  const { body } = await preview({ etag: read.etag, rules: [{ ...pay, conditions }] });
  expect(body.content).toBe(text.replace('20m}', `20m, when: ${when}}`));
  expect(body.tests).toEqual({ rows: [{ ...failing, differences: [] }, passing], problem: null });
});

it.each([
  [
    '- {name: x}',
    'policy.test.yaml row 1: tool: Invalid input: expected string, received undefined; policy.test.yaml row 1: expect: Invalid input: expected object, received undefined',
  ],
  ['[', 'policy.test.yaml:1:2: unexpected end of the stream within a flow collection'],
])('a table that cannot be evaluated has a reason: %s', async (content, problem) => {
  const { dashboard } = await till({ 'policy.test.yaml': content });
  const { body } = await dashboard.post('/api/agents/till/policy/tests', {});
  expect(body).toEqual({ rows: [], problem });
});

it('a table outside the folder is not read, and an agent without a table has none', async () => {
  const { dashboard, path } = await till();
  const missing = await dashboard.post('/api/agents/till/policy/tests', {});
  expect([missing.status, missing.body.error]).toEqual([404, 'the agent has no policy.test.yaml']);
  symlinkSync('/etc/passwd', join(path, '../policy.test.yaml'));
  expect((await dashboard.post('/api/agents/till/policy/tests', {})).body).toEqual({
    ...{ rows: [], problem: "policy.test.yaml lies outside of the agent's folder" },
  });
});

it('the first fault of a condition is returned with its position, by the schema of the tool', async () => {
  const { dashboard } = await till({ 'service.yaml': `${text}builtin_tools: [math_calculate]\n` });
  const fault = async (when: string) => {
    const sent = { tool: 'math_calculate', when };
    return (await dashboard.post('/api/agents/till/policy/conditions', sent)).body.fault;
  };
  expect(await fault('args.expression.size() > 5')).toBeNull();
  expect(await fault('args.expresion == ""')).toEqual({ message: 'No such key: expresion', at: 5 });
  expect(await fault('args.expression > 5.0')).toMatchObject({ at: 0 });
  expect(await fault('true &&')).toMatchObject({ at: 7 });
  expect(await fault('"text"')).toEqual({
    ...{ message: 'the expression must be true or false, and it is of type string', at: 0 },
  });
  const { body } = await dashboard.get('/api/agents/till/policy/conditions');
  expect(body.args).toMatchObject({
    ...{ pay: [], math_calculate: [{ word: 'args.expression', type: 'string', about: '' }] },
  });
  expect(body.words).toContainEqual({ word: 'caller.email', type: 'string', about: '' });
  const wrong = await dashboard.post('/api/agents/till/policy/conditions', { tool: 'pay' });
  expect(wrong.status).toBe(400);
});
