import {
  whenCutOff,
  whenMinted,
  whenMintedAgain,
  whenRun,
  whenStarted,
} from './executing-outcomes.ts';
import * as factOf from './fact-of.ts';
import * as failureOf from './failure-of.ts';
import { fromContext, withOutput } from './params-from.ts';
import { approvedDigest, currentCall, mintInput } from './task-input.ts';
import { maxTurns, taskSetup } from './task-setup.ts';

/** The part of the task chart in which one allowed call runs, once, between two records on disk. */
export const executing = taskSetup.createStateConfig({
  description: 'The call may run: its credentials are made, then it runs, once.',
  initial: 'admitted',
  states: {
    admitted: {
      description: 'Nobody objects any more.',
      always: [{ guard: 'needsCredential', target: 'minting' }, { target: 'calling' }],
    },
    minting: {
      description: 'Makes the credentials of the call, for this call alone.',
      invoke: {
        src: 'mint',
        input: ({ context }) => mintInput(context),
        onDone: [
          { guard: withOutput('mintFailed'), target: '#task.failed', actions: whenMinted.failed },
          { target: 'calling', actions: whenMinted.issued },
        ],
      },
    },
    calling: {
      description: 'The start is on disk before the tool starts, and every start has an end.',
      tags: 'calling',
      initial: 'starting',
      entry: fromContext('note', factOf.toolStarted),
      exit: fromContext('dropCredential', (context) => currentCall(context).id),
      on: {
        'task.cancel': { target: '#task.canceled', actions: whenCutOff.canceled },
        'service.restarted': { target: '#task.failed', actions: whenCutOff.restarted },
      },
      states: {
        starting: {
          description: 'Waits until the start is recorded, or finds that it already was.',
          invoke: {
            src: 'recordStart',
            input: ({ context }) => ({ taskId: context.run.id, call: currentCall(context) }),
            onDone: [
              {
                guard: withOutput('outcomeIsUnknown'),
                target: '#task.failed',
                actions: whenStarted.unknown,
              },
              {
                guard: withOutput('needsCredentialAgain'),
                target: 'mintingAgain',
                actions: whenStarted.known,
              },
              { target: 'running', actions: whenStarted.known },
            ],
          },
        },
        mintingAgain: {
          description:
            'Credentials do not outlive the daemon, so a call that a restart repeats gets new ones.',
          invoke: {
            src: 'mint',
            input: ({ context }) => mintInput(context),
            onDone: [
              {
                guard: withOutput('mintFailed'),
                target: '#task.failed',
                actions: whenMintedAgain.failed,
              },
              { target: 'running', actions: whenMintedAgain.issued },
            ],
          },
        },
        running: {
          description: 'The tool runs; leaving this state aborts it.',
          invoke: {
            src: 'runTool',
            input: ({ context }) => ({
              taskId: context.run.id,
              correlationId: context.run.correlationId,
              tags: context.run.tags,
              call: currentCall(context),
              approvedSha256: approvedDigest(context),
              needsCredential: context.credential !== null,
            }),
            onDone: [
              { guard: withOutput('toolFailed'), target: '#task.failed', actions: whenRun.failed },
              { target: '#task.working.executing.recording', actions: whenRun.returned },
            ],
          },
        },
      },
    },
    recording: {
      description:
        'The end is on disk before the next call of the turn is taken up or the model hears the results.',
      invoke: {
        src: 'recordEnd',
        input: ({ context }) => ({ taskId: context.run.id }),
        onDone: [
          { guard: 'hasMoreCalls', target: '#task.working.governing' },
          { guard: 'hasTurnsLeft', target: '#task.working.thinking' },
          {
            target: '#task.failed',
            actions: { type: 'fail', params: failureOf.tooManyTurns(maxTurns) },
          },
        ],
      },
    },
  },
});
