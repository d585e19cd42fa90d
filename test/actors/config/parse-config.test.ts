import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../../src/actors/config/config.ts';
import { linesOf, read } from './reading.ts';

const full = `agent_id: refunds
version: 1.2.0
description: Handles refunds
model:
  provider: scripted
  name: demo
  base_url: ""
  organization_id: ""
  fallbacks: [{provider: anthropic, name: claude-sonnet-4-5}]
  script: [{tool: t, args: {a: [1, null]}}, {tool: u}, {say: done}]
builtin_tools: [datetime_now]
tools: [{name: t, idempotent: true}, {name: u}]
skills: {path: SKILL.md}
channels: [slack]
egress:
  mode: deny-all
  allowed_domains: ["api.example.com", "*.example.org"]
  allow_private_ips: false
  allowed_private_cidrs: [10.0.0.0/8]
workflow_propagation: {allowed_hosts: []}
card: {security_schemes: {}}
auth:
  required: true
  providers:
    - {type: static_token, name: ops, settings: {token_env: SERVICE_TOKEN}}
    - type: static_token
      settings: {token: t0ken, identity: {user_id: u, email: e@f.gh, claims: {acr: high}}}
server:
  public_url: ""
  cors_origins: []
  write_timeout: 0s
  hold_heartbeat: 25s
  rate_limit: {read_rps: 50, read_burst: 200, write_rps: 20, write_burst: 100, cancel_exempt: true, trusted_proxies: []}
security:
  intent_alignment: {enabled: false, provider: openai, model: text-embedding-3-small, threshold: 0.5, hard_threshold: 0.3}
  step_up: {enabled: false, tools: {t: high}, acr_hierarchy: [low, high]}
  modify:
    enabled: false
    tools:
      t:
        arguments: [{path: a.0, set: {b: 1}}, {path: a, remove: true}, {path: a, replace: {pattern: x, with: y}}]
        output: [{replace: {pattern: x, with: y}}]
  guardrails:
    enabled: false
    deny_commands: [{pattern: rm, message: no}]
    deny_prompts: [{pattern: x}]
    deny_output: [{pattern: x, action: redact}]
    denied_tools: [v]
  defer:
    enabled: true
    default_timeout: 5m
    default_approvers: []
    on_restart: resume
    on_stream_disconnect: keep
    on_reject: fail
    bind_approver: true
    tools:
      t:
        to: "channel:slack:#refunds"
        timeout: 1m30s
        context_template: "{tool} wants {args}"
        approvers: [ann@example.com]
        quorum: 1
        four_eyes: true
      u: {to: ["channel:console:*", "channel:slack:C1", "channel:console:*"], optional: true}
credentials: []
audit:
  path: audit.ndjson
  chain: false
  signing: {enabled: false, key_env: KEY, kid: k}
  capture: {tool_args: true, tool_result: true, llm_messages: true, max_bytes: 1}
  rotation: {max_bytes: 65536, daily: true, keep: 3}
  sinks: [{type: stdout}, {type: unix, path: a.sock}]
observability: {tracing: {enabled: false, endpoint: e, service_name: s, sampler: always_on}}
store: {kind: sqlite, path: tasks.db, retention: 1d}
secrets: {providers: [env], path: s.enc}
`;

describe('a file with every section', () => {
  const reading = read(full, { SERVICE_TOKEN: 'x' });
  const config = reading.ok ? reading.config : null;

  it('is accepted', () => {
    expect(linesOf(reading).filter((line) => line.startsWith('error'))).toEqual([]);
  });

  it('keeps its key names and has durations in milliseconds', () => {
    expect(config?.security.defer).toEqual({
      enabled: true,
      default_timeout: 300_000,
      default_approvers: [],
      on_restart: 'resume',
      max_pending_per_caller: 100,
      on_stream_disconnect: 'keep',
      on_reject: 'fail',
      on_timeout: 'fail',
      bind_approver: true,
      tools: {
        t: [
          {
            shadow: false,
            to: ['channel:slack:#refunds'],
            timeout: 90_000,
            context_template: '{tool} wants {args}',
            approvers: ['ann@example.com'],
            quorum: 1,
            remind: false,
            four_eyes: true,
            never_remember: false,
            edit: false,
            optional: false,
          },
        ],
        u: [
          {
            shadow: false,
            to: ['channel:console:*', 'channel:slack:C1'],
            timeout: 300_000,
            context_template: 'tool={tool} args={args}',
            approvers: [],
            quorum: 1,
            remind: false,
            four_eyes: false,
            never_remember: false,
            edit: false,
            optional: true,
          },
        ],
      },
    });
    expect(config?.model.script).toEqual([
      { tool: 't', args: { a: [1, null] } },
      { tool: 'u', args: {} },
      { say: 'done' },
    ]);
    expect(config?.tools).toEqual([
      { name: 't', config: {}, idempotent: true },
      { name: 'u', config: {}, idempotent: false },
    ]);
    expect(config?.store).toEqual({ kind: 'sqlite', path: 'tasks.db', retention: 86_400_000 });
    expect(config?.egress?.mode).toBe('deny-all');
    expect(config?.server.rate_limit?.write_burst).toBe(100);
  });

  it('keeps the settings of its providers and names a provider after its type', () => {
    expect(config?.auth).toEqual({
      required: true,
      providers: [
        {
          ...{ type: 'static_token', name: 'ops', decide: false },
          settings: { token_env: 'SERVICE_TOKEN' },
        },
        {
          type: 'static_token',
          name: 'static_token',
          decide: false,
          settings: {
            token: 't0ken',
            identity: { user_id: 'u', email: 'e@f.gh', claims: { acr: 'high' } },
          },
        },
      ],
    });
  });
});

