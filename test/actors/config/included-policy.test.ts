import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { formatProblem } from '../../../src/actors/config/config-problem.ts';
import { digestOf, keptPolicyPath } from '../../../src/actors/config/include-reader.ts';
import { loadConfig } from '../../../src/actors/config/load-config.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const hold = { to: 'channel:console:*', approvers: ['ann@example.com', 'bob@example.com'] };
const holding = (rule: object = hold) => ({ defer: { enabled: true, tools: { pay: rule } } });

/** Reads an agent whose file has this security, next to these files; an object is the security of a policy. */
function read(security: object, files: Record<string, string | object> = {}) {
  const folder = temporaryFolder();
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const [file, content] of Object.entries(files)) {
    write(file, typeof content === 'string' ? content : stringify({ security: content }));
  }
  write('service.yaml', stringify({ agent_id: 'x', security }));
  return { folder, loaded: loadConfig(folder, {}) };
}

const including = (...include: unknown[]) => ({ policy: { include } });

/** The problems of an agent, each with its place. */
function problemsOf(...given: Parameters<typeof read>): string[] {
  const { folder, loaded } = read(...given);
  if (loaded.ok) return [];
  return loaded.problems.map((one) => formatProblem(one).replaceAll(folder, 'FOLDER'));
}

describe('an included policy', () => {
  it('is read with its defaults, and with the policies that it includes', () => {
    const { loaded } = read(including('./shared/payments.yaml'), {
      'shared/payments.yaml': { ...holding(), ...including('../more.yaml') },
      'more.yaml': { guardrails: { enabled: true, denied_tools: ['grant'] } },
    });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const { included = [] } = loaded.config;
    expect(
      included.map(({ file, path, security: { defer, guardrails } }) => [
        ...[file, path, Object.keys(defer.tools), guardrails.denied_tools],
      ]),
    ).toEqual([
      ['shared/payments.yaml', 'shared/payments.yaml', ['pay'], []],
      ['more.yaml', 'more.yaml', [], [{ tool: 'grant', shadow: false, optional: false }]],
    ]);
    expect(loaded.files).toEqual(['shared/payments.yaml', 'more.yaml']);
  });

  it('from a URL is read from its local copy', () => {
    const text = stringify({ security: holding() });
    const sha256 = digestOf(text);
    const url = 'https://policies.example.com/payments.yaml?token=x';
    const { loaded } = read(including({ url, sha256 }), { [keptPolicyPath(sha256)]: text });
    expect(loaded.ok && loaded.config.included).toMatchObject([
      { file: 'https://policies.example.com/payments.yaml', path: null },
    ]);
  });

  const sha256 = 'a'.repeat(64);
  const from = (url: string) => including({ url, sha256 });

  it.each<[string, Parameters<typeof read>, RegExp]>([
    [
      'a missing file',
      [including('none.yaml')],
      /^service\.yaml:5:9: there is no none\.yaml in FOLDER; create it, or remove this entry$/,
    ],
    [
      'a path above the folder',
      [including('../other.yaml')],
      /^service\.yaml:5:9: the file is outside of the folder of the agent; /,
    ],
    [
      'an absolute path',
      [including('/etc/hosts')],
      /^service\.yaml:5:9: the file is outside of the folder of the agent; /,
    ],
    [
      'a policy that includes itself',
      [including('a.yaml'), { 'a.yaml': including('b.yaml'), 'b.yaml': including('./a.yaml') }],
      /^b\.yaml:4:9: service\.yaml includes a\.yaml includes b\.yaml includes a\.yaml; remove one of these entries$/,
    ],
    [
      'the file of the agent',
      [including('service.yaml')],
      /^service\.yaml:5:9: service\.yaml includes service\.yaml; remove one of these entries$/,
    ],
    [
      'a URL that is not https',
      [from('http://policies.example.com/x.yaml')],
      /^service\.yaml:5:9: the url must be https without a user and a password$/,
    ],
    [
      'a URL with a password',
      [from('https://ann:pass@policies.example.com/x.yaml')],
      /^service\.yaml:5:9: the url must be https without a user and a password$/,
    ],
    [
      'a URL that was not fetched',
      [from('https://policies.example.com/x.yaml')],
      /^service\.yaml:5:9: https:\/\/policies\.example\.com\/x\.yaml has not been fetched yet; start the agent, which fetches it once$/,
    ],
    [
      'a local copy with another digest',
      [from('https://policies.example.com/x.yaml'), { [keptPolicyPath(sha256)]: {} }],
      /^service\.yaml:5:9: the kept copy of https:\/\/policies\.example\.com\/x\.yaml, \.service\/policies\/a+\.yaml, has another digest; remove it$/,
    ],
    [
      'an invalid digest',
      [including({ url: 'https://x.example.com/', sha256: 'A' })],
      /^service\.yaml:6:\d+: .*SHA-256 in lower-case hexadecimal digits$/,
    ],
    [
      'an invalid policy',
      [including('a.yaml'), { 'a.yaml': 'just a text' }],
      /^a\.yaml:1:1: an included policy must be a map with the key security, as in service\.yaml$/,
    ],
    [
      'a key of the agent',
      [including('a.yaml'), { 'a.yaml': 'security: {}\nauth: {}\n' }],
      /^a\.yaml:2:1: auth cannot be in an included policy; write it in service\.yaml$/,
    ],
    [
      'the mode shadow',
      [including('a.yaml'), { 'a.yaml': { policy: { mode: 'shadow' } } }],
      /^a\.yaml:3:5: security\.policy\.mode cannot be in an included policy; write it in service\.yaml$/,
    ],
    [
      'an invalid rule',
      [including('a.yaml'), { 'a.yaml': holding({ to: 'console' }) }],
      /^a\.yaml:6:\d+: .*the target must be channel:<adapter>:<target>/,
    ],
    [
      'an unknown key',
      [including('a.yaml'), { 'a.yaml': holding({ ...hold, quroum: 2 }) }],
      /^a\.yaml:\d+:\d+: .*quroum/,
    ],
    [
      'an invalid pattern',
      [
        including('a.yaml'),
        { 'a.yaml': { guardrails: { enabled: true, deny_commands: [{ pattern: '(' }] } } },
      ],
      /^a\.yaml:5:\d+: /,
    ],
  ])('is refused with one message and its place: %s', (_, given, sentence) => {
    expect(problemsOf(...given)).toEqual([expect.stringMatching(sentence)]);
  });

  it('is refused through a link that leaves the folder', () => {
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'policy.yaml'), stringify({ security: holding() }));
    const { folder } = read({});
    symlinkSync(join(outside, 'policy.yaml'), join(folder, 'policy.yaml'));
    writeFileSync(
      join(folder, 'service.yaml'),
      stringify({ agent_id: 'x', security: including('policy.yaml') }),
    );
    expect(loadConfig(folder, {})).toMatchObject({
      ok: false,
      problems: [{ line: 5, message: expect.stringMatching(/^the file is outside of the folder/) }],
    });
  });
});

