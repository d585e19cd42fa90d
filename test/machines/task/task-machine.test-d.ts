import { describe, expectTypeOf, it } from 'vitest';
import type { EventFrom, InputFrom, SnapshotFrom } from 'xstate';
import type { DeferralStage, TaskState } from '../../../src/machines/domain/task.ts';
import type { TaskEvent } from '../../../src/machines/task/task-events.ts';
import type { TaskContext, TaskInput } from '../../../src/machines/task/task-input.ts';
import type { taskMachine } from '../../../src/machines/task/task-machine.ts';

type TaskSnapshot = SnapshotFrom<typeof taskMachine>;
type TopState<Value> = Value extends string ? Value : keyof Value;

describe('the types of the task chart', () => {
  it('has the public states and no others at its top', () => {
    expectTypeOf<TaskState>().toEqualTypeOf<
      'submitted' | 'working' | 'deferred' | 'completed' | 'failed' | 'canceled'
    >();
    expectTypeOf<TopState<TaskSnapshot['value']>>().toEqualTypeOf<TaskState>();
  });

  it('knows the states within working', () => {
    expectTypeOf<Extract<TaskSnapshot['value'], { working: unknown }>>().toEqualTypeOf<{
      working:
        | 'accepting'
        | 'thinking'
        | 'governing'
        | {
            executing: 'admitted' | 'minting' | 'recording' | { calling: 'starting' | 'running' };
          };
    }>();
  });

  it('knows how far the asking for a release has gone', () => {
    expectTypeOf<Extract<TaskSnapshot['value'], { deferred: unknown }>>().toEqualTypeOf<{
      deferred: DeferralStage;
    }>();
  });

  it('is read by its tags', () => {
    expectTypeOf<Parameters<TaskSnapshot['hasTag']>[0]>().toEqualTypeOf<
      TaskState | DeferralStage | 'saving' | 'final'
    >();
  });

  it('takes the public events and keeps a plain context', () => {
    expectTypeOf<EventFrom<typeof taskMachine>>().toEqualTypeOf<TaskEvent>();
    expectTypeOf<InputFrom<typeof taskMachine>>().toEqualTypeOf<TaskInput>();
    expectTypeOf<TaskSnapshot['context']>().toEqualTypeOf<TaskContext>();
  });
});
