import fc from 'fast-check';
import { expect, it } from 'vitest';
import { firstAnswers, questions } from '../../../../../src/machines/wizard/agent-answers.ts';
import { wrongAnswer } from '../../../../../src/machines/wizard/wrong-answers.ts';
import { wrongField } from '../../../../../src/ui/dashboard/views/new/wrong-field.ts';
import { anOffer, noOffer, someAnswers } from '../../../../machines/wizard/some-answers.ts';

it.each([
  ['name', { name: '../x' }, 'name'],
  ['model', { provider: 'openai' }, 'model.name'],
  [
    'model',
    { provider: 'openai', model: { ...firstAnswers.model, name: 'gpt-5', key: 'a b' } },
    'model.key',
  ],
  [
    'model',
    {
      provider: 'openai-compatible',
      model: { ...firstAnswers.model, name: 'm', address: 'ftp:x' },
    },
    'model.address',
  ],
  [
    'channels',
    { channels: { webhook: { target: 'ops', url: 'http://x' } } },
    'channels.webhook.url',
  ],
  ['channels', { channels: { slack: { bot_token: 'nonsense' } } }, 'channels.slack.bot_token'],
  ['tools', { tools: { ...firstAnswers.tools, names: ['cli_execute'] } }, 'tools.commands'],
  [
    'fallback',
    { provider: 'ollama', fallback: [{ provider: 'google', name: '', address: '', key: '' }] },
    'fallback.0.name',
  ],
  ['auth', { auth: { mode: 'oidc', settings: {} } }, 'auth.issuer'],
  [
    'auth',
    { auth: { mode: 'oidc', settings: { issuer: 'https://id.example.com' } } },
    'auth.audience',
  ],
  ['egress', { egress: { mode: 'allowlist', hosts: ['10.0.0.1'] } }, 'egress.hosts'],
  ['security', { security: { variables: {}, passphrase: 'short' } }, 'security.passphrase'],
  ['security', { security: { variables: { A: 'x', 'b c': 'y' }, passphrase: '' } }, 'security.1'],
  [
    'approvals',
    { approvals: { datetime_now: { to: 'x', timeout: '5m', quorum: 1, approvers: [] } } },
    'approvals.datetime_now.to',
  ],
  [
    'approvals',
    {
      approvals: {
        datetime_now: { to: 'channel:console:*', timeout: '5', quorum: 1, approvers: [] },
      },
    },
    'approvals.datetime_now.timeout',
  ],
] as const)('an error at the step %s belongs to its field (%#)', (step, wrong, field) => {
  const answers = { ...firstAnswers, name: 'x', ...wrong };
  expect(wrongAnswer(step, answers, noOffer)).not.toBeNull();
  expect(wrongField(step, answers, noOffer)).toBe(field);
});

it('no field is named without an error, for any answers', () => {
  fc.assert(
    fc.property(someAnswers, (answers) => {
      for (const step of questions) {
        if (wrongAnswer(step, answers, anOffer) !== null) wrongField(step, answers, anOffer);
        else expect(wrongField(step, answers, anOffer)).toBeNull();
      }
    }),
  );
});