it('the parser fills in every default', () => {
  expect(read('agent_id: x')).toEqual({
    ok: true,
    problemAt: expect.any(Function),
    policies: [expect.any(Object)],
    files: [],
    layers: { guardrails: null, modify: null },
    warnings: [],
    config: {
      agent_id: 'x',
      version: '0.0.0',
      description: '',
      model: {
        provider: 'scripted',
        name: 'demo',
        base_url: '',
        organization_id: '',
        timeout: 300_000,
        stream_interval: 20,
        max_turns: 50,
        max_failed_turns: 5,
        max_time: 3_600_000,
        fallbacks: [],
        script: [],
      },
      instructions: '',
      builtin_tools: [],
      tools: [],
      mcp: { servers: [], views: [] },
      skills: { path: 'SKILL.md' },
      channels: [],
      egress: {
        mode: 'allowlist',
        allowed_domains: [],
        allow_private_ips: false,
        allowed_private_cidrs: [],
        allowed_private: [],
        sandbox: 'auto',
        writable: [],
      },
      workflow_propagation: { allowed_hosts: [] },
      card: { security_schemes: {} },
      auth: { required: false, providers: [] },
      server: {
        public_url: '',
        cors_origins: [],
        write_timeout: 0,
        hold_heartbeat: 25_000,
        task_access: 'org',
        a2a_hold: false,
        a2a_answer: 'artifact',
        mcp: false,
        rate_limit: {
          read_rps: 50,
          read_burst: 200,
          write_rps: 20,
          write_burst: 100,
          cancel_exempt: true,
          trusted_proxies: [],
        },
      },
      security: {
        policy: { mode: 'enforce', reload: 'auto', include: [], environment: [] },
        intent_alignment: {
          enabled: false,
          provider: 'openai',
          model: 'text-embedding-3-small',
          threshold: 0.5,
          hard_threshold: 0.3,
          timeout: 5_000,
        },
        step_up: { enabled: false, tools: {}, acr_hierarchy: [] },
        modify: { enabled: false, tools: {} },
        guardrails: {
          enabled: false,
          deny_commands: [],
          deny_prompts: [],
          deny_output: [],
          denied_tools: [],
          redact: [],
        },
        defer: {
          enabled: false,
          default_timeout: 600_000,
          default_approvers: [],
          on_restart: 'abandon',
          max_pending_per_caller: 100,
          on_stream_disconnect: 'abandon',
          on_reject: 'fail',
          on_timeout: 'fail',
          bind_approver: false,
          tools: {},
        },
        limits: {},
        effects: {},
      },
      credentials: [],
      audit: {
        path: '.service/audit.ndjson',
        chain: true,
        sign: false,
        signing: { enabled: false, key_env: 'SERVICE_AUDIT_SIGNING_KEY', kid: 'service-audit-v1' },
        capture: { tool_args: false, tool_result: false, llm_messages: false, max_bytes: 16_384 },
        vocabulary: 'holdpoint',
        rotation: { max_bytes: 67_108_864, daily: false, keep: 0 },
        sinks: [],
      },
      observability: {
        tracing: {
          enabled: false,
          endpoint: '',
          service_name: '',
          sampler: 'parentbased_always_on',
        },
      },
      store: { kind: 'sqlite', path: '.service/tasks.db', retention: 604_800_000 },
      secrets: { providers: ['encrypted-file', 'env'], path: '.service/secrets.enc' },
    },
  });
});

