import { describe, expect, it } from 'vitest';
import {
  type AgentAnswers,
  firstAnswers,
  firstApproval,
} from '../../../src/machines/wizard/agent-answers.ts';
import { readAnswers } from '../../../src/machines/wizard/read-answers.ts';
import { wrongAnswer } from '../../../src/machines/wizard/wrong-answers.ts';
import { anOffer, noOffer } from './some-answers.ts';

function answersOf(sent: unknown): AgentAnswers {
  return readAnswers(sent, anOffer.skills);
}

/** What could be sent in the place of something else. */
const strange = [null, 1, true, ['a'], { a: 1 }];

it.each([undefined, null, 1, 'name', [], ['name'], {}, { vax: 'x' }])(
  'contains the initial answers for %j',
  (sent) => {
    expect(answersOf(sent)).toEqual(firstAnswers);
  },
);

it('ignores properties of the prototype', () => {
  const sent: unknown = Object.create({ name: 'x', model: 'gpt-5', egress: { mode: 'dev-open' } });
  expect(answersOf(sent)).toEqual(firstAnswers);
});

it('accepts complete answers unchanged, except for blanks around keys', () => {
  const whole: AgentAnswers = {
    name: ' Refund Desk ',
    provider: 'openai',
    model: { name: ' gpt-5 ', address: ' a ', key: 'sk-1', session: 's', organization: ' o ' },
    channels: { slack: { bot_token: ' xoxb-1 ' }, telegram: { allowed_users: ['@ann'] } },
    tools: { names: ['web_search'], search: 'perplexity', key: 'pplx', commands: ['jq'] },
    skills: { names: ['github'], variables: { GITHUB_TOKEN: ' t ' } },
    fallback: [{ provider: 'ollama', name: ' m ', address: ' b ', key: 'k' }],
    auth: { mode: 'http_verifier', settings: { url: 'https://v.example.com' } },
    egress: { mode: 'dev-open', hosts: ['a.b'] },
    security: { variables: { SHOP_KEY: ' s ' }, passphrase: ' long enough ' },
    approvals: {
      web_search: {
        to: 'channel:slack:#ops',
        timeout: '1h',
        quorum: 2,
        approvers: ['ann@example.com', 'bob@example.com'],
      },
    },
  };
  const keyed = {
    ...whole,
    model: { ...whole.model, key: ' sk-1\n' },
    tools: { ...whole.tools, key: '\tpplx ' },
    fallback: [{ ...whole.fallback[0], key: ' k ' }],
  };
  expect(answersOf(whole)).toEqual(whole);
  expect(answersOf(keyed)).toEqual(whole);
});

describe('the name and the provider', () => {
  it.each(strange)('are empty for %j', (value) => {
    expect(answersOf({ name: value, provider: value })).toEqual({
      ...firstAnswers,
      name: '',
      provider: '',
    });
  });
});

describe('a model', () => {
  it.each<[unknown, Partial<AgentAnswers['model']>]>([
    ['gpt-5', { name: 'gpt-5' }],
    [{ name: 'gpt-5' }, { name: 'gpt-5' }],
    [{ key: 'k', vax: 'x' }, { key: 'k' }],
    [{ name: 1, address: [], key: null, session: {}, organization: true }, {}],
    [['gpt-5'], {}],
    [null, {}],
  ])('is read from %j', (model, read) => {
    expect(answersOf({ model }).model).toEqual({ ...firstAnswers.model, ...read });
  });
});

describe('channels', () => {
  it.each<[unknown, AgentAnswers['channels']]>([
    [['slack', 'webhook'], { slack: {}, webhook: {} }],
    [['vax', 1], { vax: {}, '': {} }],
    [{ slack: {}, vax: { a: 'a' } }, { slack: {} }],
    [
      { slack: null, telegram: 'x' },
      { slack: {}, telegram: {} },
    ],
    [
      { telegram: { bot_token: 1, allowed_users: '@ann, 42', vax: 'x' } },
      { telegram: { allowed_users: ['@ann', '42'] } },
    ],
    ['slack', {}],
    [null, {}],
  ])('are read from %j', (channels, read) => {
    expect(answersOf({ channels }).channels).toEqual(read);
  });
});

