import { whenMinted, whenRun, whenStarted } from './executing-outcomes.ts';
import * as failureOf from './failure-of.ts';
import { fromContext, withOutput, withStanding } from './params-from.ts';
import { approvedDigest, approvedRuns, currentCall, mintInput } from './task-input.ts';
import { taskSetup } from './task-setup.ts';

/** The part of the task chart in which one allowed call runs exactly once, between two records on disk. */
export const executing = taskSetup.createStateConfig({
  description: 'The call may run: its credentials are made, then it runs, once.',
  initial: 'calling',
  states: {
    minting: {
      description:
        'Makes the credentials of the call, for this call alone. They do not outlive the daemon, so a call that a restart repeats gets new ones.',
      invoke: {
        src: 'mint',
        input: ({ context }) => mintInput(context),
        onDone: [
          { guard: withOutput('mintFailed'), target: '#task.failed', actions: whenMinted.failed },
          { guard: 'hasStarted', target: 'calling.running', actions: whenMinted.issued },
          { target: 'calling', actions: whenMinted.issued },
        ],
      },
    },
    calling: {
      description: 'The start is on disk before the tool starts, and every start has an end.',
      initial: 'starting',
      exit: fromContext('dropCredential', (context) => currentCall(context).id),
      states: {
        starting: {
          description: 'Waits until the start is on disk, or finds that it was before a restart.',
          tags: 'saving',
          entry: whenStarted.reported,
          on: {
            'task.saved': [
              {
                guard: withStanding('outcomeIsUnknown'),
                target: '#task.failed',
                actions: whenStarted.unknown,
              },
              {
                guard: withStanding('needsCredentialAgain'),
                target: '#task.working.executing.minting',
                actions: whenStarted.known,
              },
              { target: 'running', actions: whenStarted.known },
            ],
          },
        },
        running: {
          description:
            'The tool runs, waits for an approval at another program, or continues there as a task; leaving this state aborts it. A restart follows such a task again.',
          on: {
            'tool.waiting': {
              actions: { type: 'keepWait', params: ({ event }) => event.wait },
            },
            'tool.detached': {
              actions: { type: 'keepRemote', params: ({ event }) => event.remote },
            },
          },
          invoke: {
            src: 'runTool',
            input: ({ context }) => ({
              taskId: context.run.id,
              correlationId: context.run.correlationId,
              tags: context.run.tags,
              call: currentCall(context),
              approvedSha256: approvedDigest(context),
              ...approvedRuns(context),
              needsCredential: context.credential !== null,
            }),
            onDone: [
              {
                guard: withOutput('isErrorForModel'),
                target: '#task.working.executing.recording',
                actions: whenRun.failedForModel,
              },
              { guard: withOutput('toolFailed'), target: '#task.failed', actions: whenRun.failed },
              {
                guard: 'isLastWithoutModel',
                target: '#task.completed',
                actions: whenRun.answered,
              },
              { target: '#task.working.executing.recording', actions: whenRun.returned },
            ],
          },
        },
      },
    },
    recording: {
      description:
        'Waits until the end is on disk; then the next call of the turn starts, or the model receives the results, errors included, unless it received only errors for too long. Without a model, the last result is the answer.',
      tags: 'saving',
      on: {
        'task.saved': [
          {
            guard: 'hasSpentUp',
            target: '#task.failed',
            actions: fromContext('fail', failureOf.overspent),
          },
          { guard: 'hasMoreCalls', target: '#task.working.governing' },
          { guard: 'hasNoModel', target: '#task.completed', actions: 'answerWithResult' },
          {
            guard: 'failsOnAndOn',
            target: '#task.failed',
            actions: fromContext('fail', failureOf.tooManyErrors),
          },
          { guard: 'hasTurnsLeft', target: '#task.working.thinking' },
          { target: '#task.failed', actions: fromContext('fail', failureOf.tooManyTurns) },
        ],
      },
    },
  },
});
