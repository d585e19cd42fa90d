import type { Modification, ToolRules } from '../../../../src/machines/governance/ruling.ts';
import type { ToolCallInput } from '../../../../src/machines/governance/tool-call-setup.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import * as fixture from '../../../helpers/task-fixtures.ts';

/** A call, and what every layer says of it. */
export interface Asked {
  tool: string;
  args?: ToolCallInput['call']['args'];
  fault?: string;
  acr?: string;
  rules?: Partial<ToolRules>;
  modification?: Modification;
}

const refused = (text: string) => ({ refusal: fixture.aRefusal(text) });
const misfit = (text: string) => ({
  refusal: { ...fixture.aRefusal(text), isMisfit: true as const },
});
const modified: Modification = {
  kind: 'modified',
  call: fixture.aCall(),
  rules: [1],
  changes: [],
};

/** Calls without an obstacle from the beginning. */
export const sensible: Record<string, Asked> = {
  'that nothing is said of': { tool: 'look' },
  'with credentials': { tool: 'fetch', rules: { credential: 'static' } },
  'of somebody who must sign in again': {
    tool: 'wire',
    acr: 'silver',
    rules: { requiredAcr: 'gold' },
  },
  'of somebody who signed in well': {
    tool: 'wire',
    acr: 'gold',
    rules: { requiredAcr: 'gold' },
  },
  'that is rewritten': {
    tool: 'note',
    args: { text: 'card 1234', to: 'ann' },
    modification: modified,
  },
  'that is rewritten and held': {
    tool: 'pay',
    args: { note: 'card 1234' },
    modification: modified,
    rules: { defer: fixture.aDeferRule() },
  },
  'that is held as it is': {
    tool: 'pay',
    rules: { defer: fixture.aDeferRule() },
  },
  'that is rewritten to what may not run': {
    tool: 'note',
    args: { text: 'launch on', to: 'bob' },
    modification: {
      kind: 'refused',
      ...refused('MODIFY made arguments that may not run: denied by guardrail: lift-off'),
    },
  },
  'that grows too long': {
    tool: 'note',
    args: { text: 'z'.repeat(1_000), to: 'ann' },
    modification: {
      kind: 'refused',
      ...refused('governance failed: MODIFY could not be carried out'),
    },
  },
};

/** Calls that nobody compares with anything any more. */
export const hopeless: Record<string, Asked> = {
  'of a tool that there is not': {
    tool: 'dance',
    rules: misfit('unknown tool: dance'),
  },
  'whose arguments are none': {
    tool: 'look',
    fault: 'the arguments of look must be an object',
    rules: misfit('the arguments of look must be an object'),
  },
  'that does not fit its schema': {
    tool: 'look',
    args: { at: 'nothing' },
    rules: misfit('there is nothing to look at'),
  },
  'of a tool that never runs': {
    tool: 'drop',
    rules: refused('denied by guardrail: drop is a denied tool'),
  },
  'with words that are denied': {
    tool: 'note',
    args: { text: 'rm -rf /', to: 'ann' },
    rules: refused('denied by guardrail: rm\\s+-rf'),
  },
  'whose tool cannot check its arguments': {
    tool: 'look',
    args: { at: 'breaks' },
    rules: refused('governance failed: the policy could not be consulted'),
  },
};

/** A configuration with something to say of some of them. */
export const security = {
  guardrails: {
    enabled: true,
    deny_commands: [{ pattern: 'rm\\s+-rf' }, { pattern: 'lift-off' }],
    denied_tools: ['drop'],
  },
  step_up: { enabled: true, tools: { wire: 'gold' }, acr_hierarchy: ['silver', 'gold'] },
  modify: {
    enabled: true,
    tools: {
      note: {
        arguments: [
          { path: 'text', replace: { pattern: '\\d{4}', with: '****' } },
          { path: 'text', replace: { pattern: 'launch on', with: 'lift-off' } },
          { path: 'text', replace: { pattern: 'z', with: 'a'.repeat(1_100) } },
        ],
      },
      pay: { arguments: [{ path: 'note', replace: { pattern: '\\d{4}', with: '****' } }] },
    },
  },
  defer: { enabled: true, tools: { pay: { to: 'channel:console:*' } } },
};

/** The tools that there are, by name. */
export const tools = new Map(
  ['look', 'fetch', 'wire', 'note', 'pay', 'drop'].map((name) => [
    name,
    toolCalled(name, undefined, {
      check: ({ at }) => {
        if (at === 'breaks') throw new Error('the schema is gone');
        return at === 'nothing' ? 'there is nothing to look at' : null;
      },
    }),
  ]),
);
