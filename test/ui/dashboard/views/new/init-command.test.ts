import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  firstAnswers,
  firstApproval,
  questions,
} from '../../../../../src/machines/wizard/agent-answers.ts';
import { wrongAnswer } from '../../../../../src/machines/wizard/wrong-answers.ts';
import { initCommand } from '../../../../../src/ui/dashboard/views/new/init-command.ts';
import { anOffer, someAnswers } from '../../../../machines/wizard/some-answers.ts';

it('the command shows the answers as flags, and no secret', () => {
  const answers = {
    ...firstAnswers,
    name: 'Refund Desk',
    provider: 'openai',
    model: { ...firstAnswers.model, name: 'gpt-5', key: 'sk-canary' },
    tools: {
      ...firstAnswers.tools,
      ...{ names: ['web_search', 'cli_execute'], key: 'tv-canary', commands: ['jq'] },
    },
    auth: {
      mode: 'oidc',
      settings: {
        issuer: 'https://id.example.com',
        audience: ['a', 'b'],
        claim_map: { user_id: 'oid' },
      },
    },
    approvals: {
      cli_execute: { ...firstApproval, quorum: 2, approvers: ['a@b.example', 'c@d.example'] },
    },
    security: { variables: {}, passphrase: 'canary canary' },
  };
  expect(initCommand(answers, anOffer, '/w/refund desk')).toEqual({
    command:
      "holdpoint init refund-desk --provider openai --model gpt-5 --tools web_search,cli_execute --commands jq --auth oidc --auth-setting issuer=https://id.example.com --auth-setting audience=a,b --auth-setting claim_map.user_id=oid --held cli_execute --quorum 2 --approvers a@b.example,c@d.example --dir '/w/refund desk' --variables secrets.env --yes",
    answers: null,
    variables: ['OPENAI_API_KEY', 'TAVILY_API_KEY'],
    isEncrypted: true,
  });
});

it('the command uses an answers file where tools have different approvers', () => {
  const answers = {
    ...firstAnswers,
    name: 'x',
    tools: { ...firstAnswers.tools, names: ['datetime_now', 'uuid_generate'] },
    approvals: { datetime_now: firstApproval, uuid_generate: { ...firstApproval, timeout: '9m' } },
  };
  const same = initCommand(answers, anOffer, '/w/x');
  expect(same?.command).toBe('holdpoint init --answers answers.json --dir /w/x --yes');
  expect(JSON.parse(same?.answers ?? '')).toEqual(answers);
});

it('the command contains no secret, for any answers', () => {
  fc.assert(
    fc.property(someAnswers, (some) => {
      const canary = 'sk-canary-of-the-test';
      const answers = {
        ...some,
        model: { ...some.model, key: canary },
        fallback: some.fallback.map((each) => ({ ...each, key: canary })),
        tools: { ...some.tools, key: canary },
        security: { variables: { SHOP_KEY: canary }, passphrase: canary },
      };
      if (questions.some((step) => wrongAnswer(step, answers, anOffer) !== null)) return;
      expect(JSON.stringify(initCommand(answers, anOffer, '/w'))).not.toContain(canary);
    }),
  );
});
