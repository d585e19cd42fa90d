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

it('the initial answers have findings only for the name and the model', () => {
  const complaints = steps.filter((step) => wrongAnswer(step, firstAnswers, noOffer) !== null);
  expect(complaints).toEqual(['name', 'model']);
});

describe('a name', () => {
  it.each(['x', 'Refund Desk', 'refund_desk-2', 'Cafe\u0301', 'Straße', '４２', 'a'.repeat(64)])(
    '%j is accepted',
    (name) => {
      expect(wrong('name', { name })).toBeNull();
    },
  );

  const rule = 'the name is at most 64 letters, digits, blanks and hyphens, such as refund-desk';

  it.each(['', ' ', '東京', 'a'.repeat(65)])('%j is refused', (name) => {
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
  ])('%j is refused because of %j', (name, odd) => {
    expect(wrong('name', { name })).toBe(`${rule}; ${odd} is none of these`);
  });
});

describe('a provider', () => {
  const known = 'scripted, openai, anthropic, google, ollama, openai-compatible, gate';

  it.each<Row>([
    ['that is known is accepted', { provider: 'openai' }, null],
    [
      'that is unknown is refused with the list of known ones',
      { provider: 'vax' },
      `vax is not a provider; known are ${known}`,
    ],
    [
      'of 80 characters is repeated in the finding',
      { provider: 'x'.repeat(80) },
      `${'x'.repeat(80)} is not a provider; known are ${known}`,
    ],
    [
      'of 81 characters is cut in the finding',
      { provider: `${'x'.repeat(80)}y` },
      `${'x'.repeat(80)} is not a provider; known are ${known}`,
    ],
    [
      'that is empty has the same finding',
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
    ['needs a name', of('google', { name: '' }), 'name a model of google'],
    ['needs a name that is not blank', of('openai', { name: ' ' }), 'name a model of openai'],
    ['may not be that of a demo', of('openai', { name: ' demo ' }), 'name a model of openai'],
    ['may have 500 characters', of('openai', { name: 'x'.repeat(500) }), null],
    ['may not have 501', of('openai', { name: 'x'.repeat(501) }), 'name a model of openai'],
    [
      'may not contain half of a character',
      of('openai', { name: '\ud800' }),
      'name a model of openai',
    ],
    ['of Ollama needs no address', of('ollama', {}), null],
    ['of Ollama may have one', of('ollama', { address: 'http://10.0.0.1:11434' }), null],
    ['of Ollama needs a string as its address', of('ollama', { address: 'local' }), noAddress],
    ['of OpenAI needs no address', of('openai', {}), null],
    ['of OpenAI needs a string as its address', of('openai', { address: 'local' }), noAddress],
    ['of a custom server needs an address', own(''), noAddress],
    ['of a custom server may use https', own('https://m.example.com/v1'), null],
    ['of a custom server may use no other scheme', own('ftp://m.example.com'), noAddress],
    ['of a custom server may use no longer scheme', own('xhttps://m.example.com'), noAddress],
    ['of a custom server may have no user', own('https://ann@m.example.com'), noAddress],
    ['of a custom server may have no password', own('https://:pw@m.example.com'), noAddress],
    ['of a custom server may have no query', own('https://m.example.com/?a'), noAddress],
    ['of a custom server may have no fragment', own('https://m.example.com/#a'), noAddress],
    [
      'of a custom server needs an address on one line',
      own('https://m.example.com/\u2028'),
      noAddress,
    ],
    ['of OpenAI may have an organisation', of('openai', { organization: 'org-1' }), null],
    [
      'of OpenAI needs an organisation on one line',
      of('openai', { organization: 'a\nb' }),
      'the id of the organisation is one line of text',
    ],
    ['may have a key', of('openai', { key: 'sk-1' }), null],
    [
      'may have no key with a blank, which is not repeated',
      of('openai', { key: 'sk 1' }),
      'the key holds characters that no key has; copy it again',
    ],
    ['of an unknown provider needs a name', of('vax', { name: '' }), 'name a model of vax'],
  ])('%s', (_, more, complaint) => {
    expect(wrong('model', more)).toBe(complaint);
  });
});

describe('the channels', () => {
  it.each<Row>([
    ['may be empty', { channels: {} }, null],
    ['may have no tokens yet', { channels: { slack: {}, telegram: {} } }, null],
    [
      'must be known',
      { channels: { slack: {}, sms: {} } },
      'sms is not a channel; known are slack, telegram, webhook',
    ],
    [
      'must have valid fields, reported by name',
      { channels: { slack: {}, webhook: { target: 'ops' } } },
      'webhook: Address that is posted to is missing; write one such as https://ops.example.com/approvals',
    ],
  ])('%s', (_, more, complaint) => {
    expect(wrong('channels', more)).toBe(complaint);
  });
});

describe('the tools', () => {
  const bare = 'list the programs that cli_execute may run by their bare names, such as jq, pandoc';
  const tools = (more: Partial<AgentAnswers['tools']>) => ({
    tools: { ...firstAnswers.tools, ...more },
  });
  const programs = (...commands: string[]) => tools({ names: ['cli_execute'], commands });

  it.each<Row>([
    ['may be empty', tools({ names: [] }), null],
    [
      'must be known',
      tools({ names: ['uuid_generate', 'list_issues'] }),
      'list_issues is not a tool; known are datetime_now, uuid_generate, math_calculate, json_query, csv_parse, http_request, web_fetch, web_search, file_read, file_write, file_edit, glob_search, grep_search, cli_execute',
    ],
    [
      'must be listed once',
      tools({ names: ['glob_search', 'web_fetch', 'glob_search'] }),
      'glob_search is named twice',
    ],
    ['may search with either service', tools({ search: 'perplexity' }), null],
    [
      'must search with a known service, even without the search tool',
      tools({ search: 'vax' }),
      'vax is not a search service; known are tavily, perplexity',
    ],
    ['may search with a key', tools({ names: ['web_search'], key: 'tvly-1' }), null],
    [
      'must search with a valid key',
      tools({ names: ['web_search'], key: 'tvly 1' }),
      'the key holds characters that no key has; copy it again',
    ],
    ['may have an invalid key without the search tool', tools({ key: 'tvly 1' }), null],
    ['may have invalid programs without the program tool', tools({ commands: ['./x'] }), null],
    [
      'are checked before their programs',
      tools({ names: ['cli_execute', 'glob_search', 'glob_search'] }),
      'glob_search is named twice',
    ],
    ['may run listed programs', programs('jq', 'g++', 'python3.12', 'a_b-c', 'R', '7z'), null],
    ['must run at least one program', programs(), bare],
    ['may run no program with a path', programs('jq', '/bin/jq'), bare],
    ['may run no program of a folder', programs('./x'), bare],
    ['may run no program with arguments', programs('jq -r'), bare],
    ['may run no option', programs('-x'), bare],
    ['may run no program without a name', programs(''), bare],
    ['may run a program of 2,000 characters', programs('x'.repeat(2_000)), null],
    ['may run no program of 2,001 characters', programs('x'.repeat(2_001)), bare],
  ])('%s', (_, more, complaint) => {
    expect(wrong('tools', more)).toBe(complaint);
  });

  it.each('sh bash dash ash zsh ksh mksh fish csh tcsh busybox'.split(' '))(
    'may not run %s, which runs any other program',
    (shell) => {
      expect(wrong('tools', programs('jq', shell))).toBe(
        `${shell} is a shell, which would run any program; list those that are needed`,
      );
    },
  );
});

describe('the skills', () => {
  const skills = (names: string[], variables = {}) => ({ skills: { names, variables } });

  it.each<Row>([
    ['may be chosen', skills(['github', 'weather'], { GITHUB_TOKEN: 't' }), null],
    [
      'must be in the registry',
      skills(['vax']),
      'vax is not a skill of the registry; known are github, weather',
    ],
    ['must be listed once', skills(['github', 'github']), 'github is named twice'],
    [
      'must have valid variables',
      skills(['github'], { GITHUB_TOKEN: 'a\nb' }),
      'GITHUB_TOKEN holds a line break or another control character; keep it with secret set',
    ],
    ['are not checked for variables of another skill', skills(['github'], { OWM_KEY: '\0' }), null],
  ])('%s', (_, more, complaint) => {
    expect(wrong('skills', more)).toBe(complaint);
  });

  it('are empty without a registry', () => {
    expect(wrongAnswer('skills', { ...firstAnswers, ...skills(['github']) }, noOffer)).toBe(
      'github is not a skill of the registry; known are none',
    );
  });
});

describe('the fallbacks', () => {
  const one = { provider: 'google', name: 'gemini-2.5-pro', address: '', key: '' };
  const of = (...all: Partial<FallbackAnswer>[]) => ({
    provider: 'openai',
    fallback: all.map((more) => ({ ...one, ...more })),
  });
  const eight = Array.from({ length: 8 }, () => ({}));
  const real = 'openai, anthropic, google, ollama, openai-compatible';

  it.each<Row>([
    ['are none', of(), null],
    ['may be eight', of(...eight), null],
    ['may not be nine', of(...eight, {}), 'there are at most 8 fallbacks'],
    [
      'may not be a script',
      of({}, { provider: 'scripted' }),
      `scripted is not a provider of a fallback; known are ${real}`,
    ],
    ['need a name', of({ name: '' }), 'name a model of google'],
    [
      'need an address where the provider needs one',
      of({ provider: 'openai-compatible' }),
      'this is not the address of a server; write it as https://models.example.com/v1',
    ],
    ['need no name where an address is enough', of({ provider: 'ollama' }), null],
    ['have a key', of({ key: 'k' }), null],
    [
      'must have a valid key',
      of({ key: 'k k' }),
      'the key holds characters that no key has; copy it again',
    ],
    [
      'may have no key that differs from another step',
      {
        ...of({ key: 'k' }),
        security: { variables: { GOOGLE_GENERATIVE_AI_API_KEY: 'l' }, passphrase: '' },
      },
      'GOOGLE_GENERATIVE_AI_API_KEY has two values; set it in one place',
    ],
    ['are not checked for a scripted model', { fallback: [{ ...one, name: '' }] }, null],
  ])('%s', (_, more, complaint) => {
    expect(wrong('fallback', more)).toBe(complaint);
  });
});

describe('a sign-in method', () => {
  it.each<[string, AgentAnswers['auth'], string | null]>([
    ['is known', { mode: 'http_verifier', settings: { url: 'https://v.example.com' } }, null],
    [
      'must be an offered one',
      { mode: 'magic', settings: {} },
      'magic is not a way to sign in; known are none, oidc, http_verifier, cloud_sigv4, cloud_iap, directory_ad, custom',
    ],
    [
      'needs its settings',
      { mode: 'http_verifier', settings: {} },
      'Address of the verifier is missing; write one such as https://verify.example.com/token',
    ],
    ['that is edited by hand has no settings', { mode: 'custom', settings: { url: '\0' } }, null],
  ])('%s', (_, auth, complaint) => {
    expect(wrong('auth', { auth })).toBe(complaint);
  });
});

describe('the egress mode', () => {
  const hosts = (count: number) => Array.from({ length: count }, (_, index) => `a${index}.b`);

  it.each<[string, AgentAnswers['egress'], string | null]>([
    ['may be listed', { mode: 'dev-open', hosts: ['api.example.com'] }, null],
    [
      'must be known',
      { mode: 'open', hosts: [] },
      'open is not a mode of egress; known are allowlist, deny-all, dev-open',
    ],
    ['is 200 hosts at most', { mode: 'allowlist', hosts: hosts(200) }, null],
    ['may not have 201', { mode: 'allowlist', hosts: hosts(201) }, 'at most 200 hosts are listed'],
    [
      'may not list an address',
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

  it('that is omitted leads to a check of the variables', () => {
    expect(wrong('security', { security: { variables: { PATH: 'x' }, passphrase: '' } })).toBe(
      'this name affects how programs run, so a secret cannot have it; use another, such as SHOP_KEY',
    );
  });
});