describe('tools', () => {
  it.each<[unknown, Partial<AgentAnswers['tools']>]>([
    [['glob_search', 1], { names: ['glob_search', ''] }],
    [[], { names: [] }],
    [{ names: [] }, { names: [] }],
    [{ names: 'glob_search, web_fetch' }, { names: ['glob_search', 'web_fetch'] }],
    [{ names: '' }, { names: [] }],
    [{ names: 1 }, { names: [''] }],
    [{ names: null }, { names: [''] }],
    [
      { search: 1, commands: {} },
      { search: '', commands: [''] },
    ],
    [{ commands: 'jq' }, { commands: ['jq'] }],
    [{ commands: ['jq', null] }, { commands: ['jq', ''] }],
    ['glob_search', {}],
    [null, {}],
  ])('are read from %j', (tools, read) => {
    expect(answersOf({ tools }).tools).toEqual({ ...firstAnswers.tools, ...read });
  });
});

describe('skills', () => {
  it.each<[unknown, AgentAnswers['skills']]>([
    [['github', 1], { names: ['github', ''], variables: {} }],
    [{ names: 'github, weather' }, { names: ['github', 'weather'], variables: {} }],
    [{ names: {} }, { names: [''], variables: {} }],
    [{ variables: { A: 'a', B: 1, c: '', D: null } }, { names: [], variables: { A: 'a', c: '' } }],
    [{ variables: ['A'] }, { names: [], variables: {} }],
    ['github', { names: [], variables: {} }],
    [null, { names: [], variables: {} }],
  ])('are read from %j', (skills, read) => {
    expect(answersOf({ skills }).skills).toEqual(read);
  });
});

describe('fallbacks', () => {
  const none = { provider: '', name: '', address: '', key: '' };

  it.each<[unknown, AgentAnswers['fallback']]>([
    [[], []],
    [
      [{}, 'gpt-5', null, ['a'], { provider: 'google', vax: 1 }],
      [none, { ...none, provider: 'google' }],
    ],
    [[{ provider: 1, name: 2, address: 3, key: 4 }], [none]],
    [{ provider: 'google' }, []],
    ['google', []],
    [null, []],
  ])('are read from %j', (fallback, read) => {
    expect(answersOf({ fallback }).fallback).toEqual(read);
  });
});

describe('a sign-in method', () => {
  const issuer = 'https://id.example.com';

  it.each<[unknown, AgentAnswers['auth']]>([
    [undefined, { mode: 'none', settings: {} }],
    [null, { mode: 'none', settings: {} }],
    [{}, { mode: 'none', settings: {} }],
    ['oidc', { mode: 'oidc', settings: {} }],
    ['', { mode: '', settings: {} }],
    [
      { mode: 'oidc', issuer, vax: 1 },
      { mode: 'oidc', settings: { issuer } },
    ],
    [
      { mode: 'oidc', settings: { issuer } },
      { mode: 'oidc', settings: { issuer } },
    ],
    [
      { mode: 'oidc', issuer: 'another', audience: 'a, b', settings: { issuer } },
      { mode: 'oidc', settings: { issuer, audience: ['a', 'b'] } },
    ],
    [
      { mode: 'none', issuer },
      { mode: 'none', settings: {} },
    ],
    [
      { mode: 'vax', issuer },
      { mode: 'vax', settings: {} },
    ],
    [
      { mode: 1, issuer },
      { mode: '', settings: {} },
    ],
    [{ issuer }, { mode: '', settings: {} }],
    [[], { mode: '', settings: {} }],
    [['oidc'], { mode: '', settings: {} }],
    [1, { mode: '', settings: {} }],
    [false, { mode: '', settings: {} }],
  ])('is read from %j, and an invalid one does not become "none"', (auth, read) => {
    expect(answersOf({ auth }).auth).toEqual(read);
  });
});

