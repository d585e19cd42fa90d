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
import type { CardSource } from '../../actors/ports/card-source.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import { type PushTarget, PushTargetError, type PushTargets } from '../../actors/ports/push.ts';
import { SystemError } from '../../actors/system-error.ts';
import type { Subscriber } from '../../actors/tasks/tasks.ts';
import { type AnswerPlace, isFinal, type Task } from '../../machines/domain/task.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { challengeOf } from '../wire/challenge.ts';
import { Problem, textsOf, uncoded } from '../wire/problem.ts';
import { type CallRequest, requestOf } from './call-context.ts';
import { CoreTasks } from './core-task.ts';
import { Intake, type TakenMessage } from './intake.ts';
import { listedTasks } from './list-tasks.ts';
import { configOf, targetOf } from './push-configs.ts';
import type { Sdk } from './sdk.ts';
import { TaskFollower } from './task-follower.ts';
import { type StreamOptions, taskUpdates } from './task-updates.ts';

export interface TaskHandlerPorts {
  ids: Ids;
  card: CardSource;
  /** True if a send waits for the end of its task, even while a decision is pending. */
  a2aHold: boolean;
  a2aAnswer: AnswerPlace;
}

/**
 * The single implementation of the SDK's request handler, on top of the task system (docs/contract/a2a.md). Throws SDK
 * errors. A refusal without a matching SDK error is also stored on the call's request.
 */
export class TaskHandler implements A2ARequestHandler {
  readonly #sdk: Sdk;
  readonly #ports: TaskHandlerPorts;
  readonly #tasks: CoreTasks;
  readonly #intake: Intake;
  #cardRead: { etag: string; card: AgentCard } | null = null;

