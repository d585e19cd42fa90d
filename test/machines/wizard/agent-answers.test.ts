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

it('asks in the documented order, and last shows all once more', () => {
  const asked = ['name', 'provider', 'model', 'channels', 'tools', 'skills', 'fallback', 'auth'];
  const last = ['egress', 'security', 'approvals'];
  expect(steps).toEqual([...asked, ...last, 'review']);
  expect(questions).toEqual([...asked, ...last]);
});

it('begins with an agent that tells the time, thinks by a script and reaches nothing', () => {
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
])('makes of %j the name %j', (typed, id) => {
  expect(agentId(typed)).toBe(id);
});

describe('the tools of an agent', () => {
  it.each<[string, Partial<AgentAnswers>, string[]]>([
    ['are those that were chosen', {}, ['datetime_now']],
    ['are none without any', { tools: tools({ names: [] }) }, []],
    [
      'are those of its skills as well',
      { skills: { names: ['weather', 'github'], variables: {} } },
      ['datetime_now', 'list_issues'],
    ],
    [
      'are each there once',
      {
        tools: tools({ names: ['list_issues', 'glob_search', 'glob_search'] }),
        skills: { names: ['github'], variables: {} },
      },
      ['list_issues', 'glob_search'],
    ],
    [
      'are not those of a skill that is none',
      { skills: { names: ['vax'], variables: {} } },
      ['datetime_now'],
    ],
  ])('%s', (_, more, names) => {
    expect(toolsOf(answers(more), anOffer)).toEqual(names);
  });
});

describe('a step is gone through', () => {
  const always: Step[] = [
    ...(['name', 'provider', 'channels', 'tools'] as const),
    ...(['auth', 'egress', 'security', 'review'] as const),
  ];
  const toolless = answers({ tools: tools({ names: [] }) });
  const two = { names: ['github', 'weather'], variables: {} };

  it.each<[string, AgentAnswers, typeof anOffer, Step[]]>([
    ['when all of them apply', answers({ provider: 'openai' }), anOffer, [...steps]],
    [
      'though its answer is wrong',
      answers({ provider: 'vax' }),
      noOffer,
      [...always, 'model', 'fallback', 'approvals'],
    ],
    ['unless a script needs no model', firstAnswers, anOffer, [...always, 'skills', 'approvals']],
    ['unless there is no registry', firstAnswers, noOffer, [...always, 'approvals']],
    [
      'when skills are chosen that no registry has',
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
    ['unless it has no tool that could wait', toolless, noOffer, always],
    [
      'when somebody is asked about a tool that it has lost',
      { ...toolless, approvals: { datetime_now: firstApproval } },
      noOffer,
      [...always, 'approvals'],
    ],
    [
      'when somebody is asked about its only tool',
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

describe('of what was answered remains', () => {
  const full = model({ name: 'm', address: 'a', key: 'k', session: 's', organization: 'o' });
  const signIn = { ...noOffer, signIn: ['openai'] };
  const fallback = [{ provider: 'google', name: 'gemini-2.5-pro', address: '', key: 'g' }];
  const settings = { issuer: 'https://id.example.com' };

  it.each<[string, typeof noOffer, Partial<AgentAnswers>, Partial<AgentAnswers>]>([
    [
      'no model of a script',
      signIn,
      { provider: 'scripted', model: full, fallback },
      { provider: 'scripted', model: firstAnswers.model, fallback: [] },
    ],
    [
      'the organisation and the address of OpenAI, and the key where nobody can sign in',
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
      'the key of somebody who could have signed in',
      signIn,
      { provider: 'openai', model: { ...full, session: '' } },
      {
        provider: 'openai',
        model: model({ name: 'm', address: 'a', key: 'k', organization: 'o' }),
      },
    ],
    [
      'the key of a provider that nobody signs in to',
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
      'the address and the key of a server of ones own',
      noOffer,
      { provider: 'openai-compatible', model: full },
      { provider: 'openai-compatible', model: model({ name: 'm', address: 'a', key: 'k' }) },
    ],
    [
      'what a provider that is none may want',
      noOffer,
      { provider: 'vax', model: full },
      { provider: 'vax', model: model({ name: 'm', address: 'a', key: 'k' }) },
    ],
    [
      'nothing of a search and of programs without their tools',
      noOffer,
      { tools: { names: ['glob_search'], search: 'perplexity', key: 'k', commands: ['jq'] } },
      { tools: { names: ['glob_search'], search: 'tavily', key: '', commands: [] } },
    ],
    [
      'what a search asks',
      noOffer,
      { tools: { names: ['web_search'], search: 'perplexity', key: 'k', commands: ['jq'] } },
      { tools: { names: ['web_search'], search: 'perplexity', key: 'k', commands: [] } },
    ],
    [
      'which programs may run',
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
      'the settings of a way to sign in',
      noOffer,
      { auth: { mode: 'oidc', settings } },
      { auth: { mode: 'oidc', settings } },
    ],
    [
      'no setting where nobody signs in',
      noOffer,
      { auth: { mode: 'none', settings } },
      { auth: { mode: 'none', settings: {} } },
    ],
    [
      'no setting of what is written by hand',
      noOffer,
      { auth: { mode: 'custom', settings } },
      { auth: { mode: 'custom', settings: {} } },
    ],
  ])('%s', (_, offer, given, settled) => {
    expect(settledAnswers(answers(given), offer)).toEqual(answers(settled));
  });
});

it('asks nobody about a tool that is gone, and everybody else as before', () => {
  const approvals = { datetime_now: firstApproval, list_issues: slackApproval, vax: firstApproval };
  const given = answers({ approvals, skills: { names: ['github'], variables: {} } });
  expect(withoutLostTools(given, anOffer)).toEqual({
    ...given,
    approvals: { datetime_now: firstApproval, list_issues: slackApproval },
  });
  expect(withoutLostTools(given, noOffer).approvals).toEqual({ datetime_now: firstApproval });
});

it('has what a skill wants held wait at the console, unless it is said for whom it waits', () => {
  const given = answers({ approvals: { datetime_now: slackApproval } });
  expect(withHeldTools(given, toolsToHold([], anOffer.skills))).toEqual({
    ...given,
    approvals: { datetime_now: slackApproval, list_issues: firstApproval },
  });
  const said = answers({ approvals: { list_issues: slackApproval } });
  expect(withHeldTools(said, toolsToHold([], anOffer.skills))).toEqual(said);
  expect(withHeldTools(given, [])).toEqual(given);
});

it('has builtin tools that change something wait, and what skills want held', () => {
  const names = offered.filter(({ changes }) => changes === true).map(({ name }) => name);
  const changing = describeBuiltins().filter(({ changes }) => changes);
  expect(names.toSorted()).toEqual(changing.map(({ name }) => name).toSorted());
  expect(toolsToHold(['datetime_now', 'file_write'], anOffer.skills)).toEqual([
    ...['file_write', 'list_issues'],
  ]);
});

it('names the variables of chosen skills, each once, those that are needed first', () => {
  const chosen = (names: string[]) => answers({ skills: { names, variables: {} } });
  expect(skillVariables(chosen(['weather', 'github']), anOffer)).toEqual([
    ...['GITHUB_TOKEN', 'GITHUB_ORG'],
    ...['OWM_KEY', 'METEO_KEY'],
  ]);
  const twice = { ...anOffer, skills: [anOffer.skills[0]!, anOffer.skills[0]!] };
  expect(skillVariables(chosen(['github']), twice)).toEqual(['GITHUB_TOKEN', 'GITHUB_ORG']);
  expect(skillVariables(chosen(['vax']), anOffer)).toEqual([]);
});
