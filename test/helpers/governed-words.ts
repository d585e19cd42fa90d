import { expect } from 'vitest';

/** How a task ends. */
export interface Ending {
  state: 'completed' | 'failed';
  /** The answer, or why there is none. */
  text: string;
  /** What the caller has to sign in with again. */
  stepUp?: { tool: string; required_acr: string; reason: string };
  /** The tools that ran and what they got. */
  ran?: [tool: string, args: unknown][];
}

/** What a layer said about a call, the first of which is 1; about the message where there is no call. */
export interface Said {
  call?: number;
  tool?: string;
  layer: string;
  decision: string;
  reason: string;
  changes?: object[];
}

/** `changes` is what MODIFY changed. */
type Words = [decision: string, reason: string, changes?: object[]];

/** What each layer says while nothing is configured, in the order in which they are asked. */
const nothingToSay: Record<string, Words | null> = {
  intent_alignment: ['allow', 'no rule denies it'],
  step_up: ['allow', 'no assurance level is required'],
  modify: ['allow', 'no rule rewrites it'],
  defer: ['allow', 'no approval is required'],
  credentials: null,
  output: ['allow', 'no rule changes it'],
};

/**
 * Returns what every layer says about a call, with these words in place of the usual ones. A denial
 * or a challenge is the last word; `last` names another layer that has it.
 */
export function layersSay(
  words: { [layer: string]: Words },
  { call = 1, tool = 'pay', last = 'output' } = {},
): Said[] {
  const said: Said[] = [];
  for (const [layer, usual] of Object.entries(nothingToSay)) {
    const [decision, reason, changes] = words[layer] ?? usual ?? [];
    if (decision === undefined || reason === undefined) continue;
    said.push({ call, tool, layer, decision, reason, ...(changes && { changes }) });
    if (layer === last || decision === 'deny' || decision === 'step_up') break;
  }
  return said;
}

/** The audit event of a turn of the model. */
export const thought: [string, object] = [
  'llm_call',
  { provider: 'scripted', model: 'demo', input_tokens: 0, output_tokens: 0 },
];

/** The audit events of a tool that ran, with the error it ended with. */
export function running(
  tool = 'pay',
  error?: string,
  outcome = error === undefined ? 'succeeded' : 'failed',
): [string, object][] {
  return [
    ['tool_exec', { tool, phase: 'start' }],
    ['tool_exec', { tool, phase: 'end', outcome, ...(error === undefined ? {} : { error }) }],
  ];
}

/** The audit event of a rule that had something to say. */
export function ruleMatched(
  gate: string,
  rule: string,
  decision = 'deny',
  tool: string | null = 'pay',
): [string, object] {
  return ['guardrail_check', { gate, decision, rule, ...(tool === null ? {} : { tool }) }];
}

/** The audit event of MODIFY rules that changed something, by their numbers. */
export function rewritten(
  rules: number[],
  part: 'arguments' | 'output' = 'arguments',
  tool = 'pay',
): [string, object] {
  return ['tool_call_modified', { tool, part, rules }];
}

/** The audit event of a comparison with what was asked for. */
export function judged(
  decision: string,
  score: unknown,
  reason: unknown,
  tool = 'pay',
): [string, object] {
  return ['intent_alignment', { tool, score, decision, reason }];
}

/** The audit event of a call that waits. */
export function waits(context: string, rest: object = {}): [string, object] {
  const usual = { tool: 'pay', to: 'channel:console:desk', timeout_ms: 300_000 };
  return ['task_deferred', { ...usual, context, ...rest }];
}

/** The audit event of a decision by Ann. */
export function decided(decision: string, rest: object = {}): [string, object] {
  const asserted = { approver: 'ann', note: '', vouched_by: 'asserted' };
  return ['task_deferred_decision', { tool: 'pay', decision, ...asserted, ...rest }];
}

function aRanCall(tool: string) {
  return {
    tool,
    call_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    args_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    outcome: expect.stringMatching(/^(succeeded|failed|withheld|unknown)$/),
  };
}

/** The whole of a task that has ended, as its caller is shown it. */
export function expectedTask(
  id: string,
  message: object,
  { state, text, stepUp, ran = [] }: Ending,
) {
  const said = { kind: 'message', role: 'agent', parts: [{ kind: 'text', text }] };
  const isAnswered = state === 'completed';
  const metadata = {
    ...(isAnswered || ran.length === 0 ? {} : { ran: ran.map(([tool]) => aRanCall(tool)) }),
    ...(stepUp === undefined ? {} : { step_up: stepUp }),
  };
  return {
    id,
    contextId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    kind: 'task',
    status: {
      state,
      message: { ...said, messageId: expect.stringMatching(/^t1:status:\d+$/) },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
    history: [
      { kind: 'message', ...message },
      ...(isAnswered ? [{ ...said, messageId: `${id}:answer:1` }] : []),
    ],
    ...(isAnswered
      ? { artifacts: [{ artifactId: `${id}:response`, name: 'response', parts: said.parts }] }
      : {}),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}
