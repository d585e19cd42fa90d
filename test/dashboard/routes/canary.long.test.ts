import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../../src/actors/ports/log.ts';
import { deferring } from '../../helpers/test-agent.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';
import { WorkspaceAgent } from '../../helpers/workspace-agents.ts';

const source = join(import.meta.dirname, '../../../src/dashboard/routes');

/** Keys that nobody may ever see: of the skill builder, of an agent's `.env`, and of the environment. */
const keys = {
  builder: 'CANARY-of-the-builder',
  agent: 'CANARY-of-the-agent',
  environment: 'CANARY-of-the-environment',
  passphrase: 'CANARY-of-a-passphrase',
  created: 'CANARY-of-a-new-agent',
};

const agent = '/api/agents/till';
/** Routes of a team, which a dashboard without sign-in does not have. */
const team = '/approvals/api';
const builder = `${agent}/skill-builder`;
const settings = { provider: 'anthropic', model: 'claude-sonnet-4-5' };
const draft = { skill_md: '---\nname: x\n---\n', scripts: {}, messages: [], message: 'hello' };
const config = { content: 'agent_id: till\n' };
const wizard = {
  ...{ name: 'fresh', provider: 'anthropic', api_key: keys.created },
  security: { variables: { SHOP_KEY: keys.created } },
};

/** Each route as the sources name it, and a request for it; `null` for one that is a stream and is read apart. */
const requests: Record<string, [path: string, body?: unknown][] | null> = {
  'get /api/health': [['/api/health']],
  'get /api/workspace': [['/api/workspace']],
  'get /api/events': null,
  'get /api/agents': [['/api/agents']],
  'post /api/agents/rescan': [['/api/agents/rescan', {}]],
  'get /api/agents/:id': [[agent], ['/api/agents/nobody']],
  'get /api/agents/:id/logs': [[`${agent}/logs?lines=1000`]],
  'post /api/oauth/start': [['/api/oauth/start', { provider: 'nobody', agent_id: 'till' }]],
  'get /api/oauth/status': [['/api/oauth/status?state=none']],
  'post /api/oauth/cancel': [['/api/oauth/cancel', { state: 'none' }]],
  'get /oauth/callback': [['/oauth/callback?code=CANARY-code&state=none']],
  'post /api/agents/:id/chat': [[`${agent}/chat`, { message: 'hello' }]],
  'get /api/agents/:id/tasks/:tid/events': null,
  'get /api/agents/:id/sessions': [[`${agent}/sessions`]],
  'get /api/agents/:id/sessions/:sid': [[`${agent}/sessions/none`]],
  'get /api/schema': [['/api/schema']],
  'get /api/tools': [['/api/tools']],
  'get /api/agents/:id/config': [[`${agent}/config`]],
  'put /api/agents/:id/config': [[`${agent}/config`, config]],
  'post /api/agents/:id/config/validate': [[`${agent}/config/validate`, config]],
  'get /api/agents/:id/policy': [[`${agent}/policy`]],
  'get /api/agents/:id/policy/rules': [[`${agent}/policy/rules`]],
  'get /api/agents/:id/policy/conditions': [[`${agent}/policy/conditions`]],
  'post /api/agents/:id/policy/conditions': [
    [`${agent}/policy/conditions`, { tool: 'pay', when: 'args.amount > ' }],
  ],
  'post /api/agents/:id/policy/tests': [[`${agent}/policy/tests`, {}]],
  'get /api/agents/:id/doctor': [[`${agent}/doctor`]],
  'get /api/agents/:id/figures': [[`${agent}/figures`]],
  'get /api/agents/:id/mcp': [[`${agent}/mcp`]],
  'post /api/agents/:id/mcp/accept': [
    [`${agent}/mcp/accept`, { server: 'shop', tool: 'pay', sha256: 'a'.repeat(64) }],
  ],
  'post /api/a2a/card': [['/api/a2a/card', { agent_id: 'till' }]],
  'post /api/a2a/send': [
    ['/api/a2a/send', { agent_id: 'till', method: 'tasks/get', params: { id: 't1' } }],
  ],
  'post /api/agents/:id/tasks/:tid/calls/:call/explain': [
    [`${agent}/tasks/t1/calls/none/explain`, {}],
  ],
  'post /api/agents/:id/policy/preview': [[`${agent}/policy/preview`, config]],
  'get /api/agents/:id/audit': [[`${agent}/audit?limit=500`]],
  'get /api/agents/:id/audit/lines': [[`${agent}/audit/lines`]],
  'get /api/settings/skill-builder': [['/api/settings/skill-builder']],
  'put /api/settings/skill-builder': [
    ['/api/settings/skill-builder', { ...settings, api_key: keys.builder }],
    ['/api/settings/skill-builder', { ...settings, provider: 'nobody', api_key: keys.builder }],
    ['/api/settings/skill-builder', { ...settings, api_key: [keys.builder] }],
  ],
  'get /api/skill-builder/provider': [['/api/skill-builder/provider']],
  'get /api/agents/:id/skill-builder/provider': [[`${builder}/provider`]],
  'get /api/agents/:id/skill-builder/context': [[`${builder}/context`]],
  'post /api/agents/:id/skill-builder/chat': [[`${builder}/chat`, draft]],
  'get ${root}/skills': [[`${builder}/skills`], ['/api/skill-builder/skills']],
  'get ${root}/skills/:name': [[`${builder}/skills/none`], ['/api/skill-builder/skills/none']],
  'post ${root}/validate': [[`${builder}/validate`, draft]],
  'post ${root}/save': [[`${builder}/save`, draft]],
  'get /api/agents/:id/tasks': [[`${agent}/tasks`]],
  'get /api/agents/:id/tasks/:tid': [[`${agent}/tasks/t1`]],
  'get /api/agents/:id/tasks/:tid/calls/:call/receipt': [[`${agent}/tasks/t1/calls/none/receipt`]],
  'get /api/agents/:id/tasks/:tid/inspection': [[`${agent}/tasks/t1/inspection`]],
  'get /api/deferrals': [['/api/deferrals']],
  'get /api/deferrals/decided': [['/api/deferrals/decided']],
  'post /api/agents/:id/deferrals/decisions': [
    [`${agent}/deferrals/decisions`, { decisions: [{}], token: keys.environment }],
  ],
  'post /api/agents/:id/tasks/:tid/decisions': [
    [`${agent}/tasks/t1/decisions`, { decision: 'approve', token: keys.environment }],
  ],
  'get /api/agents/:id/limits': [[`${agent}/limits`]],
  'get /api/outcomes': [['/api/outcomes']],
  'get /api/overview': [['/api/overview?from=30d&zone=Europe/Berlin']],
  'post /api/agents/:id/outcomes': [
    [`${agent}/outcomes`, { call_id: 'none', ran: true, reason: 'none' }],
  ],
  'get /api/grants': [['/api/grants']],
  'post /api/agents/:id/grants/:grant/revoke': [[`${agent}/grants/none/revoke`, {}]],
  'get ${api}/session': [[`${team}/session`]],
  'get ${api}/deferrals': [[`${team}/deferrals`]],
  'get ${api}/deferrals/:id': [[`${team}/deferrals/none`]],
  'post ${api}/tasks/:tid/questions': [[`${team}/tasks/t1/questions`, {}]],
  'post ${api}/tasks/:tid/decisions': [
    [`${team}/tasks/t1/decisions?agent=till`, { decision: 'approve', token: keys.environment }],
  ],
  'post ${api}/deferrals/decisions': [
    [`${team}/deferrals/decisions?agent=till`, { decisions: [{}], token: keys.environment }],
  ],
  'post /api/agents/:id/tasks/:tid/cancel': [[`${agent}/tasks/t1/cancel`, {}]],
  'get /api/wizard/meta': [['/api/wizard/meta']],
  'post /api/wizard/preview': [
    ['/api/wizard/preview', wizard],
    ['/api/wizard/preview', { ...wizard, provider: 'nobody' }],
  ],
  'post /api/create': [
    ['/api/create', wizard],
    ['/api/create', { ...wizard, provider: 'nobody' }],
  ],
  'get /api/skills': [['/api/skills']],
  'get /api/skills/:name': [['/api/skills/kubernetes']],
  'post /api/agents/:id/skills': [[`${agent}/skills`, { name: 'none' }]],
  'post /api/agents/:id/${order}': [
    [`${agent}/start`, { passphrase: keys.passphrase }],
    [`${agent}/restart`, { passphrase: keys.passphrase }],
    [`${agent}/stop`, {}],
  ],
};

