import type { SendMessageRequest, TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Subscriber } from '../../actors/tasks/tasks.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { followUpBound } from '../../machines/task/follow-up.ts';
import type { MessageAnswer } from '../../machines/task/task-events.ts';
import { openTaskFor } from '../open-task.ts';
import { requestOf } from './call-context.ts';
import { readMessage, type SentSubmission } from './read-message.ts';
import type { Sdk } from './sdk.ts';

export interface IntakePorts {
  sdk: Sdk;
  ids: Ids;
  /** Returns a task that the caller may see. Throws an SDK error. */
  find: (id: string, context: ServerCallContext) => Promise<Task>;
  /** Registers the push receiver of a message, if any. Resolves with a function that removes it. */
  tell: (
    taskId: string,
    config: TaskPushNotificationConfig | undefined,
    context: ServerCallContext,
  ) => Promise<() => Promise<void>>;
}

/** The task that a message started or answered. */
export interface TakenMessage {
  id: string;
  /** False for a task that already existed. */
  isNewRun: boolean;
}

/**
 * Accepts messages. Each message starts a task, continues a waiting task, or repeats an earlier message
 * (docs/contract/a2a.md).
 */
export class Intake {
  readonly #ports: IntakePorts;

  constructor(ports: IntakePorts) {
    this.#ports = ports;
  }

  /**
   * Accepts a message. `subscriber` subscribes to a new task before it starts. Rejects with a Problem, a SystemError or
   * an SDK error.
   */
  async take(
    params: SendMessageRequest,
    context: ServerCallContext,
    subscriber?: Subscriber,
  ): Promise<TakenMessage> {
    const submission = readMessage(this.#ports.sdk, params, () => this.#ports.ids.next());
    const { find } = this.#ports;
    const { taskId = '' } = params.message ?? {};
    const config = params.configuration?.taskPushNotificationConfig;
    if (submission.isKnownById && (taskId !== '' || config !== undefined)) {
      const earlier = await requestOf(context).state.tasks.findBySent(submission);
      if (earlier !== undefined) return { id: earlier, isNewRun: false };
    }
    return taskId === ''
      ? this.#open(submission, config, context, subscriber)
      : this.#say(await find(taskId, context), submission, config, context);
  }

  async #open(
    submission: SentSubmission,
    config: TaskPushNotificationConfig | undefined,
    context: ServerCallContext,
    subscriber: Subscriber | undefined,
  ): Promise<TakenMessage> {
    const id = this.#ports.ids.next();
    const forget = await this.#ports.tell(id, config, context);
    try {
      const { state } = requestOf(context);
      const asked = { ...submission, id, surface: 'a2a' } as const;
      const taken = await openTaskFor(state, asked, subscriber);
      // The original message has its own receiver.
      if (taken !== id) await forget();
      return { id: taken, isNewRun: taken === id };
    } catch (error) {
      await forget();
      throw error;
    }
  }

  async #say(
    task: Task,
    { contextId, ...said }: SentSubmission,
    config: TaskPushNotificationConfig | undefined,
    context: ServerCallContext,
  ): Promise<TakenMessage> {
    const { sdk, tell } = this.#ports;
    const { id } = task;
    if (task.state !== 'deferred') throw takesNoMessage(sdk, task);
    if (contextId !== undefined && contextId !== task.contextId) {
      throw new sdk.RequestMalformedError(
        `task ${id} is part of another context; name its own, or leave contextId out`,
      );
    }
    const { tasks } = requestOf(context).state;
    const forget = await tell(id, config, context);
    try {
      const { taskId, answer } = await tasks.say(id, said);
      if (answer.kind !== 'kept') throw refusalOf(sdk, answer, (await tasks.find(id)) ?? task);
      return { id: taskId, isNewRun: false };
    } catch (error) {
      await forget();
      throw error;
    }
  }
}

function refusalOf(sdk: Sdk, answer: Exclude<MessageAnswer, { kind: 'kept' }>, task: Task): Error {
  switch (answer.kind) {
    case 'refused':
      return new sdk.RequestMalformedError(answer.text);
    case 'notWaiting':
      return takesNoMessage(sdk, task);
    case 'full': {
      const { messages, bytes } = followUpBound;
      return new sdk.UnsupportedOperationError(
        `task ${task.id} holds at most ${messages} messages and ${bytes / 1024} KiB for the model; wait for the decision`,
      );
    }
  }
}

function takesNoMessage({ UnsupportedOperationError }: Sdk, { id, state, waits }: Task): Error {
  const standing = waits === undefined ? 'is still running' : `waits at ${waits.at}`;
  const why = isFinal(state) ? `is ${state}` : standing;
  return new UnsupportedOperationError(
    `task ${id} ${why} and accepts no message; omit taskId and keep contextId to continue the conversation`,
  );
}
