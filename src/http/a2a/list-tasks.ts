import type { ListTasksRequest, ListTasksResponse } from '@a2a-js/sdk';
import type { CallerTasks } from '../caller-tasks.ts';
import type { CoreTasks } from './core-task.ts';
import type { Sdk } from './sdk.ts';

const usualPage = 50;
const largestPage = 100;

/**
 * Lists tasks, most recently changed first, with the filters of A2A 1.0. Rejects with an SDK error for an invalid
 * filter.
 */
export async function listedTasks(
  { RequestMalformedError }: Sdk,
  tasks: CallerTasks,
  core: CoreTasks,
  params: ListTasksRequest,
): Promise<ListTasksResponse> {
  const { contextId, status, pageToken, historyLength, statusTimestampAfter } = params;
  const pageSize = params.pageSize ?? usualPage;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > largestPage) {
    throw new RequestMalformedError(`pageSize must be a whole number from 1 to ${largestPage}`);
  }
  if (pageToken && !/^\d{1,15}-\d{1,15}$/.test(pageToken)) {
    throw new RequestMalformedError('pageToken must be the nextPageToken of the page before');
  }
  const changedAfter = statusTimestampAfter ? Date.parse(statusTimestampAfter) : undefined;
  if (Number.isNaN(changedAfter)) {
    throw new RequestMalformedError('statusTimestampAfter must be an RFC 3339 time');
  }
  const state = core.stateOf(status);
  if (status && state === undefined) {
    // A protocol state that no task ever has.
    if (status > 0) return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 };
    throw new RequestMalformedError('status must be a state of a task');
  }
  const filter = {
    ...(state === undefined ? {} : { state }),
    ...(contextId ? { contextId } : {}),
    ...(changedAfter === undefined ? {} : { changedAfter }),
  };
  const page = await tasks.listChanged({
    ...filter,
    limit: pageSize,
    withContents: params.includeArtifacts === true || (historyLength ?? 0) > 0,
    ...(pageToken ? { cursor: pageToken } : {}),
  });
  // A first page that is also the last needs no separate count.
  const isWhole = !pageToken && page.cursor === null;
  return {
    tasks: page.tasks.map((task) => {
      const listed = core.task(task, historyLength ?? 0);
      return params.includeArtifacts === true ? listed : { ...listed, artifacts: [] };
    }),
    nextPageToken: page.cursor ?? '',
    pageSize,
    totalSize: isWhole ? page.tasks.length : await tasks.total(filter),
  };
}
