import { expect } from 'vitest';
import { script } from './official-client.ts';

/** A time of the daemon. */
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** A message that has `pay` called, which waits, and says what came of it. */
export const paying = script({ tool: 'pay', args: { amount: 3 } }, { say: 'paid {result}' });

/** What `paying` says in the end. */
const paid = 'paid {"amount":3}';

/** A decision of a person. */
export const approval = { decision: 'approve', approver: 'Ann' };

/** What `metadata.deferral` shows while `pay` waits, the same in every version of the protocol. */
export const deferral = {
  id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  tool: 'pay',
  to: 'channel:console:desk',
  context: 'tool=pay args={"amount":3}',
  requested_at: time,
  expires_at: time,
  args_sha256: '3b528142eb7b337451002197db4159b79496dc159b6833054149ba96ef01437d',
  runs_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
};

/** A `paying` task in the JSON of 1.0, in its own conversation. */
export class PayingTask {
  readonly id: string;
  readonly contextId: string;

  constructor(id: string, contextId: string) {
    this.id = id;
    this.contextId = contextId;
  }

  /** The task as it is taken in. */
  get submitted() {
    return { ...this.#named, status: this.status('SUBMITTED', null), history: [this.asked] };
  }

  /** The task while it waits. */
  get waiting() {
    const status = this.#held;
    return { ...this.#named, status, history: [this.asked], metadata: { deferral } };
  }

  /** The task when it was approved and the tool runs. */
  get working() {
    return { ...this.#named, status: this.status('WORKING', null), history: [this.asked] };
  }

  /** The task when it was approved and has ended. */
  get completed() {
    return {
      ...this.#named,
      status: this.status('COMPLETED', null),
      artifacts: [this.artifact],
      history: [this.asked, this.#said(`${this.id}:answer:1`, paid)],
    };
  }

  /** The task when it ended otherwise. */
  ended(state: string, text: string) {
    return { ...this.#named, status: this.status(state, text), history: [this.asked] };
  }

  /** The events of a stream about the task before its approval. */
  get heldEvents() {
    const { id: taskId, contextId } = this;
    const metadata = { deferral };
    return [
      { statusUpdate: { taskId, contextId, status: this.status('WORKING', null) } },
      { statusUpdate: { taskId, contextId, status: this.#held, metadata } },
    ];
  }

  /** What became of it after it was approved, in the events of a stream. */
  get approvedEvents() {
    const { id: taskId, contextId, artifact } = this;
    return [
      { statusUpdate: { taskId, contextId, status: this.status('WORKING', null) } },
      { artifactUpdate: { taskId, contextId, artifact, lastChunk: true } },
      { statusUpdate: { taskId, contextId, status: this.status('COMPLETED', null) } },
    ];
  }

  /** A state with what it says. */
  status(state: string, text: string | null) {
    const message =
      text === null ? {} : { message: this.#said(expect.stringContaining(':status:'), text) };
    return { state: `TASK_STATE_${state}`, ...message, timestamp: time };
  }

  get artifact() {
    return { artifactId: `${this.id}:response`, name: 'response', parts: [{ text: paid }] };
  }

  get asked() {
    return { ...this.#message, messageId: expect.any(String), role: 'ROLE_USER', ...paying };
  }

  get #held() {
    return this.status('AUTH_REQUIRED', 'Waiting for approval of pay');
  }

  get #named() {
    return { id: this.id, contextId: this.contextId };
  }

  get #message() {
    return { contextId: this.contextId, taskId: this.id };
  }

  #said(messageId: string, text: string) {
    return { ...this.#message, messageId, role: 'ROLE_AGENT', parts: [{ text }] };
  }
}

/** Puts a task of `PayingTask` from the JSON of 1.0 into that of 0.3.0. */
export function inOlderWords(task: any): object {
  const part = (of: object) => ({ kind: Object.keys(of)[0], ...of });
  const message = (of: any) => ({
    ...of,
    kind: 'message',
    role: of.role.slice('ROLE_'.length).toLowerCase(),
    parts: of.parts.map(part),
  });
  const { state, ...status } = task.status;
  return {
    ...task,
    kind: 'task',
    status: {
      ...status,
      state: state.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-'),
      ...(status.message && { message: message(status.message) }),
    },
    history: task.history.map(message),
    ...(task.artifacts && {
      artifacts: task.artifacts.map((of: any) => ({ ...of, parts: of.parts.map(part) })),
    }),
  };
}
