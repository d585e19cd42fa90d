import { describe, expectTypeOf, it } from 'vitest';
import type { EventFrom, InputFrom, SnapshotFrom } from 'xstate';
import type { DeferralStage, TaskState } from '../../../src/machines/domain/task.ts';
import type { TaskEvent } from '../../../src/machines/task/task-events.ts';
import type { TaskContext, TaskInput } from '../../../src/machines/task/task-input.ts';
import type { taskMachine } from '../../../src/machines/task/task-machine.ts';

type TaskSnapshot = SnapshotFrom<typeof taskMachine>;
type TopState<Value> = Value extends string ? Value : keyof Value;

describe('the types of the task chart', () => {
  it('have only the public states at the top level', () => {
    expectTypeOf<TaskState>().toEqualTypeOf<
      'submitted' | 'working' | 'deferred' | 'completed' | 'failed' | 'canceled'
    >();
    expectTypeOf<TopState<TaskSnapshot['value']>>().toEqualTypeOf<TaskState>();
  });

  it('contain the states within working', () => {
    expectTypeOf<Extract<TaskSnapshot['value'], { working: unknown }>>().toEqualTypeOf<{
      working:
        | 'accepting'
        | 'thinking'
        | 'governing'
        | { executing: 'minting' | 'recording' | { calling: 'starting' | 'running' } };
    }>();
  });

  it('contain the escalation stages of a wait', () => {
    expectTypeOf<Extract<TaskSnapshot['value'], { deferred: unknown }>>().toEqualTypeOf<{
      deferred: DeferralStage;
    }>();
  });

  it('allow reading by tags', () => {
    expectTypeOf<Parameters<TaskSnapshot['hasTag']>[0]>().toEqualTypeOf<
      TaskState | DeferralStage | 'saving' | 'final'
    >();
  });

  it('accept the public events and a plain context', () => {
    expectTypeOf<EventFrom<typeof taskMachine>>().toEqualTypeOf<TaskEvent>();
    expectTypeOf<InputFrom<typeof taskMachine>>().toEqualTypeOf<TaskInput>();
    expectTypeOf<TaskSnapshot['context']>().toEqualTypeOf<TaskContext>();
  });
});
