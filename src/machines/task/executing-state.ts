import * as factOf from './fact-of.ts';
import * as failureOf from './failure-of.ts';
import * as recordOf from './record-of.ts';
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
          {
            guard: { type: 'mintFailed', params: ({ event }) => event.output },
            target: '#task.failed',
            actions: [
              {
                type: 'note',
                params: ({ context, event }) => factOf.credentialMade(context, event.output),
              },
              {
                type: 'keepRecord',
                params: ({ context, event }) => recordOf.credentials(context, event.output),
              },
              {
                type: 'fail',
                params: ({ context, event }) =>
                  failureOf.ofMint(currentCall(context), event.output),
              },
            ],
          },
          {
            target: 'calling',
            actions: [
              {
                type: 'note',
                params: ({ context, event }) => factOf.credentialMade(context, event.output),
              },
              {
                type: 'keepRecord',
                params: ({ context, event }) => recordOf.credentials(context, event.output),
              },
            ],
          },
        ],
      },
    },
    calling: {
      description: 'The start is on disk before the tool starts, and every start has an end.',
      tags: 'calling',
      initial: 'starting',
      exit: { type: 'dropCredential', params: ({ context }) => currentCall(context).id },
      entry: { type: 'note', params: ({ context }) => factOf.toolStarted(context) },
      on: {
        'task.cancel': {
          target: '#task.canceled',
          actions: [
            {
              type: 'note',
              params: ({ context, event }) =>
                factOf.toolCutOff(context, event.at, `canceled: ${event.reason}`),
            },
            { type: 'callOff', params: ({ event }) => event.reason },
          ],
        },
        'service.restarted': {
          target: '#task.failed',
          actions: [
            {
              type: 'note',
              params: ({ context, event }) =>
                factOf.toolCutOff(context, event.at, failureOf.interrupted.text),
            },
            { type: 'fail', params: failureOf.interrupted },
          ],
        },
      },
      states: {
        starting: {
          description: 'Waits until the start is recorded, or finds that it already was.',
          invoke: {
            src: 'recordStart',
            input: ({ context }) => ({ taskId: context.run.id, call: currentCall(context) }),
            onDone: [
              {
                guard: { type: 'outcomeIsUnknown', params: ({ event }) => event.output },
                target: '#task.failed',
                actions: [
                  {
                    type: 'note',
                    params: ({ context, event }) =>
                      factOf.toolCutOff(
                        context,
                        event.output.at,
                        failureOf.outcomeUnknown(currentCall(context)).text,
                      ),
                  },
                  {
                    type: 'fail',
                    params: ({ context }) => failureOf.outcomeUnknown(currentCall(context)),
                  },
                ],
              },
              {
                guard: { type: 'needsCredentialAgain', params: ({ event }) => event.output },
                target: 'mintingAgain',
                actions: { type: 'keepStart', params: ({ event }) => event.output },
              },
              {
                target: 'running',
                actions: { type: 'keepStart', params: ({ event }) => event.output },
              },
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
                guard: { type: 'mintFailed', params: ({ event }) => event.output },
                target: '#task.failed',
                actions: [
                  {
                    type: 'note',
                    params: ({ context, event }) => [
                      factOf.credentialMade(context, event.output),
                      factOf.toolCutOff(
                        context,
                        event.output.at,
                        failureOf.ofMint(currentCall(context), event.output).text,
                      ),
                    ],
                  },
                  {
                    type: 'keepRecord',
                    params: ({ context, event }) => recordOf.credentials(context, event.output),
                  },
                  {
                    type: 'fail',
                    params: ({ context, event }) =>
                      failureOf.ofMint(currentCall(context), event.output),
                  },
                ],
              },
              {
                target: 'running',
                actions: [
                  {
                    type: 'note',
                    params: ({ context, event }) => factOf.credentialMade(context, event.output),
                  },
                  {
                    type: 'keepRecord',
                    params: ({ context, event }) => recordOf.credentials(context, event.output),
                  },
                ],
              },
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
              {
                guard: { type: 'toolFailed', params: ({ event }) => event.output },
                target: '#task.failed',
                actions: [
                  {
                    type: 'note',
                    params: ({ context, event }) => factOf.toolEnded(context, event.output),
                  },
                  {
                    type: 'keepRecord',
                    params: ({ context, event }) => recordOf.output(context, event.output),
                  },
                  {
                    type: 'fail',
                    params: ({ context, event }) =>
                      failureOf.ofTool(currentCall(context), event.output),
                  },
                ],
              },
              {
                target: '#task.working.executing.recording',
                actions: [
                  {
                    type: 'note',
                    params: ({ context, event }) => factOf.toolEnded(context, event.output),
                  },
                  {
                    type: 'keepRecord',
                    params: ({ context, event }) => recordOf.output(context, event.output),
                  },
                  { type: 'keepResult', params: ({ event }) => event.output },
                ],
              },
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
