import { expect, it, onTestFinished } from 'vitest';
import { nameCommand } from '../../../src/actors/command-line.ts';
import { previewAgent } from '../../../src/agent/start/preview-agent.ts';
import { firstAnswers } from '../../../src/machines/wizard/agent-answers.ts';

const skill = {
  ...{ name: 'shop', description: 'Asks the shop', category: 'shop', tools: ['ask_shop'] },
  ...{ held: [], egress_domains: ['api.shop.example'] },
  env: { required: ['SHOP_URL'], one_of: [], optional: [] },
};

it('each host is listed once, also those that variables name', () => {
  const variables = { SHOP_URL: 'https://eu.shop.example:8443' };
  const answers = { ...firstAnswers, name: 'Desk', skills: { names: ['shop'], variables } };
  expect(previewAgent(answers, [skill]).hosts).toEqual([
    { host: 'api.shop.example', origin: 'skills.shop' },
    { host: 'eu.shop.example:8443', origin: 'variables.SHOP_URL' },
  ]);
});

it('the description of service.yaml keys is named without a path of this machine', () => {
  nameCommand('/opt/a b/bin/holdpoint');
  onTestFinished(() => nameCommand(undefined));
  const { files } = previewAgent({ ...firstAnswers, name: 'Desk' }, []);
  expect(files['service.yaml']?.split('\n').slice(0, 3)).toEqual([
    '# yaml-language-server: $schema=.service/service.schema.json',
    '# Every key: holdpoint docs configuration.',
    '# An editor without .service/service.schema.json: holdpoint schema --write.',
  ]);
});

it('the key from a sign-in with the browser is named', () => {
  const model = { ...firstAnswers.model, name: 'gpt-5', session: 'a-state' };
  const answers = { ...firstAnswers, name: 'Desk', provider: 'openai', model };
  const { variables, missing } = previewAgent(answers, []);
  expect({ variables, missing }).toEqual({ variables: ['OPENAI_API_KEY'], missing: [] });
});
