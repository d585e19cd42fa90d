import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type AgentOptions, startAgent } from '../../src/agent/start/start-agent.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { storeEnvironment } from '../helpers/kept-store.ts';
import { startTestAgent } from '../helpers/test-agent.ts';

const settings = { token: 'a-token-of-some-length' };
const guarded = (required: boolean): ServiceSettings => ({
  auth: { required, providers: [{ type: 'static_token', name: 'ops', settings }] },
});

function start(service: ServiceSettings, options: Partial<AgentOptions>) {
  const folder = new AgentFolder(service);
  onTestFinished(() => folder.remove());
  const note = () => undefined;
  return startAgent({
    directory: folder.path,
    host: '127.0.0.1',
    port: 0,
    noAuth: false,
    inspectPort: null,
    env: storeEnvironment(),
    log: { info: note, warn: note, error: note },
    ...options,
  });
}

it.each([
  [
    'required and off',
    guarded(true),
    { noAuth: true },
    '--no-auth conflicts with auth.required: true; drop one of the two',
  ],
  [
    'off for everybody',
    guarded(false),
    { noAuth: true, host: '0.0.0.0' },
    '--no-auth is for a loopback host; use --host 127.0.0.1, or configure auth.providers',
  ],
  [
    'in no setting',
    {},
    { host: '0.0.0.0' },
    'without auth.providers the agent listens on a loopback host alone, not on 0.0.0.0; configure auth.providers or use --host 127.0.0.1',
  ],
  [
    'off on a host that a resolver may read differently',
    {},
    { host: '127.0.0.010' },
    'without auth.providers the agent listens on a loopback host alone, not on 127.0.0.010; configure auth.providers or use --host 127.0.0.1',
  ],
])('an agent does not start with authentication %s', async (_, service, options, message) => {
  await expect(start(service, options)).rejects.toThrow(message);
});

it('the owner of a folder in use is named', async () => {
  const agent = await startTestAgent();
  const second = startTestAgent({}, { folder: agent.folder });
  await expect(second).rejects.toThrow(/another daemon already serves/);
  expect((await agent.get('/healthz')).status).toBe(200);
});

it('the address of the daemon is in a file that only its owner can read', async () => {
  const agent = await startTestAgent(guarded(true));
  const path = join(agent.folder.path, '.service/serve.json');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    pid: process.pid,
    port: Number(new URL(agent.url).port),
    host: '127.0.0.1',
    auth_enabled: true,
    token_path: join(agent.folder.path, '.service/runtime.token'),
    started_at: expect.stringMatching(/Z$/),
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    policy_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    policy_reload: 'auto',
    proof_key: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
