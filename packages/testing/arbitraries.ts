// Arbitraries for property tests of an agent, exported as `holdpoint/testing/arbitraries`. Requires the peer dependency
// fast-check.

import fc, { type Arbitrary } from 'fast-check';
import type { RequiredReason } from '../../src/machines/domain/rule-options.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import type { ModelCommand, ModelRules } from './model-command.ts';
import type { DecideOptions, ScriptStep, SendOptions } from './test-agent.ts';

/** Emails of the default users. */
const usualPeople = ['ann@example.com', 'bob@example.com', 'eve@example.com'];

/** Timeouts of held calls. */
const waits = ['1s', '1m', '5m', '2h'];

/** Timeouts and clock steps of a reference model in milliseconds. */
const timeouts = [1_000, 60_000, 300_000];
const steps = [...timeouts, 1, 59_999];

/** Arbitraries for each tool's arguments. */
export type ToolArguments = { [tool: string]: Arbitrary<JsonObject> };

/** Generates tool calls as script steps. */
export function toolCalls(tools: ToolArguments): Arbitrary<{ tool: string; args: JsonObject }> {
  const calls = Object.entries(tools).map(([tool, given]) => given.map((args) => ({ tool, args })));
  return fc.oneof(...calls);
}

/** Generates tasks for `agent.send(text, options)`: a requester, and up to five calls followed by an answer. */
export function sentTasks(
  tools: ToolArguments,
  people: readonly string[] = usualPeople,
): Arbitrary<{ text: string; options: SendOptions & { script: ScriptStep[] } }> {
  return fc.record({
    text: fc.string(),
    options: fc.record({
      as: fc.constantFrom(...people),
      script: fc
        .array(toolCalls(tools), { maxLength: 5 })
        .map((calls): ScriptStep[] => [...calls, { say: 'done' }]),
    }),
  });
}

/**
 * Generates decisions for `agent.decide(id, decision, options)`, including decisions by people who claim another
 * identity.
 */
export function decisions(
  people: readonly string[] = usualPeople,
): Arbitrary<{ decision: 'approve' | 'reject'; options: DecideOptions & { as: string } }> {
  const claimed = fc.option(fc.constantFrom(...people, 'Ann@Example.com ', 'nobody'));
  return fc.record({
    decision: fc.constantFrom('approve', 'reject'),
    options: fc.record(
      { as: fc.constantFrom(...people), email: claimed, note: fc.string() },
      { requiredKeys: ['as'] },
    ),
  });
}

/**
 * Generates policies for some tools as `security` of `service.yaml`; each tool is free, denied or held with its own
 * settings.
 */
export function policies(
  tools: readonly string[],
  people: readonly string[] = usualPeople,
): Arbitrary<JsonObject> {
  const rule = fc.oneof(fc.constant(null), fc.constant('denied' as const), heldRule(people));
  const rules = fc.tuple(...tools.map((tool) => rule.map((given) => ({ tool, given }))));
  const layer = fc.record({ on_reject: fc.constantFrom('fail', 'tool_result') });
  return fc.tuple(rules, layer).map(([given, how]) => {
    const denied = given.flatMap(({ tool, given: one }) => (one === 'denied' ? [tool] : []));
    const held = given.flatMap(({ tool, given: one }) =>
      one === null || one === 'denied' ? [] : [[tool, one] as const],
    );
    const defer = { enabled: held.length > 0, ...how, tools: Object.fromEntries(held) };
    return { guardrails: { enabled: denied.length > 0, denied_tools: denied }, defer };
  });
}

function heldRule(people: readonly string[]): Arbitrary<JsonObject> {
  const common = {
    timeout: fc.constantFrom(...waits),
    four_eyes: fc.boolean(),
    remind: fc.boolean(),
  };
  const listed = fc.subarray([...people], { minLength: 1 }).chain((approvers) =>
    fc.record({
      ...common,
      approvers: fc.constant(approvers),
      quorum: fc.integer({ min: 1, max: approvers.length }),
    }),
  );
  return fc.oneof(fc.record(common), listed).map((rule) => ({ to: 'channel:console:*', ...rule }));
}

/** Generates the rules of a reference model. */
export function modelRules(people: readonly string[] = usualPeople): Arbitrary<ModelRules> {
  const lists = fc.option(fc.subarray([...people], { minLength: 1 }));
  const reasons = fc.option(fc.constantFrom<RequiredReason>('approve', 'reject', 'both'));
  const required = reasons.map((requireReason) =>
    requireReason === null ? {} : { requireReason },
  );
  const rules = lists.chain((approvers) =>
    fc.record({
      approvers: fc.constant(approvers),
      quorum: fc.integer({ min: 1, max: approvers?.length ?? 1 }),
      fourEyes: fc.boolean(),
      bindApprover: fc.boolean(),
      onReject: fc.constantFrom('fail', 'tool_result'),
      onTimeout: fc.constantFrom('fail', 'tool_result'),
      edit: fc.boolean(),
      onRestart: fc.constantFrom('abandon', 'resume'),
      timeout: fc.constantFrom(...timeouts),
    }),
  );
  return fc.tuple(rules, required).map(([one, demand]) => ({ ...one, ...demand }));
}

/**
 * Generates commands for a reference model and the agent tested against it, on a few tasks; `null` in `people` means no
 * token.
 */
export function modelCommands(
  people: readonly (string | null)[] = usualPeople,
  ids: readonly string[] = ['t1', 't2'],
): Arbitrary<ModelCommand[]> {
  const id = fc.constantFrom(...ids);
  const by = fc.constantFrom(...people);
  const email = fc.constantFrom(...people, null);
  const decision = fc.constantFrom(
    ...Array<string>(8).fill('approve'),
    'reject',
    'reject',
    'maybe',
  );
  const note = fc.constantFrom('', ' ', 'checked', 'checked');
  const args = fc.constantFrom<JsonObject>({}, { to: 'ann' }, { to: 'bob' });
  const type = <Type extends ModelCommand['type']>(...types: Type[]) => fc.constantFrom(...types);
  const command = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: type('send'), id, by, calls: fc.nat({ max: 3 }) }) },
    {
      weight: 12,
      arbitrary: fc.record(
        { type: type('decide'), id, decision, by, email, note, args },
        { requiredKeys: ['type', 'id', 'decision', 'by', 'email', 'note'] },
      ),
    },
    { weight: 2, arbitrary: fc.record({ type: type('cancel', 'read'), id }) },
    {
      weight: 2,
      arbitrary: fc.record({ type: type('pass'), milliseconds: fc.constantFrom(...steps) }),
    },
    { weight: 1, arbitrary: fc.record({ type: type('restart') }) },
  );
  return fc.array(command, { maxLength: 40, size: 'max' });
}
