import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  AcsClient,
  bashCall,
  coreMethods,
  isServerHello,
  macOf,
  secret,
} from '../helpers/acs-client.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const env = { ACS_HMAC_SECRET: secret };

const settings = (acs: object = {}, more: object = {}) =>
  ({
    gate: {
      tools: {
        Bash: {},
        'mcp:tools/call/get_weather': {},
        subagentStart: {},
        'mcp:resources/*': {},
      },
      acs: { secrets: { default: '${ACS_HMAC_SECRET}', other: secret }, timeout: '200ms', ...acs },
    },
    security: {
      defer: {
        enabled: true,
        tools: {
          Bash: [
            { when: 'args.command.startsWith("ls")', allow: true },
            { to: 'channel:console:*', timeout: '1h', edit: true },
          ],
          'mcp:resources/*': { to: 'channel:console:*' },
        },
      },
    },
    ...more,
  }) as ServiceSettings;

async function startGuardian(acs: object = {}, more: object = {}): Promise<TestAgent> {
  return startTestAgent(settings(acs, more), { env });
}

/** A client whose session is open. */
async function opened(agent: TestAgent): Promise<AcsClient> {
  const client = new AcsClient(agent);
  await client.hello();
  return client;
}

const decide = (agent: TestAgent, hold: string, decision: object) =>
  agent.post(`/holds/${hold}/decisions`, decision);

const patient = { timeout: '1m' };

/** Resolves with the id of the only hold that waits. */
async function waiting(agent: TestAgent): Promise<string> {
  const { deferrals } = (await agent.get('/deferrals')).body;
  if (deferrals.length > 0) return deferrals[0].task_id;
  await new Promise(setImmediate);
  return waiting(agent);
}

const events = (agent: TestAgent, event: string) =>
  agent.audit().filter((line) => line.event === event);

describe('handshake/hello', () => {
  it('negotiates the methods that the gate evaluates, and closes on failure', async () => {
    const agent = await startGuardian({ timeout: '2m', skew: '1m' });
    const offered = [...coreMethods, 'steps/memoryStore', 'agbom/snapshot', 'steps/x'];
    const client = new AcsClient(agent);
    const hello = await client.hello({ methods_implemented: offered });
    expect(hello.payload).toEqual({
      negotiated_version: '0.1.0',
      methods_evaluated: coreMethods,
      selected_transport: 'http',
      signature_algorithms_supported: ['HMAC-SHA256'],
      timeout_config: { default_ms: 120_000 },
      skew_window_ms: 60_000,
      ...{ on_decision_failure: 'deny', on_timeout: 'deny' },
      approver_types_supported: ['human'],
      policy_requires_provenance: false,
      profiles_accepted: ['acs-core'],
    });
    expect(hello).toMatchObject(hello.payload);
    expect([isServerHello(hello), isServerHello(hello.payload)]).toEqual([true, true]);
    expect(events(agent, 'acs_handshake').map(({ fields }) => fields)).toEqual([
      { session: client.session, agent: 'coder', key_id: 'default', methods: coreMethods },
    ]);
  });

  it('returns the same terms to the same client, and refuses another one', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const again = await client.hello({ methods_implemented: coreMethods.slice(0, 3) });
    expect(again.methods_evaluated).toEqual(coreMethods.slice(0, 3));
    const more = await client.hello({ methods_implemented: ['steps/turnStart'] });
    const stranger = await new AcsClient(agent, {
      session: client.session,
      keyId: 'other',
    }).hello();
    const named = await client.send(
      'steps/sessionStart',
      {},
      {
        with: ({ params }) => (params.metadata.agent_id = 'mallory'),
      },
    );
    expect([more, stranger, named].map(({ code, message }) => [code, message])).toEqual([
      [-32000, 'the session was negotiated with other methods; start a new session'],
      [-32000, 'the session belongs to another agent or key; start a new session'],
      [-32000, 'the session belongs to another agent or key; start a new session'],
    ]);
  });

  it('accepts every version of the same major version, and ignores unknown fields', async () => {
    const agent = await startGuardian();
    for (const versions of [['0.1.7'], ['1.0.0', '0.1.12'], ['0.2.0']]) {
      const opened = await new AcsClient(agent).hello({
        ...{ acs_versions_supported: versions, made_up: { by: 'a later patch' } },
      });
      expect(opened.negotiated_version).toBe('0.1.0');
    }
  });

  it('refuses an unsupported version and transport', async () => {
    const agent = await startGuardian();
    const client = new AcsClient(agent);
    const old = await client.hello({ acs_versions_supported: ['1.0.0', '10.1.0'] });
    expect([old.code, old.data.supported_versions]).toEqual([-32001, ['0.1.0']]);
    expect((await client.hello({ transports_supported: ['stdio'] })).code).toBe(-32000);
    expect((await client.hello({ provenance_producer: 'model' })).code).toBe(-32602);
    expect((await client.bash('ls')).code).toBe(-32003);
  });

  it('is required before a step, and names the permitted methods', async () => {
    const client = new AcsClient(await startGuardian());
    const { code, data } = await client.bash('ls');
    expect([code, data.method]).toEqual([-32003, 'steps/toolCallRequest']);
    await client.hello({ methods_implemented: ['steps/toolCallRequest'] });
    expect((await client.send('steps/userMessage', { content: [] })).code).toBe(-32003);
    expect((await client.send('steps/memoryStore', {})).code).toBe(-32003);
    expect((await client.send('steps/nothing', {})).code).toBe(-32601);
    expect((await client.bash('ls')).decision).toBe('allow');
  });
});

