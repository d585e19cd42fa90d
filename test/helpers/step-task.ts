import { type EventFrom, initialTransition, raise, type SnapshotFrom, transition } from 'xstate';
import type { TaskFact } from '../../src/machines/domain/facts.ts';
import type { Deferral, TaskState } from '../../src/machines/domain/task.ts';
import type { DecisionAttempt } from '../../src/machines/governance/approvers.ts';
import type { Ruling } from '../../src/machines/governance/ruling.ts';
import type { TaskEmitted, TaskEvent } from '../../src/machines/task/task-events.ts';
import type { TaskInput } from '../../src/machines/task/task-input.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import {
  aCall,
  aDeferral,
  allowed,
  anAttempt,
  aTaskInput,
  deferred,
  minted,
  modelFailed,
  returned,
  said,
  saved,
  times,
} from './task-fixtures.ts';

export type TaskSnapshot = SnapshotFrom<typeof taskMachine>;

/** The ports that the task chart invokes. */
export type TaskPort = 'accept' | 'think' | 'govern' | 'mint' | 'runTool';

/** One thing that a transition asks of the outside, in the order asked. */
export type Effect =
  | ['note', TaskFact]
  | ['dropCredential', string]
  | ['emit', TaskEmitted]
  | ['start', TaskPort, unknown]
  | ['stop', TaskPort];

/** Where a transition led and what it asked of the outside. */
export interface Step {
  snapshot: TaskSnapshot;
  effects: Effect[];
}

type Executable = ReturnType<typeof transition<typeof taskMachine>>[1][number];
type MachineEvent = EventFrom<typeof taskMachine>;

type Screened = Omit<Extract<TaskEvent, { type: 'prompt.screened' }>, 'type'>;

/** Accepts a task whose message is screened so, without running anything. */
export function begin(
  input: Partial<TaskInput> = {},
  screened: Screened = { refusal: null, took: 0 },
): Step {
  const logic = taskMachine.provide({
    actions: { screenPrompt: raise({ type: 'prompt.screened', ...screened }) },
  });
  const [snapshot, actions] = initialTransition(logic, aTaskInput(input));
  return { snapshot, effects: actions.flatMap(effectsOf) };
}

/** Takes a public event. */
export function step(from: Step, event: TaskEvent): Step {
  return take(from, event);
}

/** Lets an invoked port end with an output. */
export function finish(from: Step, port: TaskPort, output: unknown): Step {
  const id = childOf(from.snapshot, port);
  const done = { type: `xstate.done.actor.${id}`, actorId: id, output };
  return take(from, done as unknown as MachineEvent);
}

/** Takes a decision that releases the call, and lets governance rule so on the call again. */
export function released(
  from: Step,
  attempt: DecisionAttempt = anAttempt(),
  ruling: Ruling = allowed(),
): Step {
  return finish(step(from, { type: 'deferral.decide', attempt }), 'govern', ruling);
}

/** The state value, the public tags and the effects of a step: what a row of a table asserts. */
export function seen({ snapshot, effects }: Step): {
  value: unknown;
  tags: string[];
  effects: Effect[];
} {
  return { value: snapshot.value, tags: [...snapshot.tags], effects };
}

/** Every state in which a task can rest between two events, each reached by the shortest way. */
export const restingStates = {
  accepting: (input: Partial<TaskInput> = {}): Step =>
    begin({ calls: [{ tool: 'issue_refund', args: { order: 7 } }], hasModel: false, ...input }),
  thinking: (): Step => begin(),
  governing: (calls = [aCall()], input: Partial<TaskInput> = {}): Step =>
    finish(begin(input), 'think', said('', calls)),
  asked: (deferral = aDeferral(), input: Partial<TaskInput> = {}): Step =>
    finish(finish(begin(input), 'think', said('', [aCall()])), 'govern', deferred(deferral)),
  reminded: (deferral = nudged()): Step =>
    step(restingStates.asked(deferral), { type: 'deadline.reached', at: times.reminded }),
  escalated: (deferral = nudged()): Step =>
    step(restingStates.asked(deferral), { type: 'deadline.reached', at: times.escalated }),
  minting: (): Step =>
    finish(restingStates.governing(), 'govern', { ...allowed(), credential: 'static' }),
  starting: (): Step => finish(restingStates.governing(), 'govern', allowed()),
  mintingAgain: (): Step =>
    step(finish(restingStates.minting(), 'mint', minted()), saved('repeatable')),
  running: (): Step => step(restingStates.starting(), saved()),
  recording: (): Step => finish(restingStates.running(), 'runTool', returned('done')),
  completed: (): Step => finish(begin(), 'think', said('hello')),
  failed: (): Step => finish(begin(), 'think', modelFailed('no quota')),
  canceled: (): Step =>
    step(begin(), { type: 'task.cancel', reason: 'external_signal', at: times.decided }),
};

/** A deferral whose approvers are reminded and passed over. */
export function nudged(): Deferral {
  return aDeferral({
    remindAt: times.reminded,
    escalateAt: times.escalated,
    escalateTo: 'channel:console:managers',
  });
}

/** The public tag a state carries. */
export function publicState({ snapshot }: Step): TaskState {
  const tags = ['submitted', 'working', 'deferred', 'completed', 'failed', 'canceled'] as const;
  return tags.find((tag) => snapshot.hasTag(tag))!;
}

function take({ snapshot }: Step, event: MachineEvent): Step {
  const [next, actions] = transition(taskMachine, snapshot, event);
  return { snapshot: next, effects: actions.flatMap(effectsOf) };
}

function childOf(snapshot: TaskSnapshot, port: TaskPort): string {
  const children: Record<string, { src: unknown } | undefined> = snapshot.children;
  const found = Object.entries(children).find(([, child]) => child?.src === port);
  if (found === undefined) throw new Error(`${port} is not invoked`);
  return found[0];
}

function effectsOf({ type: named, params }: Executable): Effect[] {
  const type: string = named;
  const given = params as never;
  if (type === 'note') {
    const facts: TaskFact | TaskFact[] = given;
    return [facts].flat().map((fact) => ['note', fact]);
  }
  // An event that the chart raises for itself calls no port.
  if (type === 'xstate.raise') return [];
  if (type === 'xstate.emit') return [['emit', (given as { event: TaskEmitted }).event]];
  if (type === 'xstate.stopChild') return [['stop', (given as { src: TaskPort }).src]];
  if (type === 'xstate.spawnChild') {
    const { src, input } = given as { src: TaskPort; input: unknown };
    return [['start', src, input]];
  }
  return [[type, given] as never];
}
