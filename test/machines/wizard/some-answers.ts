import fc from 'fast-check';
import {
  type AgentAnswers,
  firstAnswers,
  type Question,
  questions,
} from '../../../src/machines/wizard/agent-answers.ts';
import {
  authOffers,
  channels,
  egressModes,
  providers,
  searchServices,
  tools,
  type WizardOffer,
} from '../../../src/machines/wizard/offers.ts';

/** A place without a registry and without sign-in. */
export const noOffer: WizardOffer = { skills: [], signIn: [] };

/** A place with two skills. */
export const anOffer: WizardOffer = {
  skills: [
    {
      ...{ name: 'github', description: 'Reads issues', category: 'code', tools: ['list_issues'] },
      held: ['list_issues'],
      egress_domains: ['api.github.com'],
      env: { required: ['GITHUB_TOKEN'], one_of: [], optional: ['GITHUB_ORG'] },
    },
    {
      ...{ name: 'weather', description: 'Tells the weather', category: 'daily', tools: [] },
      held: [],
      egress_domains: [],
      env: { required: [], one_of: ['OWM_KEY', 'METEO_KEY'], optional: [] },
    },
  ],
  signIn: [],
};

const evil = fc.constantFrom(
  ...[
    '',
    ' ',
    'x: y\n- z',
    '*a',
    '!!x',
    '&a',
    '${HOME}',
    '$${',
    "it's",
    '"q"',
    '`',
    '#c',
    'a\\nb',
    '\0',
  ],
  ...[
    '\u2028',
    '\ud800',
    'ö',
    'null',
    '1e3',
    'yes',
    '{a: 1}',
    '- x',
    '%TAG',
    '__proto__',
    'x'.repeat(90),
  ],
);
const word = fc.oneof(fc.constantFrom('a', 'refunds', 'ops', 'gpt-5'), evil, fc.string());
const key = fc.oneof(fc.constantFrom('', 'sk-123', 'xoxb-1', 'xapp-2', '12:ab', '${KEY}'), evil);
const address = fc.oneof(
  fc.constantFrom('', 'https://m.example.com/v1', 'http://127.0.0.1:1/v1', 'http://10.0.0.1/'),
  evil,
);
const host = fc.oneof(
  fc.constantFrom(
    'api.example.com',
    '*.example.org',
    'x.example.com:8443',
    '10.0.0.1',
    '*',
    'A.b',
    '0x7f',
    'a.1',
  ),
  evil,
  fc.domain(),
);
const variable = fc.oneof(
  fc.constantFrom(
    'SHOP_KEY',
    'OPENAI_API_KEY',
    'MODEL_API_KEY',
    'PATH',
    'LD_PRELOAD',
    'SERVICE_TOKEN',
    'A',
  ),
  evil,
);
const variables = fc.dictionary(variable, fc.oneof(key, word), { maxKeys: 3 });
const target = fc.oneof(
  fc.constantFrom('channel:console:*', 'channel:dashboard:*', 'channel:slack:#ops'),
  fc.constantFrom('channel:webhook:ops', 'channel:telegram:1', 'channel:slack: ', 'console'),
  evil,
);
const email = fc.oneof(
  fc.constantFrom('ann@example.com', 'ANN@example.com', 'bob@example.com'),
  evil,
);
const timeout = fc.oneof(fc.constantFrom('5m', '0', '0s', '90s', '99d', '1.5h'), evil);

function oneOf(names: readonly string[]) {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: evil },
  );
}

function someOf(names: readonly string[]) {
  return fc.oneof(
    { weight: 6, arbitrary: fc.subarray([...names]) },
    { weight: 1, arbitrary: fc.array(oneOf(names), { maxLength: 3 }) },
  );
}

const names = (offers: readonly { name: string }[]) => offers.map(({ name }) => name);
const skillNames = names(anOffer.skills);
const toolNames = [...names(tools), 'list_issues'];
const fieldNames = [...channels, ...authOffers].flatMap(({ fields }) => names(fields));
const values = fc.oneof(
  fc.constantFrom(
    'xoxb-1',
    'xapp-1',
    '12:ab',
    'ops',
    'https://a.example.com',
    'eu-central-1',
    'x'.repeat(20),
  ),
  word,
  fc.array(fc.oneof(word, fc.constantFrom('123456789012', '@ann', '42')), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('user_id', 'email'), word),
);
const settings = fc.dictionary(fc.constantFrom(...fieldNames), values);

/** Settings that are right, as chance seldom makes them. */
const rightSettings: Record<string, AgentAnswers['auth']['settings']> = {
  none: {},
  custom: {},
  oidc: { issuer: 'https://id.example.com', audience: ['a', ''], claim_map: { user_id: 'oid' } },
  http_verifier: { url: 'http://localhost:9/v' },
  cloud_sigv4: { region: 'eu-central-1', allowed_accounts: ['123456789012'] },
  cloud_iap: { audience: ['/projects/1', '/projects/2'] },
  directory_ad: { tenant_id: '11111111-2222-3333-4444-555555555555', audience: ['api://x'] },
};

/** Answers to each step, right ones and wrong ones. */
export const answersTo: { [Each in Question]: fc.Arbitrary<AgentAnswers[Each]> } = {
  name: fc.oneof(fc.constantFrom('desk', 'Refund Desk', '1e3', 'null'), word),
  provider: oneOf(names(providers)),
  model: fc.record({ name: word, address, key, session: fc.constant(''), organization: word }),
  channels: fc
    .tuple(someOf(names(channels)), settings)
    .map(([chosen, given]) =>
      Object.fromEntries(
        chosen.map((name) => [
          name,
          name === 'webhook'
            ? { target: 'ops', url: 'https://ops.example.com/x', ...given }
            : given,
        ]),
      ),
    ),
  tools: fc.record({
    names: someOf(names(tools)),
    search: oneOf(names(searchServices)),
    key,
    commands: fc.array(fc.oneof(fc.constantFrom('jq', 'sh', './x'), evil), { maxLength: 2 }),
  }),
  skills: fc.record({ names: fc.constantFrom([], ...skillNames.map((name) => [name])), variables }),
  fallback: fc.array(fc.record({ provider: oneOf(names(providers)), name: word, address, key }), {
    maxLength: 3,
  }),
  auth: fc.oneof(
    fc.record({ mode: oneOf(authOffers.map(({ mode }) => mode)), settings }),
    fc
      .constantFrom(...Object.keys(rightSettings))
      .map((mode) => ({ mode, settings: rightSettings[mode] ?? {} })),
  ),
  egress: fc.record({ mode: oneOf(egressModes), hosts: fc.array(host, { maxLength: 3 }) }),
  security: fc.record({
    variables,
    passphrase: fc.oneof(fc.constantFrom('', 'long enough'), evil),
  }),
  approvals: fc.dictionary(
    oneOf(toolNames),
    fc.record({
      to: target,
      timeout,
      quorum: fc.constantFrom(1, 2, 0, 1.5, Number.NaN),
      approvers: fc.array(email, { maxLength: 3 }),
    }),
    { maxKeys: 3 },
  ),
};

/** Answers that may be wrong anywhere; most steps are as they begin, so that whole ones come often. */
export const someAnswers: fc.Arbitrary<AgentAnswers> = fc
  .tuple(fc.record(answersTo), fc.subarray([...questions], { maxLength: 3 }))
  .map(([some, chosen]) => ({
    ...firstAnswers,
    name: 'Refund Desk',
    ...Object.fromEntries(chosen.map((step) => [step, some[step]])),
  }));
