import type { z } from 'zod';
import { decided } from '../../http/wire/decision.ts';
import type { decisionRecord } from '../../http/wire/decision-record.ts';
import { deferral, deferralPage } from '../../http/wire/deferral.ts';
import { inspection } from '../../http/wire/inspection.ts';
import { progress } from '../../http/wire/progress.ts';
import { type Loose, loose } from '../../http/wire/relaxed.ts';
import type { statePath } from '../../http/wire/states.ts';
import { task, taskPage } from '../../http/wire/task.ts';
import { CliError } from '../cli-error.ts';

/** The fields that agents of every release send and the command reads. */
const needed = [
  ...(['id', 'task_id', 'status', 'state', 'timestamp', 'parts', 'tasks'] as const),
  ...(['deferrals', 'tool', 'to', 'context', 'args', 'args_sha256', 'expires_at'] as const),
  ...(['requested_at', 'user_id', 'approver', 'text', 'decision', 'layer', 'reason'] as const),
  ...(['duration_ms', 'states', 'event', 'entered_at', 'events', 'type', 'phase'] as const),
];

type Read<Schema extends z.ZodType> = Loose<z.output<Schema>, (typeof needed)[number]>;

export type TaskJson = Read<typeof task>;
export type StateJson = Read<typeof statePath>['states'][number];
export type DecisionJson = Read<typeof decisionRecord>;
export type DeferralJson = Read<typeof deferral>;
export type ProgressJson = Read<typeof progress>;

/** Parsers for an agent's responses. Each throws CliError. */
export const readAnswer = {
  task: reader(task),
  taskPage: reader(taskPage),
  deferralPage: reader(deferralPage),
  deferral: reader(deferral),
  decision: reader(decided),
  inspection: reader(inspection),
  progress: reader(progress),
};

/** Parses the data of an event in a task's stream. Throws CliError for invalid JSON. */
export function readEventData(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw noAgent(cause);
  }
}

function reader<Value>(
  schema: z.ZodType<Value>,
): (value: unknown) => Loose<Value, (typeof needed)[number]> {
  const read = loose(schema, needed);
  return (value) => {
    const result = read.safeParse(value);
    if (result.success) return result.data;
    throw noAgent(result.error);
  };
}

function noAgent(cause: unknown): CliError {
  return new CliError('what answers there is not an agent of this version', {
    code: 'bad_answer',
    hint: 'check the address',
    cause,
  });
}