describe('the shape', () => {
  it.each([
    ['version: one', '1:1 agent_id | agent_id: this key is missing; add it'],
    ['# a\n\n  version: 1.0.0', '3:3 agent_id | agent_id: this key is missing; add it'],
    [
      'agent_id: Refund_Desk',
      '1:11 agent_id | agent_id: the agent id must be kebab-case, such as refund-desk',
    ],
    [`agent_id: ${'x'.repeat(65)}`, '1:11 agent_id | agent_id: this must be at most 64 characters'],
    ['agent_id: x\nversion: 1.2', '2:10 version | version: this must be text; put it in quotes'],
    [
      'agent_id: x\nmodel: {provider: gpt}',
      '2:19 model.provider | model.provider: this must be one of scripted, openai, openai-compatible, anthropic, google, ollama',
    ],
    [
      'agent_id: x\nmodel:\n  script:\n    - {say: hi}\n    - {tol: x}',
      '5:7 model.script.1 | model.script.1: a step of the script must be {tool, args} or {say}',
    ],
    [
      'agent_id: x\nchannels: slack',
      '2:11 channels | channels: this must be a list, such as [a, b]',
    ],
    [
      'agent_id: x\nsecurity: on',
      '2:11 security | security: this must be a map of keys and values',
    ],
    [
      'agent_id: x\ntools:\n  - idempotent: true',
      '3:5 tools.0.name | tools.0.name: this key is missing; add it',
    ],
    [
      'agent_id: x\nauth: {required: "yes"}',
      '2:18 auth.required | auth.required: this must be true or false',
    ],
    [
      'agent_id: x\nstore: {kind: mysql}',
      '2:15 store.kind | store.kind: this must be one of sqlite, postgres',
    ],
    [
      'agent_id: x\nstore: {retention: 25d}',
      '2:20 store.retention | store.retention: a duration must be at most 24 days (576h)',
    ],
    ...Object.entries({
      soon: 'this is not a duration; write 90s, 5m or 1h30m',
      '1ns': 'this is not a duration; write 90s, 5m or 1h30m',
      '25': 'this is not a duration; write 90s, 5m or 1h30m',
      '-25s': 'a duration must not be negative; write 90s, 5m or 1h30m',
      '99ms': 'the heartbeat of a hold is at least 100ms; write 25s, or 0s for none',
      '25d': 'a duration must be at most 24 days (576h)',
    }).map(([written, told]): [string, string] => [
      `agent_id: x\nserver: {hold_heartbeat: ${written}}`,
      `2:26 server.hold_heartbeat | server.hold_heartbeat: ${told}`,
    ]),
    [
      'agent_id: x\naudit: {capture: {max_bytes: 1.5}}',
      '2:30 audit.capture.max_bytes | audit.capture.max_bytes: this must be a whole number',
    ],
    [
      'agent_id: x\nserver: {rate_limit: {read_rps: 0}}',
      '2:33 server.rate_limit.read_rps | server.rate_limit.read_rps: this must be above 0',
    ],
    [
      'agent_id: x\nmodel: {script: [{tool: t, args: {a: .nan}}]}',
      '2:38 model.script.0.args.a | this value cannot be used; write text, a number, true or false',
    ],
    ['agent_id: x\n? true\n: 1', '2:3  | this cannot be a key; write a plain word'],
    ['agent_id: x\n__proto__: {}', '2:1  | this cannot be a key; write a plain word'],
  ])('refuses %j', (text, line) => {
    expect(linesOf(read(text)).filter((found) => found.startsWith('error'))).toEqual([
      `error ${line}`,
    ]);
  });
});

