import { describe } from 'vitest';
import { raise } from 'xstate';
import { defaultLimits, limitReached, type TaskLimits } from '../../../src/machines/task/limits.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { failedTurnsAtEnd } from '../../../src/machines/task/told-turns.ts';
import { type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { aTaskInput } from '../../helpers/task-fixtures.ts';
import {
  accepting,
  approvalsOf,
  contextOf,
  further,
  maxTime,
  restarts,
  waiting,
  work,
} from './task-happenings.ts';
import { type WalkedSettings, WalkedTask } from './walked-task.ts';

const chart = taskMachine.provide({
  actions: { screenPrompt: raise({ type: 'prompt.screened', refusal: null, took: 0 }) },
});

/** Walks the chart with these happenings in an agent that is set up so. */
function walk(happenings: Happenings<WalkedTask>, settings: WalkedSettings): void {
  const { onToolError, calls } = settings;
  const begun = calls && { calls: calls.map((tool) => ({ tool, args: {} })), hasModel: false };
  const limits: TaskLimits = { ...defaultLimits, ...settings.limits };
  walkChart(taskMachine, happenings, (actors) => WalkedTask.open(actors, settings), {
    filled: chart,
    input: aTaskInput({ ...begun, onToolError, limits }),
    fingerprint: (snapshot) => {
      const { pending, startedAt, spent } = contextOf(snapshot);
      return [
        pending.map(({ tool }) => tool),
        startedAt === null,
        approvalsOf(snapshot),
        limitReached(spent, limits),
        limits.turns === 2 && [spent.turns, failedTurnsAtEnd(contextOf(snapshot))],
      ];
    },
    look: (task, snapshot) => task.look(snapshot),
    passing: settings.passing,
  });
}

describe('the shortest paths of a task whose errors end it', () => {
  walk(
    { ...work, ...waiting(2, 'fail'), ...further },
    {
      onToolError: 'fail',
      limits: { time: maxTime },
      defer: { on_reject: 'fail' },
      rule: { quorum: 2 },
      rests: false,
      passing: ['working.accepting'],
    },
  );
});

describe('the shortest paths of a task that receives its errors, and is parked whenever it waits', () => {
  walk(
    { ...work, ...waiting(1, 'tool_result') },
    {
      onToolError: 'return',
      limits: { turns: 2, failedTurns: 2 },
      defer: { on_reject: 'tool_result', on_timeout: 'tool_result' },
      rule: {},
      rests: true,
      passing: ['working.accepting', 'working.executing.minting'],
    },
  );
});

describe('the shortest paths of a task that begins with calls and has no model', () => {
  const calls = ['look', 'pay'];
  walk(
    { ...work, ...waiting(1, 'tool_result'), ...restarts, ...accepting(...calls) },
    {
      onToolError: 'fail',
      limits: {},
      defer: { on_reject: 'tool_result', on_timeout: 'tool_result' },
      rule: {},
      calls,
      rests: true,
      passing: ['working.thinking', 'working.executing.minting'],
    },
  );
});
