import { expect, it } from 'vitest';
import type { ConfigProblem, ServiceConfig } from '../../../src/actors/config/config.ts';
import { securitySchema } from '../../../src/actors/governance/settings/schema-security.ts';
import {
  conditionProblems,
  groupWarnings,
  pathWarnings,
} from '../../../src/agent/policy/rule-conditions.ts';
import { toolCalled } from '../../helpers/system-story.ts';

const parameters = { type: 'object', properties: { amount: { type: 'number' } } };
const tools = new Map([['pay_out', { ...toolCalled('pay_out'), parameters }]]);

const problemAt = (path: readonly (string | number)[], message: string): ConfigProblem => ({
  ...{ message, file: 'service.yaml', line: 1, column: 1 },
  path: path.join('.'),
});

function problemsOf(security: object): string[] {
  const config = { security: securitySchema.parse(security) } as unknown as ServiceConfig;
  return conditionProblems({ config, problemAt }, tools).map(
    ({ path, message }) => `${path}: ${message}`,
  );
}

const wrong = 'args.amuont > 5.0';
const said = 'No such key: amuont (column 6 of the expression)';

it('a misspelled argument is found in every layer, under either spelling of the tool', () => {
  const to = 'channel:console:*';
  expect(
    problemsOf({
      guardrails: { denied_tools: ['x', { tool: 'pay_out', when: wrong }] },
      step_up: { tools: { 'pay-out': { acr: 'gold', when: wrong } } },
      modify: { tools: { pay_out: [{ when: wrong }, {}] } },
      defer: { tools: { pay_out: [{ to }, { when: wrong, to }], other: { when: wrong, to } } },
    }),
  ).toEqual([
    `security.guardrails.denied_tools.1.when: ${said}`,
    `security.step_up.tools.pay-out.when: ${said}`,
    `security.modify.tools.pay_out.0.when: ${said}`,
    `security.defer.tools.pay_out.1.when: ${said}`,
  ]);
});

it('the line of a longer expression is named', () => {
  const when = 'args.amount > 5.0\n  && args.amuont < 7.0';
  expect(problemsOf({ step_up: { tools: { pay_out: { acr: 'gold', when } } } })).toEqual([
    'security.step_up.tools.pay_out.when: No such key: amuont (line 2, column 11 of the expression)',
  ]);
});

it.each([
  ['without a provider that names them', [{ type: 'static_token' }, { type: 'cloud_sigv4' }], 1],
  ['with one', [{ type: 'static_token' }, { type: 'oidc', groups_claim: 'groups' }], 0],
])('a condition on groups causes a warning %s', (_, providers, warnings) => {
  const when = '"finance" in caller.groups';
  const security = securitySchema.parse({
    defer: { tools: { pay_out: [{ when, allow: true }, { to: 'channel:console:*' }] } },
  });
  const config = { security, auth: { providers } } as unknown as ServiceConfig;
  expect(groupWarnings({ config, problemAt }).map(({ path }) => path)).toEqual(
    Array(warnings).fill('security.defer.tools.pay_out.0.when'),
  );
});

it('a variable that the policy does not name is found', () => {
  const rule = { when: 'environment.SECRET == "eu"', to: 'channel:console:*' };
  expect(
    problemsOf({ policy: { environment: ['REGION'] }, defer: { tools: { pay_out: rule } } }),
  ).toEqual([
    'security.defer.tools.pay_out.when: No such key: SECRET (column 13 of the expression)',
  ]);
  const named = { ...rule, when: 'environment.REGION == "eu" || has(environment.REGION)' };
  expect(
    problemsOf({ policy: { environment: ['REGION'] }, defer: { tools: { pay_out: named } } }),
  ).toEqual([]);
});

it.each<[string, string[]]>([
  [
    'args.amount > 5.0 || args.p.startsWith("/safe/")',
    [
      'args.p.startsWith("/safe/") also holds for /safe/../other; write path.under(args.p, "/safe/") (column 22 of the expression)',
    ],
  ],
  ['args.p.startsWith("/safe/") && !args.p.contains("..")', []],
  ['path.under(args.p, "/safe")', []],
  ['args.name.startsWith("draft")', []],
  ['caller.user_id.startsWith("/ci")', []],
])('a condition on the beginning of a path causes a warning: %s', (when, messages) => {
  const security = securitySchema.parse({
    defer: { tools: { other: [{ when, allow: true }, { to: 'channel:console:*' }] } },
  });
  const config = { security } as unknown as ServiceConfig;
  expect(pathWarnings({ config, problemAt }).map(({ message }) => message)).toEqual(messages);
});
