import { describe, expect, it } from 'vitest';
import {
  type AgentAnswers,
  type FallbackAnswer,
  firstAnswers,
  type Step,
  steps,
} from '../../../src/machines/wizard/agent-answers.ts';
import { wrongAnswer } from '../../../src/machines/wizard/wrong-answers.ts';
import { anOffer, noOffer } from './some-answers.ts';

type Row = [string, Partial<AgentAnswers>, string | null];

function wrong(step: Step, more: Partial<AgentAnswers>): string | null {
  return wrongAnswer(step, { ...firstAnswers, ...more }, anOffer);
}

it('finds nothing wrong with what the steps begin with but the name', () => {
  const complaints = steps.filter((step) => wrongAnswer(step, firstAnswers, noOffer) !== null);
  expect(complaints).toEqual(['name', 'model']);
});

describe('a name', () => {
  it.each(['x', 'Refund Desk', 'refund_desk-2', 'Cafe\u0301', 'Straße', '４２', 'a'.repeat(64)])(
    '%j is taken',
    (name) => {
      expect(wrong('name', { name })).toBeNull();
    },
  );

  const rule = 'the name is at most 64 letters, digits, blanks and hyphens, such as refund-desk';

  it.each(['', ' ', '東京', 'a'.repeat(65)])('%j is not taken', (name) => {
    expect(wrong('name', { name })).toBe(rule);
  });

  it.each([
    ['../x', '.'],
    ['x/..', '/'],
    ['a.b', '.'],
    ['a\nb', '\n'],
    ['x!', '!'],
    ['!x', '!'],
    ['${x}', '$'],
    ['Desk №5', '№'],
    ['Desk \u202e', '[U+202E]'],
  ])('%j is not taken because of %j', (name, odd) => {
    expect(wrong('name', { name })).toBe(`${rule}; ${odd} is none of these`);
  });
});

describe('a provider', () => {
  const known = 'scripted, openai, anthropic, google, ollama, openai-compatible, gate';

  it.each<Row>([
    ['that is there is taken', { provider: 'openai' }, null],
    [
      'that is none is told from those that are',
      { provider: 'vax' },
      `vax is not a provider; known are ${known}`,
    ],
    [
      'of 80 characters is repeated',
      { provider: 'x'.repeat(80) },
      `${'x'.repeat(80)} is not a provider; known are ${known}`,
    ],
    [
      'of 81 characters is not repeated to the end',
      { provider: `${'x'.repeat(80)}y` },
      `${'x'.repeat(80)} is not a provider; known are ${known}`,
    ],
    [
      'that is empty is told as well',
      { provider: '' },
      `this is not a provider; known are ${known}`,
    ],
    [
      'of two lines is not repeated',
      { provider: 'va\nx' },
      `this is not a provider; known are ${known}`,
    ],
  ])('%s', (_, more, complaint) => {
    expect(wrong('provider', more)).toBe(complaint);
  });
});

describe('a model', () => {
  const of = (provider: string, more: Partial<AgentAnswers['model']>) => ({
    provider,
    model: { ...firstAnswers.model, name: 'm', ...more },
  });
  const noAddress =
    'this is not the address of a server; write it as https://models.example.com/v1';
  const own = (address: string) => of('openai-compatible', { address });

  it.each<Row>([
    ['may have any name', of('google', { name: ' Modèle: 7b/${x} ' }), null],
    ['has a name', of('google', { name: '' }), 'name a model of google'],
    ['has a name that is not blank', of('openai', { name: ' ' }), 'name a model of openai'],
    ['is not the one of a demo', of('openai', { name: ' demo ' }), 'name a model of openai'],
    ['may have 500 characters', of('openai', { name: 'x'.repeat(500) }), null],
    ['has no 501', of('openai', { name: 'x'.repeat(501) }), 'name a model of openai'],
    ['is no half of a character', of('openai', { name: '\ud800' }), 'name a model of openai'],
    ['of Ollama needs no address', of('ollama', {}), null],
    ['of Ollama may have one', of('ollama', { address: 'http://10.0.0.1:11434' }), null],
    ['of Ollama has no text for one', of('ollama', { address: 'local' }), noAddress],
    ['of OpenAI needs no address', of('openai', {}), null],
    ['of OpenAI has no text for one', of('openai', { address: 'local' }), noAddress],
    ['of a server needs an address', own(''), noAddress],
    ['of a server may be at https', own('https://m.example.com/v1'), null],
    ['of a server is at no other scheme', own('ftp://m.example.com'), noAddress],
    ['of a server is at no longer scheme', own('xhttps://m.example.com'), noAddress],
    ['of a server is behind no user', own('https://ann@m.example.com'), noAddress],
    ['of a server is behind no password', own('https://:pw@m.example.com'), noAddress],
    ['of a server is behind no query', own('https://m.example.com/?a'), noAddress],
    ['of a server is behind no fragment', own('https://m.example.com/#a'), noAddress],
    ['of a server is on one line', own('https://m.example.com/\u2028'), noAddress],
    ['of OpenAI may be billed to somebody', of('openai', { organization: 'org-1' }), null],
    [
      'of OpenAI is billed to one line',
      of('openai', { organization: 'a\nb' }),
      'the id of the organisation is one line of text',
    ],
    ['may have a key', of('openai', { key: 'sk-1' }), null],
    [
      'has no key with a blank, which is not repeated',
      of('openai', { key: 'sk 1' }),
      'the key holds characters that no key has; copy it again',
    ],
    ['of a provider that is none has a name', of('vax', { name: '' }), 'name a model of vax'],
  ])('%s', (_, more, complaint) => {
    expect(wrong('model', more)).toBe(complaint);
  });
});

