import { describe, expect, it } from 'vitest';
import { describeBuiltins } from '../../../src/actors/tools/tools.ts';
import {
  type AgentAnswers,
  agentId,
  firstAnswers,
  firstApproval,
  isAsked,
  questions,
  type Step,
  settledAnswers,
  skillVariables,
  steps,
  toolsOf,
  toolsToHold,
  withHeldTools,
  withoutLostTools,
} from '../../../src/machines/wizard/agent-answers.ts';
import { tools as offered } from '../../../src/machines/wizard/offers.ts';
import { anOffer, noOffer } from './some-answers.ts';

const slackApproval = { ...firstApproval, to: 'channel:slack:#ops' };

function answers(more: Partial<AgentAnswers>): AgentAnswers {
  return { ...firstAnswers, ...more };
}

function model(more: Partial<AgentAnswers['model']>): AgentAnswers['model'] {
  return { ...firstAnswers.model, ...more };
}

function tools(more: Partial<AgentAnswers['tools']>): AgentAnswers['tools'] {
  return { ...firstAnswers.tools, ...more };
}

it('the wizard asks in the documented order, and shows all answers at the end', () => {
  const asked = ['name', 'provider', 'model', 'channels', 'tools', 'skills', 'fallback', 'auth'];
  const last = ['egress', 'security', 'approvals'];
  expect(steps).toEqual([...asked, ...last, 'review']);
  expect(questions).toEqual([...asked, ...last]);
});

it('the wizard starts with an agent that tells the time, has a scripted model and reaches no host', () => {
  expect(firstAnswers).toEqual({
    name: '',
    provider: 'scripted',
    model: { name: '', address: '', key: '', session: '', organization: '' },
    channels: {},
    tools: { names: ['datetime_now'], search: 'tavily', key: '', commands: [] },
    skills: { names: [], variables: {} },
    fallback: [],
    auth: { mode: 'none', settings: {} },
    egress: { mode: 'allowlist', hosts: [] },
    security: { variables: {}, passphrase: '' },
    approvals: {},
  });
  expect(firstApproval).toEqual({
    to: 'channel:console:*',
    timeout: '5m',
    quorum: 1,
    approvers: [],
  });
});

it.each([
  ['refund-desk', 'refund-desk'],
  ['Refund Desk', 'refund-desk'],
  ['  Refund   Desk  ', 'refund-desk'],
  ['refund_desk__2', 'refund-desk-2'],
  ['--refund--', 'refund'],
  ['../Refund/..', 'refund'],
  ['Rückfragen à la carte', 'ruckfragen-a-la-carte'],
  ['Cafe\u0301', 'cafe'],
  ['Straße 7', 'stra-e-7'],
  ['ﬁx', 'fix'],
  ['\u212Aelvin', 'kelvin'],
  ['４２', '42'],
  ['東京', ''],
  ['!?', ''],
  ['-', ''],
  ['', ''],
])('the description %j suggests the name %j', (typed, id) => {
  expect(agentId(typed)).toBe(id);
});

describe('the tools of an agent', () => {
  it.each<[string, Partial<AgentAnswers>, string[]]>([
    ['are the chosen ones', {}, ['datetime_now']],
    ['are empty without any', { tools: tools({ names: [] }) }, []],
    [
      'include those of its skills',
      { skills: { names: ['weather', 'github'], variables: {} } },
      ['datetime_now', 'list_issues'],
    ],
    [
      'are listed once each',
      {
        tools: tools({ names: ['list_issues', 'glob_search', 'glob_search'] }),
        skills: { names: ['github'], variables: {} },
      },
      ['list_issues', 'glob_search'],
    ],
    [
      'do not include those of an unknown skill',
      { skills: { names: ['vax'], variables: {} } },
      ['datetime_now'],
    ],
  ])('%s', (_, more, names) => {
    expect(toolsOf(answers(more), anOffer)).toEqual(names);
  });
});