function routesOfSources(): string[] {
  const files = readdirSync(source).filter((name) => name.endsWith('-routes.ts'));
  const texts = files.map((name) => readFileSync(join(source, name), 'utf8'));
  const found = texts.join('\n').matchAll(/router\.(get|post|put|delete|patch)\(\s*[`']([^`']+)/g);
  return [...found].map(([, method, path]) => `${method} ${path}`).toSorted();
}

it('no key is in any byte of an answer, of its log and of its events (WEB-8)', async () => {
  expect(Object.keys(requests).toSorted()).toEqual(routesOfSources());

  const logged: unknown[] = [];
  const note = (fields: object, message: string) =>
    void logged.push(message, fields, ...Object.values(fields).map(String));
  const log: Log = { info: note, warn: note, error: note };
  let till!: WorkspaceAgent;
  const env = {
    ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
    ...{ OPENAI_API_KEY: keys.environment, SERVICE_PLATFORM_TOKEN: keys.environment },
  };
  const page = await openDashboard(
    (workspace) => {
      till = new WorkspaceAgent(workspace, 'till', deferring());
      mkdirSync(join(workspace, 'till/.service'), { recursive: true });
      const path = join(workspace, 'till/.service/.env');
      writeFileSync(path, `ANTHROPIC_API_KEY=${keys.agent}\n`);
      chmodSync(path, 0o600);
    },
    { env, log },
  );
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  let bytes = '';
  const keep = async (response: Response): Promise<void> => {
    const text = new TextDecoder('latin1');
    bytes += `${response.url} ${response.status} ${JSON.stringify([...response.headers])}\n`;
    for await (const chunk of response.body ?? []) bytes += text.decode(chunk as Uint8Array);
  };
  const events = keep(await page.open('GET', '/api/events', { signal: leaving.signal }));
  await till.start(page);
  await till.hold(page, 't1');
  const joined = keep(
    await page.open('GET', `${agent}/tasks/t1/events`, { signal: leaving.signal }),
  );

  for (const [route, wanted] of Object.entries(requests)) {
    const [method = ''] = route.split(' ');
    for (const [path, body] of wanted ?? []) {
      const signal = AbortSignal.timeout(60_000);
      const given = body === undefined ? { signal } : { body, signal };
      await keep(await page.open(method.toUpperCase(), path, given));
    }
  }
  leaving.abort();
  await Promise.allSettled([events, joined]);
  const told = JSON.stringify(logged, (_, value: unknown) =>
    value instanceof Error ? `${value.stack} ${String(value.cause)}` : value,
  );
  expect(bytes).toContain('event: deferral');
  for (const key of Object.values(keys)) {
    expect([key, bytes.includes(key), told.includes(key)]).toEqual([key, false, false]);
  }
});