describe('the egress mode', () => {
  it.each<[unknown, AgentAnswers['egress']]>([
    [{ hosts: 'a.b, c.d' }, { mode: 'allowlist', hosts: ['a.b', 'c.d'] }],
    [{ hosts: ['a.b', 1] }, { mode: 'allowlist', hosts: ['a.b', ''] }],
    [{ mode: 'deny-all' }, { mode: 'deny-all', hosts: [] }],
    [
      { mode: 1, hosts: 1 },
      { mode: '', hosts: [''] },
    ],
    [null, { mode: 'allowlist', hosts: [] }],
    ['deny-all', { mode: '', hosts: [] }],
    [['deny-all'], { mode: '', hosts: [] }],
  ])('is read from %j, and an invalid one does not permit more', (egress, read) => {
    expect(answersOf({ egress }).egress).toEqual(read);
  });
});

describe('secrets', () => {
  it.each(strange)('stay encrypted when the passphrase was %j', (passphrase) => {
    expect(answersOf({ security: { passphrase } }).security).toEqual({
      variables: {},
      passphrase: '\0',
    });
  });

  it.each<[unknown, AgentAnswers['security']]>([
    [{ passphrase: '' }, { variables: {}, passphrase: '' }],
    [{ variables: { A: 'a', B: 1 } }, { variables: { A: 'a' }, passphrase: '' }],
    [null, { variables: {}, passphrase: '' }],
    ['long enough', { variables: {}, passphrase: '\0' }],
    [['long enough'], { variables: {}, passphrase: '\0' }],
  ])('are read from %j', (security, read) => {
    expect(answersOf({ security }).security).toEqual(read);
  });
});

describe('the approvers of a tool', () => {
  it.each<[unknown, Partial<AgentAnswers['approvals'][string]>]>([
    [{}, {}],
    [{ to: 'channel:slack:#ops', vax: 1 }, { to: 'channel:slack:#ops' }],
    [
      { to: 1, timeout: 2 },
      { to: '', timeout: '' },
    ],
    [{ quorum: '2' }, { quorum: 2 }],
    [{ quorum: 'two' }, { quorum: Number.NaN }],
    [{ quorum: null }, { quorum: 0 }],
    [{ approvers: 'ann@example.com, bob' }, { approvers: ['ann@example.com', 'bob'] }],
    [{ approvers: 1 }, { approvers: [''] }],
    ['channel:console:*', { to: '' }],
    [['channel:console:*'], { to: '' }],
    [null, { to: '' }],
  ])('are read from %j, and an invalid list does not become "no approval"', (approval, read) => {
    expect(answersOf({ approvals: { a: approval, b: {} } }).approvals).toEqual({
      a: { ...firstApproval, ...read },
      b: firstApproval,
    });
  });

  it.each([undefined, null])(
    'are not set by %j, so tools that a skill wants held are held at the console',
    (approvals) => {
      expect(answersOf({ skills: ['github', 'weather'], approvals }).approvals).toEqual({
        list_issues: firstApproval,
      });
      expect(answersOf({ skills: ['weather', 'vax'], approvals }).approvals).toEqual({});
    },
  );

  it('are empty where the user chose no approval', () => {
    expect(answersOf({ skills: ['github'], approvals: {} }).approvals).toEqual({});
  });

  it.each(['cli_execute', ['cli_execute'], 1, false])(
    'are kept for %j, and their step reports the error',
    (approvals) => {
      const answers = answersOf({ approvals });
      expect(answers.approvals).toEqual({ '': { ...firstApproval, to: '' } });
      expect(wrongAnswer('approvals', answers, noOffer)).toBe(
        'this is not a tool of this agent; known are datetime_now',
      );
    },
  );
});