describe('a step is shown', () => {
  const always: Step[] = [
    ...(['name', 'provider', 'channels', 'tools'] as const),
    ...(['auth', 'egress', 'security', 'review'] as const),
  ];
  const toolless = answers({ tools: tools({ names: [] }) });
  const two = { names: ['github', 'weather'], variables: {} };

  it.each<[string, AgentAnswers, typeof anOffer, Step[]]>([
    ['when all steps apply', answers({ provider: 'openai' }), anOffer, [...steps]],
    [
      'although its answer is wrong',
      answers({ provider: 'vax' }),
      noOffer,
      [...always, 'model', 'fallback', 'approvals'],
    ],
    [
      'unless a scripted model makes it needless',
      firstAnswers,
      anOffer,
      [...always, 'skills', 'approvals'],
    ],
    ['unless there is no registry', firstAnswers, noOffer, [...always, 'approvals']],
    [
      'when chosen skills are in no registry',
      answers({ skills: { names: ['github'], variables: {} } }),
      noOffer,
      [...always, 'skills', 'approvals'],
    ],
    [
      'when all skills are chosen',
      answers({ skills: two }),
      anOffer,
      [...always, 'skills', 'approvals'],
    ],
    ['unless no tool could be held', toolless, noOffer, always],
    [
      'when a removed tool has an approver',
      { ...toolless, approvals: { datetime_now: firstApproval } },
      noOffer,
      [...always, 'approvals'],
    ],
    [
      'when the only tool has an approver',
      answers({ approvals: { datetime_now: firstApproval } }),
      noOffer,
      [...always, 'approvals'],
    ],
  ])('%s', (_, given, offer, asked) => {
    expect(steps.filter((step) => isAsked(step, given, offer)).toSorted()).toEqual(
      [...asked].toSorted(),
    );
  });
});

describe('the remaining answers have', () => {
  const full = model({ name: 'm', address: 'a', key: 'k', session: 's', organization: 'o' });
  const signIn = { ...noOffer, signIn: ['openai'] };
  const fallback = [{ provider: 'google', name: 'gemini-2.5-pro', address: '', key: 'g' }];
  const settings = { issuer: 'https://id.example.com' };

  it.each<[string, typeof noOffer, Partial<AgentAnswers>, Partial<AgentAnswers>]>([
    [
      'no model name for a scripted model',
      signIn,
      { provider: 'scripted', model: full, fallback },
      { provider: 'scripted', model: firstAnswers.model, fallback: [] },
    ],
    [
      'the organisation and the address of OpenAI, and the key where no sign-in exists',
      noOffer,
      { provider: 'openai', model: full, fallback },
      {
        provider: 'openai',
        model: model({ name: 'm', address: 'a', key: 'k', organization: 'o' }),
        fallback,
      },
    ],
    [
      'the sign-in instead of the key',
      signIn,
      { provider: 'openai', model: full },
      { provider: 'openai', model: model({ name: 'm', session: 's', organization: 'o' }) },
    ],
    [
      'the key of a provider with an unused sign-in',
      signIn,
      { provider: 'openai', model: { ...full, session: '' } },
      {
        provider: 'openai',
        model: model({ name: 'm', address: 'a', key: 'k', organization: 'o' }),
      },
    ],
    [
      'the key of a provider without a sign-in',
      signIn,
      { provider: 'anthropic', model: full },
      { provider: 'anthropic', model: model({ name: 'm', address: 'a', key: 'k' }) },
    ],
    [
      'the address of a model without a key',
      noOffer,
      { provider: 'ollama', model: full },
      { provider: 'ollama', model: model({ name: 'm', address: 'a' }) },
    ],
    [
      'the address and the key of a custom server',
      noOffer,
      { provider: 'openai-compatible', model: full },
      { provider: 'openai-compatible', model: model({ name: 'm', address: 'a', key: 'k' }) },
    ],
    [
      'every field of an unknown provider',
      noOffer,
      { provider: 'vax', model: full },
      { provider: 'vax', model: model({ name: 'm', address: 'a', key: 'k' }) },
    ],
    [
      'no settings of search and programs without their tools',
      noOffer,
      { tools: { names: ['glob_search'], search: 'perplexity', key: 'k', commands: ['jq'] } },
      { tools: { names: ['glob_search'], search: 'tavily', key: '', commands: [] } },
    ],
    [
      'the settings of search',
      noOffer,
      { tools: { names: ['web_search'], search: 'perplexity', key: 'k', commands: ['jq'] } },
      { tools: { names: ['web_search'], search: 'perplexity', key: 'k', commands: [] } },
    ],
    [
      'the allowed programs',
      noOffer,
      { tools: { names: ['cli_execute'], search: 'perplexity', key: 'k', commands: ['jq'] } },
      { tools: { names: ['cli_execute'], search: 'tavily', key: '', commands: ['jq'] } },
    ],
    [
      'the variables of the chosen skills',
      anOffer,
      { skills: { names: ['github'], variables: { GITHUB_TOKEN: 't', OWM_KEY: 'o', X: '' } } },
      { skills: { names: ['github'], variables: { GITHUB_TOKEN: 't' } } },
    ],
    [
      'the settings of a sign-in method',
      noOffer,
      { auth: { mode: 'oidc', settings } },
      { auth: { mode: 'oidc', settings } },
    ],
    [
      'no setting without a sign-in',
      noOffer,
      { auth: { mode: 'none', settings } },
      { auth: { mode: 'none', settings: {} } },
    ],
    [
      'no setting of a method that is written by hand',
      noOffer,
      { auth: { mode: 'custom', settings } },
      { auth: { mode: 'custom', settings: {} } },
    ],
  ])('%s', (_, offer, given, settled) => {
    expect(settledAnswers(answers(given), offer)).toEqual(answers(settled));
  });
});

