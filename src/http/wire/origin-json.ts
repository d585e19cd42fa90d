import type { Task } from '../../machines/task/task.ts';
import { workflowHeaders } from '../../machines/workflow.ts';
import { timestamp } from './timestamp.ts';

/** Where a task comes from: when, from whom, and out of which workflow. */
export interface OriginJson {
  created_at: string;
  requester: RequesterJson | null;
  /** The workflow that the request named; absent when it named none. */
  workflow?: Record<string, string>;
}

/** Who asked; a type, as it stands in plain JSON. */
export type RequesterJson = { user_id: string; email: string | null; provider: string };

/** Presents where a task comes from. */
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

/** Presents who asked; `null` without authentication. */
export function presentRequester(requester: Task['requester']): RequesterJson | null {
  if (requester === null) return null;
  const { userId, email = null, provider } = requester;
  return { user_id: userId, email, provider };
}