describe('steps/toolCallRequest', () => {
  it('is allowed or denied by the rules', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const { decision, chain_hash } = await client.bash('ls');
    expect([decision, /^[0-9a-f]{64}$/.test(chain_hash)]).toEqual(['allow', true]);
    const unknown = await client.send('steps/toolCallRequest', {
      tool: { name: 'Write' },
      arguments: {},
    });
    expect([unknown.decision, unknown.reasoning, unknown.reason_codes]).toEqual([
      'deny',
      'the call may not run: unknown tool: Write',
      ['denied'],
    ]);
    const odd = await client.send('steps/toolCallRequest', {
      tool: { name: 'a b' },
      arguments: {},
    });
    expect([odd.decision, odd.reasoning]).toEqual([
      'deny',
      'the gate refused the call: tool must have only A-Z a-z 0-9 and _ . : / @ -',
    ]);
  });

  it('waits for a person within the timeout of the handshake', async () => {
    const agent = await startGuardian(patient);
    const client = await opened(agent);
    const asking = client.bash('rm -rf build');
    await decide(agent, await waiting(agent), { decision: 'approve' });
    expect((await asking).decision).toBe('allow');
    const rejecting = client.bash('rm -rf build');
    const hold = await waiting(agent);
    await decide(agent, hold, { decision: 'reject', note: 'not on Friday' });
    const { decision, reasoning, reason_codes } = await rejecting;
    expect([decision, reasoning, reason_codes]).toEqual([
      'deny',
      'the call may not run: rejected by unknown: not on Friday',
      ['rejected'],
    ]);
    expect(events(agent, 'hold_released')).toHaveLength(1);
  });

  it('is deferred on a timeout, and is the same hold when asked again', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const first = await client.bash('rm -rf build');
    const { hold_id, expires_at } = first.policy_data;
    expect(first).toMatchObject({
      ...{ decision: 'defer', reason_codes: ['approval_pending'] },
      reasoning:
        'the call waits for channel:console:*; make the same call again to receive the decision',
      defer_details: {
        ...{ reason: 'pending_dependency', resolution_method: 'human_approval' },
        timeout_decision: 'deny',
      },
      policy_data: { hold_id, to: 'channel:console:*', expires_at },
    });
    expect(first.defer_details.resolution_timeout_ms).toBeGreaterThan(3_500_000);
    expect((await client.bash('rm -rf build')).policy_data.hold_id).toBe(hold_id);
    const other = await client.bash('rm -rf /');
    expect(other.policy_data.hold_id).not.toBe(hold_id);
    await decide(agent, hold_id, { decision: 'approve' });
    expect((await client.bash('rm -rf build')).decision).toBe('allow');
    const again = await client.bash('rm -rf build');
    expect([again.decision, again.policy_data.hold_id === hold_id]).toEqual(['defer', false]);
  });

  it('gives one approval to one of several equal calls', async () => {
    const agent = await startGuardian(patient);
    const client = await opened(agent);
    const asking = [1, 2].map(() => client.bash('rm -rf build'));
    await decide(agent, await waiting(agent), { decision: 'approve' });
    expect((await Promise.race(asking)).decision).toBe('allow');
    await decide(agent, await waiting(agent), { decision: 'reject' });
    const decisions = (await Promise.all(asking)).map(({ decision }) => decision);
    expect(decisions.toSorted(byName)).toEqual(['allow', 'deny']);
  });

  it('is another question if any executable part differs', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const ask = async (more: object) =>
      (await client.send('steps/toolCallRequest', { ...bashCall('rm x'), ...more })).policy_data
        .hold_id;
    const holds = [
      await ask({}),
      await ask({ arguments: {}, raw_command: 'rm y' }),
      await ask({ arguments: {}, raw_command: 'rm z' }),
      await ask({ operation: 'force' }),
    ];
    const stranger = await opened(agent);
    holds.push((await stranger.bash('rm x')).policy_data.hold_id);
    expect(new Set(holds).size).toBe(5);
    const shown = (await agent.get('/deferrals')).body.deferrals.map((one: any) => one.context);
    expect(shown.some((text: string) => text.includes('"raw_command":"rm y"'))).toBe(true);
  });

  it('may not run another command than the one that the rule checks', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const ask = (more: object) =>
      client.send('steps/toolCallRequest', { ...bashCall('ls'), ...more });
    expect((await ask({})).decision).toBe('allow');
    expect((await ask({ raw_command: 'ls' })).decision).toBe('allow');
    expect((await ask({ raw_command: 'rm -rf /' })).code).toBe(-32602);
    const named = { raw_command: { value: 'ls' } };
    expect((await ask({ arguments: named, raw_command: 'rm -rf /' })).code).toBe(-32602);
    expect((await ask({ arguments: {}, raw_command: 'rm -rf /' })).decision).toBe('defer');
  });

  it('runs with the arguments of the approver, or not at all', async () => {
    const agent = await startGuardian(patient);
    const client = await opened(agent);
    const call = {
      tool: { name: 'Bash' },
      arguments: { command: { value: 'rm -rf /' }, cwd: { value: '/' } },
    };
    const edited = async (args: object) => {
      const asking = client.send('steps/toolCallRequest', call);
      await decide(agent, await waiting(agent), { decision: 'approve', args });
      return asking;
    };
    const { decision, modifications, reasoning } = await edited({ command: 'ls', cwd: '/' });
    expect([decision, modifications, reasoning]).toEqual([
      'modify',
      { parameter_overrides: { command: 'ls' } },
      'the call runs with other arguments: command',
    ]);
    const narrower = await edited({ command: 'ls' });
    expect([narrower.decision, narrower.reason_codes, narrower.reasoning]).toEqual([
      'deny',
      ['modify_unsupported'],
      'the call may run only with other arguments, which the client cannot apply; make this call: {"command":"ls"}',
    ]);
    expect(events(agent, 'hold_outcome').map(({ fields }) => fields?.['status'])).toEqual([
      'not_run',
    ]);
  });

  it('has its outcome from steps/toolCallResult', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const end = async (exit_status: string, request_id_ref: string) => {
      await client.bash(`ls ${exit_status}`, { request: request_id_ref });
      const outputs = [{ value: { stdout: 'x' } }];
      const result = { tool: { name: 'Bash' }, exit_status, outputs, request_id_ref };
      return client.send('steps/toolCallResult', result);
    };
    for (const status of ['success', 'failure', 'timeout', 'blocked']) {
      expect((await end(status, randomUUID())).decision).toBe('allow');
    }
    const statuses = events(agent, 'hold_outcome').map(({ fields }) => fields?.['status']);
    expect(statuses).toEqual(['succeeded', 'failed', 'failed', 'not_run']);
    expect((await end('unknown', randomUUID())).code).toBe(-32602);
  });

  it('limits the waiting calls of a session', async () => {
    const agent = await startGuardian({ timeout: '1ms' });
    const client = await opened(agent);
    const answers = await Promise.all(
      Array.from({ length: 101 }, (_, number) => client.bash(`rm ${number}`)),
    );
    const codes = answers.flatMap(({ reason_codes }) => reason_codes);
    expect(codes.filter((code) => code === 'approval_pending')).toHaveLength(100);
    expect(codes.filter((code) => code === 'deferral_limit')).toHaveLength(1);
  });
});

