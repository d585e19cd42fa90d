import { z } from 'zod';
import { CliError } from '../cli-error.ts';

const part = z.looseObject({ kind: z.string(), text: z.string().optional() });
const message = z.looseObject({ parts: z.array(part) });

const pending = z.looseObject({
  id: z.string(),
  tool: z.string(),
  to: z.string(),
  context: z.string(),
  expires_at: z.string(),
});

const decision = z.looseObject({
  call_id: z.string().optional(),
  tool: z.string().optional(),
  layer: z.string(),
  decision: z.string(),
  reason: z.string(),
  duration_ms: z.number(),
});

const enteredState = z.looseObject({
  state: z.string(),
  event: z.string(),
  entered_at: z.string(),
});

const task = z.looseObject({
  id: z.string(),
  status: z.looseObject({
    state: z.string(),
    message: message.optional(),
    timestamp: z.string(),
  }),
  artifacts: z.array(z.looseObject({ parts: z.array(part) })).optional(),
  metadata: z
    .looseObject({
      deferral: pending.optional(),
      decisions: z.array(decision).optional(),
      states: z.array(enteredState).optional(),
      states_left_out: z.number().optional(),
    })
    .optional(),
});

const taskPage = z.looseObject({ tasks: z.array(task), next_cursor: z.string().optional() });

const deferral = z.looseObject({
  id: z.string(),
  task_id: z.string(),
  tool: z.string(),
  to: z.string(),
  escalated_to: z.string().optional(),
  context: z.string(),
  args: z.json(),
  args_sha256: z.string(),
  requester: z
    .looseObject({
      user_id: z.string(),
      email: z.string().nullish(),
      provider: z.string().optional(),
    })
    .nullish(),
  requested_at: z.string(),
  expires_at: z.string(),
  approvers: z.array(z.string()).nullish(),
  quorum: z.number().default(1),
  approvals: z.array(z.looseObject({ approver: z.string() })).default([]),
  requests: z.number().optional(),
  messages: z.array(z.looseObject({ from: z.string().nullish(), text: z.string() })).optional(),
});

const deferralPage = z.looseObject({
  deferrals: z.array(deferral),
  next_cursor: z.string().optional(),
});

const decisionAnswer = z.looseObject({
  task_id: z.string(),
  decision: z.string(),
  approver: z.string(),
  status: z.string(),
});

const inspection = z.looseObject({ events: z.array(z.looseObject({ type: z.string() })) });

const progress = z.looseObject({
  phase: z.string(),
  tool: z.string().optional(),
  text: z.string().optional(),
});

/** The task fields that the command line reads; other fields are passed through. */
export type TaskJson = z.infer<typeof task>;
export type StateJson = z.infer<typeof enteredState>;
export type TaskPage = z.infer<typeof taskPage>;
export type DecisionJson = z.infer<typeof decision>;
export type DeferralJson = z.infer<typeof deferral>;
export type DeferralPage = z.infer<typeof deferralPage>;
export type DecisionAnswer = z.infer<typeof decisionAnswer>;
export type ProgressJson = z.infer<typeof progress>;

/** Parsers for an agent's responses. */
export const readAnswer = {
  task: (value: unknown): TaskJson => read(task, value),
  taskPage: (value: unknown): TaskPage => read(taskPage, value),
  deferralPage: (value: unknown): DeferralPage => read(deferralPage, value),
  deferral: (value: unknown): DeferralJson => read(deferral, value),
  decision: (value: unknown): DecisionAnswer => read(decisionAnswer, value),
  inspection: (value: unknown) => read(inspection, value),
  progress: (value: unknown): ProgressJson => read(progress, value),
};

/** Parses the data of an event in a task's stream. Throws CliError for invalid JSON. */
export function readEventData(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw noAgent(cause);
  }
}

function read<Shape extends z.ZodType>(shape: Shape, value: unknown): z.infer<Shape> {
  const result = shape.safeParse(value);
  if (result.success) return result.data;
  throw noAgent(result.error);
}

function noAgent(cause: unknown): CliError {
  return new CliError('what answers there is not an agent of this version', {
    code: 'bad_answer',
    hint: 'check the address',
    cause,
  });
}