it('the wizard drops the approver of a removed tool, and keeps the others', () => {
  const approvals = { datetime_now: firstApproval, list_issues: slackApproval, vax: firstApproval };
  const given = answers({ approvals, skills: { names: ['github'], variables: {} } });
  expect(withoutLostTools(given, anOffer)).toEqual({
    ...given,
    approvals: { datetime_now: firstApproval, list_issues: slackApproval },
  });
  expect(withoutLostTools(given, noOffer).approvals).toEqual({ datetime_now: firstApproval });
});

it('tools that a skill wants held are held at the console, unless another target is chosen', () => {
  const given = answers({ approvals: { datetime_now: slackApproval } });
  expect(withHeldTools(given, toolsToHold([], anOffer.skills))).toEqual({
    ...given,
    approvals: { datetime_now: slackApproval, list_issues: firstApproval },
  });
  const said = answers({ approvals: { list_issues: slackApproval } });
  expect(withHeldTools(said, toolsToHold([], anOffer.skills))).toEqual(said);
  expect(withHeldTools(given, [])).toEqual(given);
});

it('builtin tools that change something are held, and so are tools that a skill wants held', () => {
  const names = offered.filter(({ changes }) => changes === true).map(({ name }) => name);
  const changing = describeBuiltins().filter(({ changes }) => changes);
  expect(names.toSorted()).toEqual(changing.map(({ name }) => name).toSorted());
  expect(toolsToHold(['datetime_now', 'file_write'], anOffer.skills)).toEqual([
    ...['file_write', 'list_issues'],
  ]);
});

it('the variables of chosen skills are listed once each, required ones first', () => {
  const chosen = (names: string[]) => answers({ skills: { names, variables: {} } });
  expect(skillVariables(chosen(['weather', 'github']), anOffer)).toEqual([
    ...['GITHUB_TOKEN', 'GITHUB_ORG'],
    ...['OWM_KEY', 'METEO_KEY'],
  ]);
  const twice = { ...anOffer, skills: [anOffer.skills[0]!, anOffer.skills[0]!] };
  expect(skillVariables(chosen(['github']), twice)).toEqual(['GITHUB_TOKEN', 'GITHUB_ORG']);
  expect(skillVariables(chosen(['vax']), anOffer)).toEqual([]);
});