describe('a setting that is looser than the included policy', () => {
  const strict = { ...hold, quorum: 2, timeout: '5m', four_eyes: true };
  const levels = { acr_hierarchy: ['silver', 'gold'] };
  const gold = { step_up: { enabled: true, ...levels, tools: { pay: 'gold' } } };
  const auth = { step_up: { enabled: true, ...levels, tools: { pay: 'silver' } } };

  it.each<[string, object, object, RegExp]>([
    [
      'a release',
      holding({ allow: true }),
      holding(),
      /^service\.yaml:\d+:\d+: shared\.yaml:6:9 holds every call of pay, so this rule can release none; remove it$/,
    ],
    [
      'a smaller quorum',
      holding({ ...hold, quorum: 1 }),
      holding(strict),
      /^service\.yaml:\d+:\d+: shared\.yaml:\d+:\d+ demands a quorum of 2, and an included policy cannot be loosened; /,
    ],
    [
      'a longer timeout',
      holding({ ...hold, timeout: '6m' }),
      holding(strict),
      /shared\.yaml:\d+:\d+ demands a timeout of 5m0s, /,
    ],
    [
      'no four_eyes',
      holding({ ...hold, four_eyes: false }),
      holding(strict),
      /shared\.yaml:\d+:\d+ demands four_eyes: true, /,
    ],
    [
      'other approvers',
      holding({ ...hold, approvers: ['eve@example.com'] }),
      holding(),
      /shared\.yaml:\d+:\d+ demands approvers of its own list, /,
    ],
    [
      'changed arguments',
      holding({ ...hold, edit: true }),
      holding(),
      /shared\.yaml:\d+:\d+ demands edit: false, /,
    ],
    [
      'no passkey',
      holding({ ...hold, require_passkey: false }),
      holding({ ...hold, require_passkey: true }),
      /shared\.yaml:\d+:\d+ demands require_passkey: true, /,
    ],
    [
      'a layer that is off',
      { defer: { enabled: false } },
      holding(),
      /^service\.yaml:\d+:\d+: shared\.yaml:3:14 switches this layer on, and an included policy cannot be loosened; remove this key$/,
    ],
    ['a lower level', auth, gold, /shared\.yaml:\d+:\d+ requires gold, /],
    [
      'another order of levels',
      { step_up: { ...gold.step_up, acr_hierarchy: ['gold', 'silver'] } },
      gold,
      /shared\.yaml:\d+:\d+ has another order of levels, so the rules cannot be compared; /,
    ],
  ])('is an error with both places: %s', (_, own, shared, sentence) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'shared.yaml'), stringify({ security: shared }));
    const identity = { user_id: 'ann', email: 'ann@example.com', claims: { acr: 'gold' } };
    const settings = { token_env: 'TOKEN', identity };
    const providers = [{ type: 'static_token', name: 'ops', settings }];
    const security = { ...own, policy: { include: ['shared.yaml'] } };
    const signIn = { issuer: 'https://id.example.com', client_id: 'page' };
    const approvals = { public_url: 'https://approvals.example.com', sign_in: signIn };
    const service = { agent_id: 'x', auth: { providers }, approvals, security };
    writeFileSync(join(folder, 'service.yaml'), stringify(service));
    const loaded = loadConfig(folder, { TOKEN: 'a-token-that-is-long-enough-0123456789' });
    expect(loaded.ok ? [] : loaded.problems.map(formatProblem)).toEqual([
      expect.stringMatching(sentence),
    ]);
  });

  it('is accepted where a condition decides, because the stricter rule wins at each call', () => {
    const { loaded } = read(
      { ...holding({ when: 'args.amount < 5', allow: true }), ...including('a.yaml') },
      { 'a.yaml': holding([{ when: 'args.amount > 9', ...hold }] as object) },
    );
    expect(loaded.ok).toBe(true);
  });
});