describe('other steps', () => {
  it('are allowed and extend the chain, and end with the session until it starts again', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const heads: string[] = [];
    for (const method of ['sessionStart', 'userMessage', 'agentResponse', 'sessionEnd']) {
      const { decision, chain_hash } = await client.send(`steps/${method}`, {});
      expect(decision).toBe('allow');
      heads.push(chain_hash);
    }
    const ended = await client.bash('ls');
    expect([ended.code, ended.message]).toEqual([
      -32000,
      'the session has ended; send steps/sessionStart',
    ]);
    heads.push((await client.send('steps/sessionStart', {})).chain_hash);
    expect((await client.bash('ls')).decision).toBe('allow');
    const steps = events(agent, 'acs_step').map(({ fields }) => fields as any);
    const hashes = steps.slice(0, 5).map((fields) => fields.entry_hash);
    expect(hashes).toEqual(heads);
    expect(steps.map((fields) => fields.previous_hash)).toEqual([
      null,
      ...steps.slice(0, -1).map((fields) => fields.entry_hash),
    ]);
  });

  it('apply the rules to the start of a subagent', async () => {
    const client = await opened(await startGuardian());
    const payload = { subagent_session_id: randomUUID(), intent_derivation: 'fresh' };
    expect((await client.send('steps/subagentStart', payload)).decision).toBe('allow');
    const acs = { secrets: { default: secret } };
    const closed = await startTestAgent({
      gate: { tools: { Bash: {} }, acs },
    } as ServiceSettings);
    const other = await opened(closed);
    expect((await other.send('steps/subagentStart', payload)).decision).toBe('deny');
  });

  it('accept a recent head of the client, and deny an unknown one', async () => {
    const client = await opened(await startGuardian());
    const { chain_hash: head } = await client.bash('ls 1');
    await client.bash('ls 2');
    const naming = (chain_hash: string) =>
      client.bash('ls 3', {
        with: ({ params }) => (params.metadata.session_state = { chain_hash }),
      });
    expect((await naming(head)).decision).toBe('allow');
    const forged = await naming('0'.repeat(64));
    expect([forged.decision, forged.reason_codes]).toEqual(['deny', ['chain_mismatch']]);
  });
});

