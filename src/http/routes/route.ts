import type { RouterMiddleware } from '@koa/router';
import { z } from 'zod';
import type { Task } from '../../machines/domain/task.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { holding, type Operation, type Parameter } from '../openapi/operation.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import type { InvocationReader } from '../wire/admission.ts';
import { Problem, refusal } from '../wire/problem.ts';

/** One route: how it is served, and how the OpenAPI document describes it. */
export interface Route extends Operation {
  /** Middleware before admission. Defaults to a reader of JSON for a route with a body. */
  before?: readonly RouterMiddleware<RequestState>[];
  /** Reads the invocation that a body starts, which admission may deny; absent for a route that starts none. */
  admits?: InvocationReader;
  answer: (ctx: RoutedContext) => unknown;
}

/** Routes by verb and path. The first one that matches a request answers it. */
export type Routes = Readonly<Record<string, Route>>;

/** Describes a parameter of the query. */
export function query(name: string, says: string, schema: z.ZodType): Parameter {
  return { name, in: 'query', says, schema };
}

/** The parameters of a list. */
export const page = [
  query('limit', 'Entries of a page (default 50).', z.int().min(1).max(500)),
  query('cursor', 'The next_cursor of the page before.', z.string()),
];

export const lastEventId: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  says: 'The id of the last event that was seen.',
  schema: z.string(),
};

export const badBody = holding('The body is malformed; the error says where.', refusal, {
  example: { error: 'task.message.parts must be a list of parts', code: 'invalid_body' },
});
export const badQuery = holding('A parameter is not what it should be.', refusal);
export const noTask = holding('No task of this id is there for the caller.', refusal, {
  example: { error: 'task not found', code: 'task_not_found' },
});

export const unchanged = { says: 'The caller has these bytes already.' };

/** Returns the task of a path as committed to disk. Throws a 404 Problem. */
export async function taskOf({ params: { id }, state }: RoutedContext): Promise<Task> {
  const task = isTaskId(id) ? await state.tasks.find(id) : undefined;
  if (task === undefined) throw new Problem('task_not_found', 'task not found');
  return task;
}