describe('two policies together', () => {
  const ann = { ...hold, approvers: ['ann@example.com'] };
  const bob = { ...hold, approvers: ['bob@example.com'] };
  const both = (other: object) =>
    [including('./a.yaml', './b.yaml'), { 'a.yaml': holding(ann), 'b.yaml': other }] as const;

  it.each<[string, Parameters<typeof read>, RegExp]>([
    [
      'approvers of the agent who are not on the included list',
      [
        {
          defer: {
            ...holding({ to: 'channel:console:*' }).defer,
            default_approvers: ['bob@example.com'],
          },
          ...including('./a.yaml'),
        },
        { 'a.yaml': holding(ann) },
      ],
      /^service\.yaml:\d+:\d+: the quorum can never be met: 1 approvals are needed and 0 may approve both by this rule and by a\.yaml:\d+:\d+; /,
    ],
    [
      'two disjoint included lists',
      [
        { ...holding({ ...hold, quorum: 2 }), ...including('./a.yaml') },
        {
          'a.yaml': holding({
            ...hold,
            approvers: ['ann@example.com', 'cy@example.com'],
            quorum: 2,
          }),
        },
      ],
      /demands approvers of its own list/,
    ],
    [
      'two included lists without a common person',
      [...both(holding(bob))],
      /^a\.yaml:\d+:\d+: the quorum can never be met: 1 approvals are needed and 0 may approve both by this rule and by b\.yaml:\d+:\d+; /,
    ],
    [
      'two included targets without approvers, even under a condition',
      [
        including('./a.yaml', './b.yaml'),
        {
          'a.yaml': holding({ to: 'channel:console:ops' }),
          'b.yaml': holding([{ when: 'true', to: 'channel:console:friends' }]),
        },
      ],
      /^a\.yaml:\d+:\d+: b\.yaml:\d+:\d+ asks another target, and neither rule names approvers; /,
    ],
    [
      'two included rules that rewrite one call',
      [
        including('./a.yaml', './b.yaml'),
        {
          'a.yaml': { modify: { enabled: true, tools: { pay: {} } } },
          'b.yaml': { modify: { enabled: true, tools: { pay: {} } } },
        },
      ],
      /^a\.yaml:\d+:\d+: b\.yaml:\d+:\d+ rewrites the same call, /,
    ],
    [
      'two effects for one call',
      [
        {
          ...including('./a.yaml'),
          effects: { 'pay_*': { key: 'ours', repeat: 'deny' } },
        },
        { 'a.yaml': { effects: { pay_out: { key: 'theirs', repeat: 'deny' } } } },
      ],
      /^service\.yaml:\d+:\d+: a\.yaml:\d+:\d+ has an effect for the same calls, and a call has only one; /,
    ],
  ])('have a problem with %s', (_, given, problem) => {
    const problems = problemsOf(...given);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  it('have a warning for lists under a condition', () => {
    const { loaded } = read(...both(holding([{ when: 'true', ...bob }])));
    expect(
      loaded.warnings.map(({ file, message }) => [file, message.split(':')[0]]),
    ).toContainEqual(['a.yaml', 'the quorum can never be met']);
    expect(loaded.ok).toBe(true);
  });
});