describe('channels', () => {
  it.each<Row>([
    ['may be none', { channels: {} }, null],
    ['may wait for their tokens', { channels: { slack: {}, telegram: {} } }, null],
    [
      'are known ones',
      { channels: { slack: {}, sms: {} } },
      'sms is not a channel; known are slack, telegram, webhook',
    ],
    [
      'have their fields right, each by its name',
      { channels: { slack: {}, webhook: { target: 'ops' } } },
      'webhook: Address that is posted to is missing; write one such as https://ops.example.com/approvals',
    ],
  ])('%s', (_, more, complaint) => {
    expect(wrong('channels', more)).toBe(complaint);
  });
});

describe('tools', () => {
  const bare = 'list the programs that cli_execute may run by their bare names, such as jq, pandoc';
  const tools = (more: Partial<AgentAnswers['tools']>) => ({
    tools: { ...firstAnswers.tools, ...more },
  });
  const programs = (...commands: string[]) => tools({ names: ['cli_execute'], commands });

  it.each<Row>([
    ['may be none', tools({ names: [] }), null],
    [
      'are known ones',
      tools({ names: ['uuid_generate', 'list_issues'] }),
      'list_issues is not a tool; known are datetime_now, uuid_generate, math_calculate, json_query, csv_parse, http_request, web_fetch, web_search, file_read, file_write, file_edit, glob_search, grep_search, cli_execute',
    ],
    [
      'are named once',
      tools({ names: ['glob_search', 'web_fetch', 'glob_search'] }),
      'glob_search is named twice',
    ],
    ['may search with either service', tools({ search: 'perplexity' }), null],
    [
      'search with a known service, though none of them searches',
      tools({ search: 'vax' }),
      'vax is not a search service; known are tavily, perplexity',
    ],
    ['may search with a key', tools({ names: ['web_search'], key: 'tvly-1' }), null],
    [
      'search with a key that is one',
      tools({ names: ['web_search'], key: 'tvly 1' }),
      'the key holds characters that no key has; copy it again',
    ],
    ['may have a wrong key as long as none of them searches', tools({ key: 'tvly 1' }), null],
    ['may have wrong programs as long as none runs', tools({ commands: ['./x'] }), null],
    [
      'are known before it is asked what they run',
      tools({ names: ['cli_execute', 'glob_search', 'glob_search'] }),
      'glob_search is named twice',
    ],
    ['run listed programs', programs('jq', 'g++', 'python3.12', 'a_b-c', 'R', '7z'), null],
    ['run some program', programs(), bare],
    ['run no program with a path', programs('jq', '/bin/jq'), bare],
    ['run no program of a folder', programs('./x'), bare],
    ['run no program with its arguments', programs('jq -r'), bare],
    ['run no program that is an option', programs('-x'), bare],
    ['run no program without a name', programs(''), bare],
    ['run a program of 2,000 characters', programs('x'.repeat(2_000)), null],
    ['run no program of 2,001 characters', programs('x'.repeat(2_001)), bare],
  ])('%s', (_, more, complaint) => {
    expect(wrong('tools', more)).toBe(complaint);
  });

  it.each('sh bash dash ash zsh ksh mksh fish csh tcsh busybox'.split(' '))(
    'do not run %s, which would run any other',
    (shell) => {
      expect(wrong('tools', programs('jq', shell))).toBe(
        `${shell} is a shell, which would run any program; list those that are needed`,
      );
    },
  );
});

describe('skills', () => {
  const skills = (names: string[], variables = {}) => ({ skills: { names, variables } });

  it.each<Row>([
    ['may be chosen', skills(['github', 'weather'], { GITHUB_TOKEN: 't' }), null],
    [
      'are of the registry',
      skills(['vax']),
      'vax is not a skill of the registry; known are github, weather',
    ],
    ['are named once', skills(['github', 'github']), 'github is named twice'],
    [
      'have variables that are right',
      skills(['github'], { GITHUB_TOKEN: 'a\nb' }),
      'GITHUB_TOKEN holds a line break or another control character; keep it with secret set',
    ],
    ['have no variables of another to be wrong', skills(['github'], { OWM_KEY: '\0' }), null],
  ])('%s', (_, more, complaint) => {
    expect(wrong('skills', more)).toBe(complaint);
  });

  it('are none where there is no registry', () => {
    expect(wrongAnswer('skills', { ...firstAnswers, ...skills(['github']) }, noOffer)).toBe(
      'github is not a skill of the registry; known are none',
    );
  });
});

