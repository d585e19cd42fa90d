import type { Task } from '../../machines/task/task.ts';
import { workflowHeaders } from '../../machines/workflow.ts';
import { timestamp } from './timestamp.ts';

/** A task's origin: time, requester and workflow. */
export interface OriginJson {
  created_at: string;
  requester: RequesterJson | null;
  /** The workflow named in the request; absent if it named none. */
  workflow?: Record<string, string>;
}

/** The requester. A type alias, so it is assignable to plain JSON. */
export type RequesterJson = { user_id: string; email: string | null; provider: string };

/** Formats a task's origin. */
export function presentOrigin({ createdAt, requester, tags = {} }: Task): OriginJson {
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

/** Formats the requester; `null` without authentication. */
export function presentRequester(requester: Task['requester']): RequesterJson | null {
  if (requester === null) return null;
  const { userId, email = null, provider } = requester;
  return { user_id: userId, email, provider };
}
