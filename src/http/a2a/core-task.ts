import type { Artifact, Part as CorePart, Task as CoreTask, TaskStatus } from '@a2a-js/sdk';
import type { z } from 'zod';
import {
  type AnswerPlace,
  type Part,
  shownState,
  type Task,
  type TaskState,
} from '../../machines/domain/task.ts';
import type { message } from '../wire/message.ts';
import { presentTask } from '../wire/task.ts';
import type { CoreMessage, Sdk } from './sdk.ts';

/** Confirms a message that was sent to a waiting task. */
const writtenText =
  'Your message is shown to the approvers and given to the model after the decision; cancel the task to call it off.';

/** Converts tasks to SDK objects, which the SDK serialises for A2A 0.3.0 and 1.0. */
export class CoreTasks {
  readonly #sdk: Sdk;
  readonly #states: Record<TaskState, TaskStatus['state']>;

  /** False if answers are sent only in the status. */
  readonly hasArtifacts: boolean;
  readonly #hasStatus: boolean;

  constructor(sdk: Sdk, answer: AnswerPlace) {
    this.hasArtifacts = answer !== 'status';
    this.#hasStatus = answer !== 'artifact';
    const { TaskState: state } = sdk;
    this.#sdk = sdk;
    this.#states = {
      submitted: state.TASK_STATE_SUBMITTED,
      working: state.TASK_STATE_WORKING,
      // The only interrupted state of the protocol that does not end a stream (docs/contract/a2a.md).
      deferred: state.TASK_STATE_AUTH_REQUIRED,
      completed: state.TASK_STATE_COMPLETED,
      failed: state.TASK_STATE_FAILED,
      canceled: state.TASK_STATE_CANCELED,
    };
  }

  /** Returns the task with its last `historyLength` messages; all messages if undefined. */
  task(task: Task, historyLength?: number): CoreTask {
    const { id, contextId } = task;
    const { status, history = [], metadata } = presentTask(task, { historyLength });
    const { message, timestamp } = status;
    const parts = this.#partsOf(task);
    return {
      id,
      contextId,
      status: {
        state: this.#states[shownState(task)],
        message:
          message === undefined || parts === null
            ? undefined
            : this.#message(task, { ...message, parts }),
        timestamp,
      },
      artifacts: task.answer === null || !this.hasArtifacts ? [] : [this.artifact(task)],
      history: history.map((one) => this.#message(task, one)),
      metadata,
    };
  }

  /** Returns the answer of a completed task. */
  artifact({ id, answer }: Pick<Task, 'id' | 'answer'>): Artifact {
    return {
      artifactId: `${id}:response`,
      name: 'response',
      description: '',
      parts: (answer ?? []).map(corePart),
      metadata: undefined,
      extensions: [],
    };
  }

  /** Maps a protocol state to a task state; `undefined` for a state that tasks never have. */
  stateOf(state: TaskStatus['state']): TaskState | undefined {
    return (Object.keys(this.#states) as TaskState[]).find((name) => this.#states[name] === state);
  }

  /** Returns the parts of the status: a wait as text, and the answer as configured. */
  #partsOf({ state, text, deferral, answer }: Task): Part[] | null {
    if (state === 'completed') return this.#hasStatus ? answer : null;
    if (text === null) return null;
    if (state !== 'deferred' || deferral === null) return [{ kind: 'text', text }];
    const wait = `Waiting for approval of ${deferral.tool}`;
    const said = deferral.messages === undefined ? wait : `${wait}. ${writtenText}`;
    return [{ kind: 'text', text: said }];
  }

  /** The message is in the form of the legacy surface. */
  #message(
    { id, contextId }: Task,
    { role, parts, messageId, metadata }: z.input<typeof message>,
  ): CoreMessage {
    const { ROLE_USER, ROLE_AGENT } = this.#sdk.Role;
    return {
      messageId,
      contextId,
      taskId: id,
      role: role === 'user' ? ROLE_USER : ROLE_AGENT,
      parts: parts.map(corePart),
      metadata,
      extensions: [],
      referenceTaskIds: [],
    };
  }
}

function corePart(part: Part): CorePart {
  const { metadata } = part;
  const bare = { metadata, filename: '', mediaType: '' };
  if (part.kind === 'text') return { ...bare, content: { $case: 'text', value: part.text } };
  if (part.kind === 'data') return { ...bare, content: { $case: 'data', value: part.data } };
  const { name = '', mimeType = '', uri, bytes = '' } = part.file;
  return {
    metadata,
    filename: name,
    mediaType: mimeType,
    content:
      uri === undefined
        ? { $case: 'raw', value: Buffer.from(bytes, 'base64') }
        : { $case: 'url', value: uri },
  };
}