describe('wrapped MCP', () => {
  const message = (id: number, method: string, params: object) => ({
    ...{ jsonrpc: '2.0', id, method, params },
  });

  it('rules on tools, data and prompts, and records the rest', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const send = (method: string, payload: object) =>
      client.send(`protocols/MCP/${method}`, payload);
    const call = message(1, 'tools/call', { name: 'get_weather', arguments: { city: 'Bern' } });
    expect((await send('initialize', message(0, 'initialize', {}))).decision).toBe('allow');
    expect((await send('tools/call', call)).decision).toBe('allow');
    const end = { jsonrpc: '2.0', id: 1, result: { content: [], isError: true } };
    expect((await send('tools/call', end)).decision).toBe('allow');
    expect(events(agent, 'hold_outcome').map(({ fields }) => fields?.['status'])).toEqual([
      'failed',
    ]);
    const read = message(2, 'resources/read', { uri: 'file:///etc/passwd' });
    expect((await send('resources/read', read)).decision).toBe('defer');
    const prompt = message(3, 'prompts/get', { name: 'x' });
    expect((await send('prompts/get', prompt)).reasoning).toBe(
      'the call may not run: unknown tool: mcp:prompts/get',
    );
    const unknown = message(4, 'tools/call', { name: 'delete_all' });
    expect((await send('tools/call', unknown)).decision).toBe('deny');
    // The server of this tool chose the name of a tool of the client.
    const named = message(5, 'tools/call', { name: 'Bash', arguments: { command: 'ls' } });
    expect((await send('tools/call', named)).decision).toBe('deny');
  });

  it('refuses a message with another content than its method', async () => {
    const client = await opened(await startGuardian());
    const call = message(1, 'tools/call', { name: 'get_weather' });
    const refused = [
      await client.send('protocols/MCP/ping', call),
      await client.send('protocols/MCP/tools/call', message(1, 'tools/call', {})),
      await client.send('protocols/MCP/tools/call', { jsonrpc: '2.0', id: 1 }),
      await client.send('wrapped:mcp-2025-06-18/tools/call', call),
    ];
    expect(refused.map(({ code }) => code)).toEqual([-32602, -32602, -32602, -32003]);
  });

  it('negotiates an explicit version that the client declares', async () => {
    const client = new AcsClient(await startGuardian());
    const methods = ['wrapped:mcp-2025-06-18/*', 'wrapped:mcp-1/*'];
    const { methods_evaluated } = await client.hello({
      methods_implemented: methods,
      wrapped_protocols: [{ protocol: 'MCP', version: '2025-06-18' }],
    });
    expect(methods_evaluated).toEqual(['wrapped:mcp-2025-06-18/*']);
    const call = message(1, 'tools/call', { name: 'get_weather' });
    expect((await client.send('wrapped:mcp-2025-06-18/tools/call', call)).decision).toBe('allow');
  });
});

