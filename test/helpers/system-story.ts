import type { Tool, ToolRun } from '../../src/actors/ports/tool.ts';
import type { RecordedEvent } from '../../src/actors/records/log/audit.ts';
import type { TaskRequest, TaskSystem } from '../../src/actors/tasks/tasks.ts';
import { isFinal, type Task, type TaskState } from '../../src/machines/domain/task.ts';
import type { DecisionAttempt } from '../../src/machines/governance/approvers.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import type { TestSystem } from './test-system.ts';

/** A step of the scripted model. */
export type Step = { tool: string; args?: JsonObject } | { say: string };

/** What a caller sends so that the scripted model plays these steps. */
export function playing(steps: Step[], more: Partial<TaskRequest> = {}): TaskRequest {
  return {
    message: {
      role: 'user',
      parts: [{ kind: 'data', data: { script: steps as JsonObject[] } }],
      messageId: 'm-1',
    },
    requester: null,
    correlationId: 'c-1',
    ...more,
  };
}

/** The usual story: one payment, then an answer that holds its result. */
export const payment = playing([{ tool: 'pay', args: { amount: 5 } }, { say: 'done: {result}' }]);

/** A decision by Ann, at the time the test says. */
export function decision(
  verb: DecisionAttempt['verb'],
  at: number,
  more: Partial<DecisionAttempt> = {},
): DecisionAttempt {
  return {
    verb,
    approver: 'ann',
    email: null,
    note: '',
    caller: null,
    deferralId: null,
    argsSha256: null,
    at,
    ...more,
  };
}

/** A tool that remembers the runs it was asked for; `run` says what it does. */
export function toolCalled(
  name: string,
  run: (args: JsonObject, run: ToolRun) => Promise<string> = () => Promise.resolve(`${name} ok`),
  more: Partial<Tool> = {},
): Tool & { runs: (ToolRun & { args: JsonObject })[] } {
  const runs: (ToolRun & { args: JsonObject })[] = [];
  return {
    name,
    description: `Does ${name}.`,
    parameters: { type: 'object' },
    idempotent: false,
    ...more,
    runs,
    run(args, asked) {
      runs.push({ ...asked, args });
      return run(args, asked);
    },
  };
}

/** Resolves with a task as soon as it is on disk in a state. */
export function reaches(system: TaskSystem, id: string, state: TaskState): Promise<Task> {
  return new Promise((resolve, reject) => {
    const judge = (task: Task): boolean => {
      const isThere = task.state === state;
      if (isThere) resolve(task);
      else if (isFinal(task.state)) reject(new Error(`${id} ended ${task.state}: ${task.text}`));
      return isThere || isFinal(task.state);
    };
    const see = (task: Task | undefined): void => {
      if (task !== undefined && judge(task)) leave();
    };
    const lose = (error: Error): void => {
      leave();
      reject(error);
    };
    const leave = system.watchers.subscribe(id, { onTask: see, onLost: lose });
    // What changes while it is read is heard all the same.
    system.reads.find(id).then(see, lose);
  });
}

/** Resolves with a task once it has ended. */
export function ends(system: TaskSystem, id: string): Promise<Task> {
  return system.watchers.settled(id, new AbortController().signal);
}

/** Resolves with a task once it has ended, whose timers that are set too late for their time fire all the same. */
export async function endsInTime({ system, clock }: TestSystem, id: string): Promise<Task> {
  const ended = ends(system, id);
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  ended.then(end, end);
  while (!isOver) {
    clock.advance(0);
    await turn();
  }
  return ended;
}

/** Resolves as soon as something of a task waits for the next commit, and before that. */
export function saves({ store }: TestSystem): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const save = store.save.bind(store);
  store.save = (id, collect) => {
    store.save = save;
    resolve();
    return save(id, collect);
  };
  return promise;
}

/** Opens a task and resolves with it once it waits for a decision. */
export async function parks(system: TaskSystem, request: TaskRequest = payment): Promise<Task> {
  return reaches(system, await system.open(request), 'deferred');
}

/** Lets everything that is ready run: one turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Names events other than rulings in short: the name, with the phase of a tool or the state of an end. */
export function briefly(events: readonly RecordedEvent[]): string[] {
  const told = events.filter(({ event }) => event !== 'call_ruled');
  return told.map(({ event, ...rest }) => {
    const fields = rest['fields'] as JsonObject | undefined;
    const detail = fields?.['phase'] ?? fields?.['state'] ?? fields?.['decision'] ?? null;
    return typeof detail === 'string' ? `${event} ${detail}` : event;
  });
}

/** A door that something waits at until the test opens it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
