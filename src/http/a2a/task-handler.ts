import type {
  AgentCard,
  CancelTaskRequest,
  Task as CoreTask,
  DeleteTaskPushNotificationConfigRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import {
  type CardSource,
  type Ids,
  type PushTarget,
  PushTargetError,
  type PushTargets,
} from '../../actors/ports.ts';
import { SystemError, type TaskSystem } from '../../actors/system.ts';
import { isFinal, type Task } from '../../machines/task/task.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import { openFor } from '../open-task.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { challengeOf } from '../wire/challenge.ts';
import { Problem } from '../wire/problem.ts';
import { isTaskId } from '../wire/task-request.ts';
import { type CallRequest, requestOf } from './call-context.ts';
import { CoreTasks } from './core-task.ts';
import { followTask } from './follow-task.ts';
import { listedTasks } from './list-tasks.ts';
import { configOf, targetOf } from './push-configs.ts';
import { readMessage } from './read-message.ts';
import type { Sdk } from './sdk.ts';
import { taskUpdates } from './task-updates.ts';

/** What answering A2A 0.3.0 and 1.0 stands on. */
export interface TaskHandlerPorts {
  system: TaskSystem;
  ids: Ids;
  card: CardSource;
  /** Where push notifications are kept; `null` when the agent sends none. */
  push: PushTargets | null;
}

/**
 * The one implementation of the SDK's request handler, over the task system (5-a2a.md). Errors are the
 * SDK's own; a refusal that only we have words for is left in the call's request besides.
 */
export class TaskHandler implements A2ARequestHandler {
  readonly #sdk: Sdk;
  readonly #ports: TaskHandlerPorts;
  readonly #tasks: CoreTasks;
  #cardRead: { etag: string; card: AgentCard } | null = null;

  constructor(sdk: Sdk, ports: TaskHandlerPorts) {
    this.#sdk = sdk;
    this.#ports = ports;
    this.#tasks = new CoreTasks(sdk);
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#card();
  }

  /** Callers who have signed in see what everybody sees; nothing of an agent is for some of them alone. */
  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return this.#card();
  }

  /** Holds until the task is final, unless the caller asks not to wait. */
  async sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<CoreTask> {
    const { system } = this.#ports;
    const { gone } = requestOf(context);
    const { returnImmediately = false, historyLength } = params.configuration ?? {};
    const id = await this.#open(params, context);
    requestOf(context).taskId = id;
    const task = await this.#refusing(context, () =>
      returnImmediately ? saved(system, id, gone) : system.settled(id, gone),
    );
    const challenge = challengeOf(task);
    if (challenge !== null) throw this.#refused(context, challenge.rest, challenge);
    return this.#tasks.task(task, historyLength);
  }

  /** Stays open through every pause and ends with the task. */
  async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const id = await this.#open(params, context);
    yield* this.#follow(id, context, true);
  }

  async getTask(
    { id, historyLength }: GetTaskRequest,
    _context: ServerCallContext,
  ): Promise<CoreTask> {
    return this.#tasks.task(this.#find(id), this.#checkedLength(historyLength));
  }

  async listTasks(params: ListTasksRequest): Promise<ListTasksResponse> {
    return listedTasks(this.#sdk, this.#ports.system, this.#tasks, params);
  }

  async cancelTask(
    { id, metadata }: CancelTaskRequest,
    context: ServerCallContext,
  ): Promise<CoreTask> {
    const { TaskNotCancelableError } = this.#sdk;
    const before = this.#find(id);
    if (isFinal(before.state)) {
      throw new TaskNotCancelableError(`task ${id} is ${before.state} and cannot be canceled`);
    }
    const task = await this.#refusing(context, () =>
      this.#ports.system.cancel(id, readCancelReason(metadata)),
    );
    if (task?.state !== 'canceled') {
      throw new TaskNotCancelableError(`task ${id} ended before it could be canceled`);
    }
    return this.#tasks.task(task);
  }

  /** Joins a task that goes on: the task as it stands first, then what becomes of it. */
  async *resubscribe(
    { id }: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { state } = this.#find(id);
    if (isFinal(state)) {
      const { UnsupportedOperationError } = this.#sdk;
      throw new UnsupportedOperationError(`task ${id} is ${state}; get it instead of following it`);
    }
    yield* this.#follow(id, context, false);
  }

  async createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    const push = this.#push();
    this.#find(params.taskId);
    return this.#refusing(context, async () => {
      const kept = await this.#tell(push, params, context);
      // The answer alone shows the token, to who has just said it.
      return { ...configOf(kept), token: kept.token };
    });
  }

  async getTaskPushNotificationConfig({
    taskId,
    id,
  }: GetTaskPushNotificationConfigRequest): Promise<TaskPushNotificationConfig> {
    const push = this.#push();
    this.#find(taskId);
    // Version 0.3.0 may leave the id out and then means the first.
    const found = id === '' ? push.list(taskId).at(0) : push.find(taskId, id);
    if (found === undefined) throw this.#noConfig(taskId, id);
    return configOf(found);
  }

  async listTaskPushNotificationConfigs({
    taskId,
  }: ListTaskPushNotificationConfigsRequest): Promise<ListTaskPushNotificationConfigsResponse> {
    const push = this.#push();
    this.#find(taskId);
    return { configs: push.list(taskId).map(configOf), nextPageToken: '' };
  }

  async deleteTaskPushNotificationConfig({
    taskId,
    id,
  }: DeleteTaskPushNotificationConfigRequest): Promise<void> {
    const push = this.#push();
    this.#find(taskId);
    if (!push.delete(taskId, id)) throw this.#noConfig(taskId, id);
  }

  #card(): AgentCard {
    const published = this.#ports.card.current('1.0');
    if (published === null) throw new SystemError('starting', 'service is starting; try again');
    if (this.#cardRead?.etag !== published.etag) {
      const card = this.#sdk.AgentCard.fromJSON(JSON.parse(published.body.toString()));
      this.#cardRead = { etag: published.etag, card };
    }
    return this.#cardRead.card;
  }

  async #open(params: SendMessageRequest, context: ServerCallContext): Promise<string> {
    const { system, ids } = this.#ports;
    const { taskId = '' } = params.message ?? {};
    if (taskId !== '') throw this.#takesNoMessage(this.#find(taskId));
    return this.#refusing(context, async () => {
      const submission = readMessage(params, () => ids.next());
      const id = ids.next();
      const config = params.configuration?.taskPushNotificationConfig;
      const open = () =>
        openFor(system, requestOf(context).state, { ...submission, id, surface: 'a2a' });
      if (config === undefined) return open();
      const push = this.#push();
      const kept = await this.#tell(push, { ...config, taskId: id }, context);
      try {
        return open();
      } catch (error) {
        push.delete(id, kept.id);
        throw error;
      }
    });
  }

  async *#follow(
    id: string,
    context: ServerCallContext,
    isNewRun: boolean,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { gone } = requestOf(context);
    try {
      yield* taskUpdates(this.#tasks, followTask(this.#ports.system, id, gone), isNewRun);
    } catch (error) {
      throw this.#told(context, error);
    }
  }

  #find(id: string): Task {
    const { RequestMalformedError, TaskNotFoundError } = this.#sdk;
    if (typeof id !== 'string' || id.trim() === '') {
      throw new RequestMalformedError('the id of a task is missing');
    }
    const task = isTaskId(id) ? this.#ports.system.find(id) : undefined;
    if (task === undefined) throw new TaskNotFoundError('task not found');
    return task;
  }

  #takesNoMessage({ id, state }: Task): Error {
    const { UnsupportedOperationError } = this.#sdk;
    const why = isFinal(state) ? `is ${state}` : 'is still running';
    return new UnsupportedOperationError(
      `task ${id} ${why} and takes no message; leave taskId out and keep contextId to go on with the conversation`,
    );
  }

  #tell(
    push: PushTargets,
    config: TaskPushNotificationConfig,
    { requestedVersion }: ServerCallContext,
  ): Promise<PushTarget> {
    return push.set(targetOf(config, requestedVersion, () => this.#ports.ids.next()));
  }

  #push(): PushTargets {
    const { PushNotificationNotSupportedError } = this.#sdk;
    if (this.#ports.push === null) throw new PushNotificationNotSupportedError();
    return this.#ports.push;
  }

  #noConfig(taskId: string, id: string): Error {
    const { TaskNotFoundError } = this.#sdk;
    return new TaskNotFoundError(`task ${taskId} has no push notification config ${id}`);
  }

  #checkedLength(historyLength: number | undefined): number | undefined {
    const { RequestMalformedError } = this.#sdk;
    const isFine =
      historyLength === undefined || (Number.isInteger(historyLength) && historyLength >= 0);
    if (isFine) return historyLength;
    throw new RequestMalformedError('historyLength must be a whole number');
  }

  async #refusing<Result>(
    context: ServerCallContext,
    run: () => Result | Promise<Result>,
  ): Promise<Result> {
    try {
      return await run();
    } catch (error) {
      throw this.#told(context, error);
    }
  }

  /** Leaves word of a refusal of ours, and returns what comes nearest to it among the SDK's errors. */
  #refused(
    context: ServerCallContext,
    { status: statusCode, message, body }: Problem,
    refusal: NonNullable<CallRequest['refusal']>,
  ): Error {
    requestOf(context).refusal = refusal;
    const { RestUnsupportedOperationError } = this.#sdk;
    const metadata = Object.fromEntries(
      Object.entries(body).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
    return new RestUnsupportedOperationError({ message, statusCode, metadata });
  }

  #told(context: ServerCallContext, error: unknown): Error {
    const { RequestMalformedError } = this.#sdk;
    if (error instanceof PushTargetError) return new RequestMalformedError(error.message);
    if (error instanceof Problem && error.status === 400) {
      return new RequestMalformedError(error.message);
    }
    if (error instanceof Problem || error instanceof SystemError) {
      return this.#refused(context, problemOf(error), error);
    }
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Waits until a task is on disk and returns it as it stands there. */
async function saved(system: TaskSystem, id: string, gone: AbortSignal): Promise<Task> {
  for await (const task of followTask(system, id, gone)) return system.find(id) ?? task;
  throw new Error('the caller left');
}