describe('a refused request', () => {
  /** The code of an answer, and whether it is signed. */
  const refusalOf = (client: AcsClient, body: any) => [
    body.error?.code,
    body.result?.decision,
    client.isSigned(body),
  ];

  it('has no signature if the request has no valid one', async () => {
    const agent = await startGuardian();
    const client = await opened(agent);
    const sent = client.envelope('steps/toolCallRequest', bashCall('ls'));
    const forged = [
      { ...sent, params: { ...sent.params, signature: undefined } },
      { ...sent, params: { ...sent.params, payload: bashCall('ls -a') } },
      { ...sent, method: 'steps/userMessage' },
      { ...sent, id: 'another' },
      { ...sent, params: { ...sent.params, extra: 1 } },
      changed(sent, { key_id: 'none' }),
      changed(sent, { key_id: '__proto__' }),
      changed(sent, { algorithm: 'ECDSA-P256' }),
      changed(sent, { value: '' }),
      changed(sent, { value: macOf(Buffer.alloc(32), sent) }),
    ];
    for (const body of forged) {
      expect(refusalOf(client, (await client.post(body)).body)).toEqual([-32004, undefined, false]);
    }
    const lifted = new AcsClient(agent).envelope('steps/toolCallRequest', bashCall('ls'));
    lifted.params.metadata.session_id = client.session;
    expect((await client.post(lifted)).body.error.code).toBe(-32004);
    expect((await client.post(sent)).body.result.decision).toBe('allow');
    const [refused] = events(agent, 'acs_refused');
    expect(refused?.fields).toEqual({
      ...{ code: -32004, reason: 'signature_invalid', remote_addr: '127.0.0.1' },
    });
  });

  it('has a signature if the request is repeated or stale', async () => {
    const agent = await startGuardian({ skew: '1m' });
    const client = await opened(agent);
    const sent = client.envelope('steps/toolCallRequest', bashCall('ls'));
    expect((await client.post(sent)).body.result.decision).toBe('allow');
    expect(refusalOf(client, (await client.post(sent)).body)).toEqual([-32005, undefined, true]);
    const request = sent.params.request_id;
    expect((await client.bash('ls', { request })).code).toBe(-32005);
    expect((await client.bash('ls', { request: request.toUpperCase() })).code).toBe(-32005);
    const nonce = 'n'.repeat(16);
    expect((await client.bash('ls', { nonce })).decision).toBe('allow');
    expect((await client.bash('ls', { nonce })).code).toBe(-32005);
    for (const distance of [-61_000, 61_000]) {
      const timestamp = new Date(Date.now() + distance).toISOString();
      const { code, data } = await client.bash('ls', { timestamp });
      expect([code, data.skew_window_ms]).toEqual([-32006, 60_000]);
    }
    const hello = client.envelope('handshake/hello', {});
    await client.post(hello);
    expect((await client.post(hello)).body.error.code).toBe(-32005);
  });

  it('may be too long, invalid JSON or no request', async () => {
    const client = await opened(await startGuardian());
    const long = await client.post(`{"a":"${'x'.repeat(1_048_577)}"}`);
    expect([long.status, long.body.error.code]).toEqual([413, -32600]);
    const cut = await client.post('{"jsonrpc":');
    expect([cut.status, cut.body]).toMatchObject([200, { id: null, error: { code: -32700 } }]);
    const sent = client.envelope('steps/toolCallRequest', bashCall('ls'));
    const without = (key: string) => ({ ...sent, params: { ...sent.params, [key]: undefined } });
    const bodies = [
      ...[[], [sent], {}, 1, { ...sent, jsonrpc: '1.0' }, { ...sent, id: null }],
      ...['acs_version', 'request_id', 'timestamp', 'metadata', 'payload'].map(without),
      { ...sent, more: 1 },
      { ...sent, method: 'tools/call' },
      { ...sent, params: { ...sent.params, request_id: 'r-1' } },
      { ...sent, params: { ...sent.params, timestamp: 'yesterday' } },
      `${JSON.stringify(sent).slice(0, -1)},"id":1}`,
      JSON.stringify(sent).replace('ls', '\\ud800'),
    ];
    for (const body of bodies) {
      const { body: answer } = await client.post(body);
      expect(answer.error.code, JSON.stringify(body)).toBeOneOf([-32600, -32700]);
      expect(answer.error.message).not.toBe('');
    }
  });

  it('has a signature if the gate cannot decide', async () => {
    const agent = await startGuardian(
      {},
      {
        security: {
          defer: {
            enabled: true,
            max_pending_per_caller: 1,
            tools: { Bash: { to: 'channel:console:*' } },
          },
        },
      },
    );
    const client = await opened(agent);
    expect((await client.bash('rm 1')).decision).toBe('defer');
    const { decision, reason_codes } = await client.bash('rm 2');
    expect([decision, reason_codes]).toEqual(['deny', ['refused']]);
  });
});

