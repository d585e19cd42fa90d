import { expect, it, onTestFinished } from 'vitest';
import { nameCommand } from '../../../src/actors/command-line.ts';
import { previewAgent } from '../../../src/agent/start/preview-agent.ts';
import { firstAnswers } from '../../../src/machines/wizard/agent-answers.ts';

const skill = {
  ...{ name: 'shop', description: 'Asks the shop', category: 'shop', tools: ['ask_shop'] },
  ...{ held: [], egress_domains: ['api.shop.example'] },
  env: { required: ['SHOP_URL'], one_of: [], optional: [] },
};

it('names each host once as the list of egress has it, also those that variables name', () => {
  const variables = { SHOP_URL: 'https://eu.shop.example:8443' };
  const answers = { ...firstAnswers, name: 'Desk', skills: { names: ['shop'], variables } };
  expect(previewAgent(answers, [skill]).hosts).toEqual([
    { host: 'api.shop.example', origin: 'skills.shop' },
    { host: 'eu.shop.example:8443', origin: 'variables.SHOP_URL' },
  ]);
});

it('says where the keys of service.yaml are described by no path of this machine', () => {
  nameCommand('/opt/a b/bin/holdpoint');
  onTestFinished(() => nameCommand(undefined));
  const { files } = previewAgent({ ...firstAnswers, name: 'Desk' }, []);
  expect(files['service.yaml']?.split('\n').slice(0, 3)).toEqual([
    '# yaml-language-server: $schema=.service/service.schema.json',
    '# Every key: holdpoint docs configuration.',
    '# An editor without .service/service.schema.json: holdpoint schema --write.',
  ]);
});

it('names the key that a sign-in with the browser leaves', () => {
  const model = { ...firstAnswers.model, name: 'gpt-5', session: 'a-state' };
  const answers = { ...firstAnswers, name: 'Desk', provider: 'openai', model };
  const { variables, missing } = previewAgent(answers, []);
  expect({ variables, missing }).toEqual({ variables: ['OPENAI_API_KEY'], missing: [] });
});