describe('an unknown key', () => {
  it.each([
    ['security: {defre: {}}', 'error 2:12 security.defre', 'did you mean defer?'],
    ['security: {defer: {tols: {}}}', 'error 2:20 security.defer.tols', 'did you mean tools?'],
    [
      'security: {defer: {tools: {t: {timout: 5m}}}}',
      'error 2:32 security.defer.tools.t.timout',
      'did you mean timeout?',
    ],
    ['auth: {require: true}', 'error 2:8 auth.require', 'did you mean required?'],
    ['egress: {domains: []}', 'error 2:10 egress.domains', 'remove it'],
    ['audit: {singing: {}}', 'error 2:9 audit.singing', 'did you mean signing?'],
    ['stroe: {}', 'warning 2:1 stroe', 'did you mean store?'],
    ['store: {pth: x}', 'warning 2:9 store.pth', 'did you mean path?'],
    [
      'tools: [{name: t, idempotnt: true}]',
      'warning 2:19 tools.0.idempotnt',
      'did you mean idempotent?',
    ],
    ['securty: {defer: {enabled: true}}', 'error 2:1 securty', 'did you mean security?'],
    ['egres: {mode: deny-all}', 'error 2:1 egres', 'did you mean egress?'],
    ['something_else: 1', 'warning 2:1 something_else', 'remove it'],
  ])('is found in %s', (text, place, advice) => {
    const path = place.split(' ')[2];
    expect(linesOf(read(`agent_id: x\n${text}`))).toContain(
      `${place} | ${path}: unknown key; ${advice}`,
    );
  });

  it('is found in the settings of a provider by its type', () => {
    const text =
      'agent_id: x\nauth: {providers: [{type: static_token, settings: {token: "${A}", tokn: b}}]}';
    expect(linesOf(read(text, { A: 'a' }))).toEqual([
      'error 2:67 auth.providers.0.settings.tokn | auth.providers.0.settings.tokn: unknown key; did you mean token?',
    ]);
  });

  it('is allowed where the form is free', () => {
    const text = 'agent_id: x\nmodel: {script: [{tool: t, args: {c: 1}}]}';
    expect(linesOf(read(text))).toEqual([]);
  });
});

describe('variables', () => {
  it('are filled in in values, but not in keys', () => {
    const text = 'agent_id: ${ID}\ncard: {security_schemes: {"${ID}": "<${ID}>", raw: "$${ID}"}}';
    const reading = read(text, { ID: 'refunds' });
    expect(reading).toMatchObject({
      ok: true,
      config: {
        agent_id: 'refunds',
        card: { security_schemes: { '${ID}': '<refunds>', raw: '${ID}' } },
      },
    });
  });

  it('cause one error each where they are missing', () => {
    const text =
      'agent_id: x\nsecurity:\n  defer:\n    default_timeout: ${WAIT}\n    enabled: true\n    tools: {t: {to: "${TO}"}}';
    expect(linesOf(read(text))).toEqual([
      'error 4:22 security.defer.default_timeout | the environment variable WAIT is not set; set it or write the value here',
      'error 6:21 security.defer.tools.t.to | the environment variable TO is not set; set it or write the value here',
    ]);
  });

  it('are not filled in where a variable name is expected', () => {
    const text =
      'agent_id: x\nauth: {providers: [{type: static_token, settings: {token_env: "${TOKEN}"}}]}';
    expect(linesOf(read(text, { TOKEN: 'secret' }))).toEqual([
      'error 2:63 auth.providers.0.settings.token_env | auth.providers.0.settings.token_env: this must be the bare name of an environment variable, without ${}',
    ]);
  });
});

it('all problems are reported at once, in the order of the file', () => {
  const text = `agent_id: Bad Id
model: {provider: gpt}
tools: [{name: t}, {}, {name: t}]
auth:
  providers:
    - {type: nothing}
    - {type: static_token, name: a, settings: {token_env: TOKEN}}
    - {type: static_token, name: a, settings: {token: b}}
security:
  step_up: {enabled: true}
  defer:
    enabled: true
    default_timeout: 5
    typo: 1
    tools:
      t: {to: "channel:telegram:x", timeout: 1e9h}
      u: {approvers: [ann@example.com], quorum: 2, four_eyes: true}
`;
  expect(linesOf(read(text)).map((line) => line.split(' |')[0])).toEqual([
    'error 1:11 agent_id',
    'error 2:19 model.provider',
    'error 3:20 tools.1.name',
    'error 3:31 tools.2.name',
    'error 6:14 auth.providers.0.type',
    'error 7:59 auth.providers.1.settings.token_env',
    'error 8:34 auth.providers.2.name',
    'error 10:12 security.step_up.tools',
    'error 13:22 security.defer.default_timeout',
    'error 14:5 security.defer.typo',
    'error 16:15 security.defer.tools.t.to',
    'error 16:46 security.defer.tools.t.timeout',
    'error 17:10 security.defer.tools.u.to',
    'warning 8:55 auth.providers.2.settings.token',
  ]);
});

it('a problem is printed with its place', () => {
  const problem = {
    message: 'it is wrong',
    file: 'service.yaml',
    line: 12,
    column: 7,
    path: 'a.b',
  };
  expect(formatProblem(problem)).toBe('service.yaml:12:7: it is wrong');
});
