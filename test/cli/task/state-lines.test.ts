import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Output } from '../../../src/cli/output.ts';
import type { StateJson, TaskJson } from '../../../src/cli/task/read-answer.ts';
import { stateLines } from '../../../src/cli/task/task-get.ts';

const start = Date.parse('2026-07-01T09:00:00.000Z');

function at(milliseconds: number): string {
  return new Date(start + milliseconds).toISOString();
}

function linesOf(states: StateJson[], now: number, leftOut?: number): string[] {
  const output = new Output({
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: {},
    isJson: false,
    isDebug: false,
    mayColour: false,
  });
  const metadata = { states, ...(leftOut === undefined ? {} : { states_left_out: leftOut }) };
  const task: TaskJson = { id: 't', status: { state: 'working', timestamp: at(0) }, metadata };
  return stateLines(output, task, start + now);
}

const first = { state: 'submitted', event: 'task.send', entered_at: at(0) };

describe('the state lines of a task', () => {
  it('have the time, the place, the duration, and the event', () => {
    const states = [
      first,
      { state: 'working.thinking', event: 'prompt.screened', entered_at: at(3) },
      { state: 'deferred.asked', event: 'governing.done', entered_at: at(2_253) },
    ];
    expect(linesOf(states, 67_253)).toEqual([
      '  2026-07-01T09:00:00.000Z  submitted                3 ms  task.send',
      '  2026-07-01T09:00:00.003Z  working.thinking        2.3 s  prompt.screened',
      '  2026-07-01T09:00:02.253Z  deferred.asked    1m5s so far  governing.done',
    ]);
  });

  it('count no time in a final state', () => {
    const ended = { state: 'failed', event: 'task.cancel', entered_at: at(10) };
    expect(linesOf([first, ended], 99_000)).toEqual([
      '  2026-07-01T09:00:00.000Z  submitted  10 ms  task.send',
      '  2026-07-01T09:00:00.010Z  failed            task.cancel',
    ]);
  });

  it('have the number of deleted states', () => {
    const ended = { state: 'completed', event: 'thinking.done', entered_at: at(10) };
    expect(linesOf([first, ended], 99_000, 7)).toEqual([
      '  2026-07-01T09:00:00.000Z  submitted    task.send',
      '  … 7 older states are no longer stored',
      '  2026-07-01T09:00:00.010Z  completed    thinking.done',
    ]);
  });

  it('contain no terminal control', () => {
    const states = [{ state: 'a\u001b[2J', event: 'b\nc', entered_at: 'soon' }];
    expect(linesOf(states, 0)).toEqual(['  soon  a\\u001b[2J    b\\u000ac']);
  });

  it('are empty for a task without states', () => {
    expect(linesOf([], 0)).toEqual([]);
  });
});