describe('fallbacks', () => {
  const one = { provider: 'google', name: 'gemini-2.5-pro', address: '', key: '' };
  const of = (...all: Partial<FallbackAnswer>[]) => ({
    provider: 'openai',
    fallback: all.map((more) => ({ ...one, ...more })),
  });
  const eight = Array.from({ length: 8 }, () => ({}));
  const real = 'openai, anthropic, google, ollama, openai-compatible';

  it.each<Row>([
    ['are none', of(), null],
    ['are eight at most', of(...eight), null],
    ['are not nine', of(...eight, {}), 'there are at most 8 fallbacks'],
    [
      'are no script',
      of({}, { provider: 'scripted' }),
      `scripted is not a provider of a fallback; known are ${real}`,
    ],
    ['have a name', of({ name: '' }), 'name a model of google'],
    [
      'have an address where it is needed',
      of({ provider: 'openai-compatible' }),
      'this is not the address of a server; write it as https://models.example.com/v1',
    ],
    ['have an address where it is enough to', of({ provider: 'ollama' }), null],
    ['have a key', of({ key: 'k' }), null],
    [
      'have a key that is one',
      of({ key: 'k k' }),
      'the key holds characters that no key has; copy it again',
    ],
    [
      'have no key that another step says otherwise',
      {
        ...of({ key: 'k' }),
        security: { variables: { GOOGLE_GENERATIVE_AI_API_KEY: 'l' }, passphrase: '' },
      },
      'GOOGLE_GENERATIVE_AI_API_KEY has two values; set it in one place',
    ],
    ['of a script are none that could be wrong', { fallback: [{ ...one, name: '' }] }, null],
  ])('%s', (_, more, complaint) => {
    expect(wrong('fallback', more)).toBe(complaint);
  });
});

describe('a way to sign in', () => {
  it.each<[string, AgentAnswers['auth'], string | null]>([
    ['is known', { mode: 'http_verifier', settings: { url: 'https://v.example.com' } }, null],
    [
      'is one of those that are offered',
      { mode: 'magic', settings: {} },
      'magic is not a way to sign in; known are none, oidc, http_verifier, cloud_sigv4, cloud_iap, directory_ad, custom',
    ],
    [
      'has what it needs',
      { mode: 'http_verifier', settings: {} },
      'Address of the verifier is missing; write one such as https://verify.example.com/token',
    ],
    ['that is written by hand has no settings', { mode: 'custom', settings: { url: '\0' } }, null],
  ])('%s', (_, auth, complaint) => {
    expect(wrong('auth', { auth })).toBe(complaint);
  });
});

describe('what may be reached', () => {
  const hosts = (count: number) => Array.from({ length: count }, (_, index) => `a${index}.b`);

  it.each<[string, AgentAnswers['egress'], string | null]>([
    ['may be listed', { mode: 'dev-open', hosts: ['api.example.com'] }, null],
    [
      'has a known mode',
      { mode: 'open', hosts: [] },
      'open is not a mode of egress; known are allowlist, deny-all, dev-open',
    ],
    ['is 200 hosts at most', { mode: 'allowlist', hosts: hosts(200) }, null],
    ['is not 201', { mode: 'allowlist', hosts: hosts(201) }, 'at most 200 hosts are listed'],
    [
      'is no address',
      { mode: 'allowlist', hosts: ['api.example.com', '10.0.0.1'] },
      'this is no host name; write a host such as api.example.com, *.example.com or api.example.com:8443',
    ],
  ])('%s', (_, egress, complaint) => {
    expect(wrong('egress', { egress })).toBe(complaint);
  });
});

describe('a passphrase', () => {
  const no = 'the passphrase is one line of at least 8 characters';

  it.each<[string, string | null]>([
    ['', null],
    ['1234567', no],
    ['12345678', null],
    ['x'.repeat(1_024), null],
    ['x'.repeat(1_025), no],
    ['1234567\n', no],
    ['1234567\ud800', no],
    ['süß & geheim 😀', null],
  ])('%j: %j', (passphrase, complaint) => {
    expect(wrong('security', { security: { variables: {}, passphrase } })).toBe(complaint);
  });

  it('that is left out leaves the variables to be looked at', () => {
    expect(wrong('security', { security: { variables: { PATH: 'x' }, passphrase: '' } })).toBe(
      'this name affects how programs run, so a secret cannot have it; use another, such as SHOP_KEY',
    );
  });
});
