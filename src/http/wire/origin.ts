import { z } from 'zod';
import type { Task } from '../../machines/domain/task.ts';
import { workflowHeaders } from '../../machines/workflow.ts';
import { presentRequester, requester } from './requester.ts';
import { time, timestamp } from './timestamp.ts';

/** The schema of a task's origin: time, requester and workflow. */
export const origin = z.object({
  created_at: time,
  requester: requester.nullable(),
  workflow: z
    .record(z.string(), z.string())
    .describe('The workflow named in the request.')
    .exactOptional(),
});

/** Formats a task's origin. */
export function presentOrigin({ createdAt, requester, tags = {} }: Task): z.input<typeof origin> {
  const named = workflowHeaders.flatMap(([, key]): [string, string][] => {
    const value = tags[key];
    return value === undefined ? [] : [[key, value]];
  });
  const workflow = Object.fromEntries(named);
  return {
    created_at: timestamp(createdAt),
    requester: presentRequester(requester),
    ...(Object.keys(workflow).length === 0 ? {} : { workflow }),
  };
}