  constructor(sdk: Sdk, ports: TaskHandlerPorts) {
    this.#sdk = sdk;
    this.#ports = ports;
    this.#tasks = new CoreTasks(sdk, ports.a2aAnswer);
    this.#intake = new Intake({
      sdk,
      ids: ports.ids,
      find: (id, context) => this.#find(id, context),
      tell: (taskId, config, context) => this.#tellOf(taskId, config, context),
    });
  }

  async getAgentCard(): Promise<AgentCard> {
    return this.#card();
  }

  /** Authenticated callers see the same card. Without authentication, the agent declares no extended card. */
  async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    const { UnsupportedOperationError } = this.#sdk;
    const card = this.#card();
    if (card.capabilities?.extendedAgentCard === true) return card;
    throw new UnsupportedOperationError('the agent has no extended card; its card is public');
  }

  /** Answers when the task is final or waits for a person, unless the caller asked not to wait. */
  async sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<CoreTask> {
    const { gone, state } = requestOf(context);
    const { returnImmediately = false, historyLength } = params.configuration ?? {};
    const { id } = await this.#take(params, context);
    requestOf(context).taskId = id;
    const task = await this.#refusing(context, () => {
      if (returnImmediately) return saved(state.tasks, id, gone);
      return this.#ports.a2aHold ? held(requestOf(context), id) : state.tasks.standing(id, gone);
    });
    if (!returnImmediately) requestOf(context).tellUsage(task);
    const challenge = challengeOf(task);
    if (challenge !== null && requestOf(context).canChallenge())
      throw this.#refused(context, challenge.rest, challenge);
    return this.#tasks.task(task, historyLength);
  }

  /** Streams a task through every pause until its end. For a repeated message, joins the existing task. */
  async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const follower = new TaskFollower(tasksOf(context));
    const { id, isNewRun } = await this.#take(params, context, follower);
    const { historyLength } = params.configuration ?? {};
    yield* this.#follow(id, follower, context, { isNewRun, historyLength });
  }

  async getTask(
    { id, historyLength }: GetTaskRequest,
    context: ServerCallContext,
  ): Promise<CoreTask> {
    return this.#tasks.task(await this.#find(id, context), this.#checkedLength(historyLength));
  }

  async listTasks(
    params: ListTasksRequest,
    context: ServerCallContext,
  ): Promise<ListTasksResponse> {
    return listedTasks(this.#sdk, tasksOf(context), this.#tasks, params);
  }

  async cancelTask(
    { id, metadata }: CancelTaskRequest,
    context: ServerCallContext,
  ): Promise<CoreTask> {
    const { TaskNotCancelableError } = this.#sdk;
    const before = await this.#find(id, context);
    if (isFinal(before.state)) {
      throw new TaskNotCancelableError(`task ${id} is ${before.state} and cannot be canceled`);
    }
    const task = await this.#refusing(context, () =>
      tasksOf(context).cancel(id, readCancelReason(metadata)),
    );
    if (task?.state !== 'canceled') {
      throw new TaskNotCancelableError(`task ${id} ended before it could be canceled`);
    }
    return this.#tasks.task(task);
  }

  /** Joins a running task: sends its current state, then each change. */
  async *resubscribe(
    { id }: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { state } = await this.#find(id, context);
    if (isFinal(state)) {
      const { UnsupportedOperationError } = this.#sdk;
      throw new UnsupportedOperationError(`task ${id} is ${state}; get it instead of following it`);
    }
    const follower = new TaskFollower(tasksOf(context));
    yield* this.#follow(id, follower, context, { isNewRun: false });
  }

  async createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    const push = this.#push(context);
    await this.#find(params.taskId, context);
    return this.#refusing(context, async () => {
      const kept = await this.#tell(push, params, context);
      // Only this response contains the token, for the client that just sent it.
      return { ...configOf(kept), token: kept.token };
    });
  }

  async getTaskPushNotificationConfig(
    { taskId, id }: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    const push = this.#push(context);
    await this.#find(taskId, context);
    // Version 0.3.0 may omit the ID and then means the first config.
    const found = id === '' ? (await push.list(taskId)).at(0) : await push.find(taskId, id);
    if (found === undefined) throw this.#noConfig(taskId, id);
    return configOf(found);
  }

  async listTaskPushNotificationConfigs(
    { taskId }: ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    const push = this.#push(context);
    await this.#find(taskId, context);
    return { configs: (await push.list(taskId)).map(configOf), nextPageToken: '' };
  }

  async deleteTaskPushNotificationConfig(
    { taskId, id }: DeleteTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<void> {
    const push = this.#push(context);
    await this.#find(taskId, context);
    // Deleting a config that no longer exists succeeds too (A2A 1.0 section 3.1.10).
    await push.delete(taskId, id);
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

  #take(
    params: SendMessageRequest,
    context: ServerCallContext,
    subscriber?: Subscriber,
  ): Promise<TakenMessage> {
    return this.#refusing(context, () => this.#intake.take(params, context, subscriber));
  }

  /** Registers the push receiver of a message. Resolves with a function that removes the receiver if it is new. */
  async #tellOf(
    taskId: string,
    config: TaskPushNotificationConfig | undefined,
    context: ServerCallContext,
  ): Promise<() => Promise<void>> {
    if (config === undefined) return async () => undefined;
    const push = this.#push(context);
    const before = await push.find(taskId, config.id);
    const kept = await this.#tell(push, { ...config, taskId }, context);
    return async () => {
      if (before === undefined) await push.delete(taskId, kept.id);
    };
  }

  async *#follow(
    id: string,
    follower: TaskFollower,
    context: ServerCallContext,
    beginning: Omit<StreamOptions, 'losesAppend'>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { gone, losesAppend = false } = requestOf(context);
    const followed = follower.follow(id, gone);
    try {
      yield* taskUpdates(this.#tasks, followed, { ...beginning, losesAppend });
    } catch (error) {
      throw this.#shown(context, error);
    }
  }

  async #find(id: string, context: ServerCallContext): Promise<Task> {
    const { TaskNotFoundError } = this.#sdk;
    const task = isTaskId(id) ? await tasksOf(context).find(id) : undefined;
    if (task === undefined) throw new TaskNotFoundError('task not found');
    return task;
  }

  #tell(
    push: PushTargets,
    config: TaskPushNotificationConfig,
    { requestedVersion }: ServerCallContext,
  ): Promise<PushTarget> {
    return push.set(targetOf(config, requestedVersion, () => this.#ports.ids.next()));
  }

  #push(context: ServerCallContext): PushTargets {
    const { PushNotificationNotSupportedError } = this.#sdk;
    const { push } = tasksOf(context);
    if (push === null) throw new PushNotificationNotSupportedError();
    return push;
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
      throw this.#shown(context, error);
    }
  }

  /** Stores a refusal on the call's request and returns the closest SDK error. */
  #refused(
    context: ServerCallContext,
    { status: statusCode, message, body }: Problem,
    refusal: NonNullable<CallRequest['refusal']>,
  ): Error {
    requestOf(context).refusal = refusal;
    const { RestUnsupportedOperationError } = this.#sdk;
    return new RestUnsupportedOperationError({
      message,
      statusCode,
      metadata: textsOf(uncoded(body)),
    });
  }

  #shown(context: ServerCallContext, error: unknown): Error {
    const { RequestMalformedError, TaskNotFoundError } = this.#sdk;
    if (error instanceof SystemError && error.code === 'unknown_task') {
      return new TaskNotFoundError(error.message);
    }
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

/** Returns the tasks that the caller of a request may see. */
function tasksOf(context: ServerCallContext): CallerTasks {
  return requestOf(context).state.tasks;
}

/** Waits until a call's task is final. */
async function held({ state, gone, holdOpen }: CallRequest, id: string): Promise<Task> {
  const hold = holdOpen();
  try {
    return await state.tasks.settled(id, gone, hold.follow);
  } finally {
    hold.release();
  }
}

/** Waits until a task is committed, and returns the task. */
async function saved(tasks: CallerTasks, id: string, gone: AbortSignal): Promise<Task> {
  for await (const { task } of new TaskFollower(tasks).follow(id, gone)) {
    if (task !== undefined) return (await tasks.find(id)) ?? task;
  }
  throw new Error('the caller left');
}
