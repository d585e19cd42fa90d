import type { IncomingMessage } from 'node:http';
import type { Task as CoreTask, ListTasksRequest } from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { RequestHandler } from 'express';
import type { AnswerPlace } from '../../machines/domain/task.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { capturedResponse } from './captured-response.ts';
import { CoreTasks } from './core-task.ts';
import { listedTasks } from './list-tasks.ts';
import type { Sdk } from './sdk.ts';

/** The parsed query string. */
type Query = Readonly<Record<string, string | string[] | undefined>>;

/** A page of tasks in the format of the 0.3.0 REST surface. */
export interface RestPage {
  tasks: object[];
  nextPageToken: string;
  pageSize: number;
  totalSize: number;
}

/** Creates a router of the 0.3.0 REST surface for a handler. */
export type MakeRouter = (
  handler: A2ARequestHandler,
  contextOf: (headers: object) => ServerCallContext,
) => RequestHandler;

/**
 * Lists tasks over the 0.3.0 REST surface with the filters of 1.0 (docs/contract/a2a.md). The SDK has no such route and
 * does not export its serialiser for this JSON, so the tasks of a page are sent through a stream of its router.
 */
export class RestList {
  readonly #sdk: Sdk;
  readonly #core: CoreTasks;
  readonly #route: RequestHandler;
  readonly #pages = new WeakMap<object, readonly CoreTask[]>();

  constructor(sdk: Sdk, handler: A2ARequestHandler, answer: AnswerPlace, makeRouter: MakeRouter) {
    this.#sdk = sdk;
    this.#core = new CoreTasks(sdk, answer);
    const writer = {
      getAgentCard: () => handler.getAgentCard(),
      async *resubscribe(_: unknown, { state }: ServerCallContext) {
        for (const value of state.get('page') as CoreTask[]) {
          yield { payload: { $case: 'task', value } };
        }
      },
    };
    this.#route = makeRouter(writer as unknown as A2ARequestHandler, (headers) => {
      const state = new Map([['page', this.#pages.get(headers)]]);
      return new sdk.ServerCallContext({ requestedVersion: '0.3', state });
    });
  }

  /** Reads the page that a request asks for. Rejects with an SDK error for an invalid filter. */
  async page(tasks: CallerTasks, query: Query, request: IncomingMessage): Promise<RestPage> {
    const params = this.#paramsOf(query);
    const listed = await listedTasks(this.#sdk, tasks, this.#core, params);
    return { ...listed, tasks: await this.#written(listed.tasks, request) };
  }

  #paramsOf(query: Query): ListTasksRequest {
    const said = (name: string, other = name): string => String(query[name] ?? query[other] ?? '');
    const numberIn = (text: string): number | undefined => (text === '' ? undefined : Number(text));
    const historyLength = numberIn(said('historyLength', 'history_length'));
    if (historyLength !== undefined && !(Number.isInteger(historyLength) && historyLength >= 0)) {
      throw new this.#sdk.RequestMalformedError('historyLength must be a whole number');
    }
    // A2A 0.3 spells the state CANCELLED.
    const status = said('status').replace(/CANCELLED$/, 'CANCELED');
    return {
      tenant: '',
      contextId: said('contextId', 'context_id'),
      status: status === '' ? 0 : this.#sdk.taskStateFromJSON(status),
      pageSize: numberIn(said('pageSize', 'page_size')),
      pageToken: said('pageToken', 'page_token'),
      historyLength,
      statusTimestampAfter: said('statusTimestampAfter') || undefined,
      includeArtifacts: said('includeArtifacts', 'include_artifacts') === 'true',
    };
  }

  async #written(page: readonly CoreTask[], request: IncomingMessage): Promise<object[]> {
    request.headers['a2a-version'] = '0.3';
    Object.assign(request, { url: '/v1/tasks/page:subscribe', body: {}, _body: true });
    this.#pages.set(request.headers, page);
    const texts: string[] = [];
    const { promise: written, resolve, reject } = Promise.withResolvers<void>();
    const { response, answered } = capturedResponse(request, () => ({
      onWritten: (text) => texts.push(text),
      onEnded: resolve,
    }));
    this.#route(request as never, response as never, reject);
    const { kind } = await Promise.race([answered, written.then(() => ({ kind: 'stream' }))]);
    if (kind !== 'stream') throw new Error('the A2A SDK could not write the tasks of a page');
    await written;
    return texts.map((text) => (JSON.parse(text.slice('data: '.length)) as { task: object }).task);
  }
}