describe('system/ping', () => {
  it('is answered without a signature, and signed if it was signed', async () => {
    const client = await opened(await startGuardian());
    const pong = await client.send('system/ping', { echo: 'hi' });
    expect([pong.decision, pong.payload.status, pong.payload.echo]).toEqual(['allow', 'ok', 'hi']);
    const sent = client.envelope('system/ping', {});
    delete sent.params.signature;
    const { result } = (await client.post(sent)).body;
    expect([result.decision, result.signature, result.chain_hash]).toEqual([
      'allow',
      undefined,
      undefined,
    ]);
  });
});

describe('a gate with a token', () => {
  it('accepts the signature in place of the token, for this route only', async () => {
    const agent = await startTestAgent(
      settings(patient, {
        auth: {
          providers: [
            {
              ...{ type: 'static_token', decide: true },
              settings: { token: 't-1', identity: { user_id: 'ann' } },
            },
          ],
        },
      }),
      { env },
    );
    const client = await opened(agent);
    expect((await client.bash('ls')).decision).toBe('allow');
    const asking = client.bash('rm x');
    const ann = agent.as('t-1');
    const id = await waitingFor(ann);
    expect((await agent.get(`/holds/${id}`)).status).toBe(401);
    expect((await ann.get(`/holds/${id}`)).status).toBe(404);
    await ann.post(`/holds/${id}/decisions`, { decision: 'approve' });
    expect((await asking).decision).toBe('allow');
    expect((await agent.get('/acs')).status).toBe(401);
    const [started] = agent.audit(id);
    expect(started?.fields).toMatchObject({ provider: 'acs', user_id: 'default', agent: 'coder' });
  });
});

async function waitingFor(client: { get: TestAgent['get'] }): Promise<string> {
  const { deferrals } = (await client.get('/deferrals')).body;
  if (deferrals.length > 0) return deferrals[0].task_id;
  await new Promise(setImmediate);
  return waitingFor(client);
}

describe('a restart', () => {
  it('keeps sessions, chains, used requests and waiting calls', async () => {
    const folder = new AgentFolder(settings());
    const before = await startInFolder(folder, env);
    const client = await opened(before);
    const held = await client.bash('rm -rf build');
    const sent = client.envelope('steps/toolCallRequest', bashCall('ls'));
    const head = (await client.post(sent)).body.result.chain_hash;
    await before.stop();
    const after = await startInFolder(folder, env);
    const again = client.through(after);
    expect((await again.post(sent)).body.error.code).toBe(-32005);
    const same = await again.bash('rm -rf build', {
      with: ({ params }) => (params.metadata.session_state = { chain_hash: head }),
    });
    expect([same.decision, same.policy_data.hold_id]).toEqual(['defer', held.policy_data.hold_id]);
    await decide(after, held.policy_data.hold_id, { decision: 'approve' });
    expect((await again.bash('rm -rf build')).decision).toBe('allow');
    const steps = events(after, 'acs_step').map(({ fields }) => fields as any);
    expect(steps.map(({ previous_hash }) => previous_hash)).toEqual([
      null,
      ...steps.slice(0, -1).map(({ entry_hash }) => entry_hash),
    ]);
    folder.remove();
  });
});

it('a gate without secrets serves no Guardian, and refuses short ones', async () => {
  const agent = await startTestAgent({ gate: { tools: { Bash: {} } } } as ServiceSettings);
  expect((await new AcsClient(agent).post({})).status).toBe(404);
  for (const [secrets, message] of [
    [{ default: 'short' }, /the secret is too short; use at least 32 characters/],
    [{}, /there is no secret; add one/],
  ] as const) {
    const starting = startTestAgent(settings({ secrets }), { env });
    const problems = [{ message: expect.stringMatching(message) }];
    await expect(starting).rejects.toMatchObject({ problems });
  }
});

const byName = (one: string, other: string) => one.localeCompare(other);

const changed = (sent: any, part: object) => ({
  ...sent,
  params: { ...sent.params, signature: { ...sent.params.signature, ...part } },
});
