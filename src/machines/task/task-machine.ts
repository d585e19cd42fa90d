import { answerCounted, answerMispinned, answerWithoutPending } from '../governance/decision.ts';
import { executing } from './executing-state.ts';
import * as factOf from './fact-of.ts';
import * as failureOf from './failure-of.ts';
import * as recordOf from './record-of.ts';
import { currentCall, initialContext, momentAfter, pendingDeferral } from './task-input.ts';
import { taskSetup } from './task-setup.ts';

/**
 * Stored with every snapshot. Raise it when an older snapshot could not be restored as it is, and say in
 * `migrate-snapshot.ts` what leads from one to the other.
 */
export const taskMachineVersion = 5;

/**
 * One A2A task from its acceptance to its end.
 * A held tool call runs only after its approval, exactly one decision counts, and nothing leaves a final state.
 */
export const taskMachine = taskSetup.createMachine({
  id: 'task',
  description:
    'One A2A task. It thinks, has each tool call governed, and runs what was allowed. A call that needs a person waits in deferred, where exactly one decision, the deadline, a cancel or a lost caller ends the wait.',
  context: ({ input }) => initialContext(input),
  initial: 'submitted',
  on: {
    'deferral.*': {
      actions: {
        type: 'answer',
        params: ({ context }) => answerWithoutPending(context.settled),
      },
    },
    'message.received': { actions: { type: 'answerMessage', params: { kind: 'notWaiting' } } },
    'egress.judged': { actions: { type: 'note', params: ({ event }) => event } },
  },
  states: {
    submitted: {
      description: 'Accepted; work begins at once, unless the message itself is denied.',
      tags: 'submitted',
      entry: { type: 'note', params: { type: 'session.started' } },
      always: [
        {
          guard: 'isPromptRefused',
          target: 'failed',
          actions: [
            { type: 'note', params: ({ context }) => factOf.promptRefused(context) },
            { type: 'keepRecord', params: ({ context }) => recordOf.prompt(context) },
            { type: 'fail', params: ({ context }) => failureOf.ofPrompt(context) },
          ],
        },
        { target: 'working' },
      ],
    },
    working: {
      description: 'The agent is at work.',
      tags: 'working',
      initial: 'thinking',
      on: {
        'task.cancel': {
          target: 'canceled',
          actions: { type: 'callOff', params: ({ event }) => event.reason },
        },
        'service.restarted': {
          target: 'failed',
          actions: { type: 'fail', params: failureOf.interrupted },
        },
      },
      states: {
        thinking: {
          description: 'The model takes its next turn.',
          entry: 'takeTurn',
          invoke: {
            src: 'think',
            input: ({ context }) => ({
              taskId: context.run.id,
              correlationId: context.run.correlationId,
              history: context.run.history,
              request: context.run.request,
              exchanges: context.exchanges,
              followUps: context.followUps,
              turns: context.turns - 1,
            }),
            onDone: [
              {
                guard: { type: 'modelFailed', params: ({ event }) => event.output },
                target: '#task.failed',
                actions: [
                  {
                    type: 'note',
                    params: ({ context, event }) => factOf.modelCalled(context, event.output),
                  },
                  { type: 'fail', params: ({ event }) => failureOf.ofModel(event.output) },
                ],
              },
              {
                guard: { type: 'wantsTools', params: ({ event }) => event.output },
                target: 'governing',
                actions: [
                  {
                    type: 'note',
                    params: ({ context, event }) => factOf.modelCalled(context, event.output),
                  },
                  { type: 'keepCalls', params: ({ event }) => event.output },
                ],
              },
              {
                target: '#task.completed',
                actions: [
                  {
                    type: 'note',
                    params: ({ context, event }) => factOf.modelCalled(context, event.output),
                  },
                  { type: 'keepAnswer', params: ({ event }) => event.output },
                ],
              },
            ],
          },
        },
        governing: {
          description: 'Every layer of governance has its say on the call.',
          invoke: {
            src: 'govern',
            input: ({ context }) => ({
              taskId: context.run.id,
              call: currentCall(context),
              request: context.run.request,
              requester: context.run.requester,
              scores: context.scores,
              now: context.now,
            }),
            onDone: [
              {
                guard: { type: 'isRuledOut', params: ({ event }) => event.output },
                target: '#task.failed',
                actions: [
                  { type: 'note', params: ({ event }) => event.output.facts },
                  { type: 'keepRuling', params: ({ event }) => event.output },
                  {
                    type: 'fail',
                    params: ({ context, event }) => failureOf.ofRuling(context, event.output),
                  },
                ],
              },
              {
                guard: { type: 'needsApproval', params: ({ event }) => event.output },
                target: '#task.deferred',
                actions: [
                  { type: 'note', params: ({ event }) => event.output.facts },
                  { type: 'keepRuling', params: ({ event }) => event.output },
                ],
              },
              {
                target: 'executing',
                actions: [
                  { type: 'note', params: ({ event }) => event.output.facts },
                  { type: 'keepRuling', params: ({ event }) => event.output },
                ],
              },
            ],
          },
        },
        executing,
      },
    },
    deferred: {
      description:
        'Parked until a named person releases the call, refuses it, or time runs out. What callers say meanwhile is kept for the model and decides nothing.',
      tags: 'deferred',
      initial: 'asked',
      on: {
        'deferral.decide': [
          {
            guard: { type: 'cameTooLate', params: ({ event }) => event.attempt },
            target: 'failed',
            actions: [
              {
                type: 'note',
                params: ({ context, event }) => factOf.timedOut(context, event.attempt.at),
              },
              { type: 'answer', params: { kind: 'notPending' } },
              { type: 'fail', params: ({ context }) => failureOf.timedOut(context) },
            ],
          },
          {
            guard: { type: 'isMispinned', params: ({ event }) => event.attempt },
            actions: {
              type: 'answer',
              params: ({ context, event }) =>
                answerMispinned(pendingDeferral(context), event.attempt) ?? { kind: 'notPending' },
            },
          },
          {
            guard: { type: 'isRefused', params: ({ event }) => event.attempt },
            actions: [
              {
                type: 'note',
                params: ({ context, event }) =>
                  factOf.decision('deferral.refused', context, event.attempt),
              },
              { type: 'answer', params: { kind: 'forbidden' } },
            ],
          },
          {
            guard: { type: 'isRejectionForModel', params: ({ event }) => event.attempt },
            target: 'working.executing.recording',
            actions: [
              {
                type: 'note',
                params: ({ context, event }) =>
                  factOf.decision('deferral.decided', context, event.attempt),
              },
              {
                type: 'answer',
                params: ({ context, event }) =>
                  answerCounted('resolved', pendingDeferral(context), event.attempt),
              },
              { type: 'settleDeferral', params: ({ event }) => event.attempt },
              { type: 'keepRejection', params: ({ event }) => event.attempt },
            ],
          },
          {
            guard: { type: 'isRejection', params: ({ event }) => event.attempt },
            target: 'failed',
            actions: [
              {
                type: 'note',
                params: ({ context, event }) =>
                  factOf.decision('deferral.decided', context, event.attempt),
              },
              {
                type: 'answer',
                params: ({ context, event }) =>
                  answerCounted('resolved', pendingDeferral(context), event.attempt),
              },
              { type: 'settleDeferral', params: ({ event }) => event.attempt },
              { type: 'fail', params: ({ context }) => failureOf.rejected(context) },
            ],
          },
          {
            guard: { type: 'isShortOfQuorum', params: ({ event }) => event.attempt },
            actions: [
              {
                type: 'note',
                params: ({ context, event }) =>
                  factOf.decision('deferral.decided', context, event.attempt),
              },
              {
                type: 'answer',
                params: ({ context, event }) =>
                  answerCounted('recorded', pendingDeferral(context), event.attempt),
              },
              { type: 'countApproval', params: ({ event }) => event.attempt },
            ],
          },
          {
            target: 'working.executing',
            actions: [
              {
                type: 'note',
                params: ({ context, event }) =>
                  factOf.decision('deferral.decided', context, event.attempt),
              },
              {
                type: 'answer',
                params: ({ context, event }) =>
                  answerCounted('resolved', pendingDeferral(context), event.attempt),
              },
              { type: 'settleDeferral', params: ({ event }) => event.attempt },
            ],
          },
        ],
        'message.received': [
          {
            guard: { type: 'isMessageRefused', params: ({ event }) => event.refusal },
            actions: [
              { type: 'note', params: ({ event }) => factOf.messageRefused(event.refusal) },
              {
                type: 'answerMessage',
                params: ({ event }) => ({ kind: 'refused', text: event.refusal?.text ?? '' }),
              },
            ],
          },
          {
            guard: { type: 'hasNoRoomFor', params: ({ event }) => event.message },
            actions: { type: 'answerMessage', params: { kind: 'full' } },
          },
          {
            actions: [
              {
                type: 'note',
                params: ({ event }) => factOf.messageReceived(event.message, event.sender),
              },
              { type: 'answerMessage', params: { kind: 'kept' } },
              { type: 'keepMessage', params: ({ event }) => event },
            ],
          },
        ],
        'deadline.reached': {
          target: 'failed',
          actions: [
            { type: 'note', params: ({ context, event }) => factOf.timedOut(context, event.at) },
            { type: 'fail', params: ({ context }) => failureOf.timedOut(context) },
          ],
        },
        'caller.left': {
          target: 'failed',
          actions: [
            {
              type: 'note',
              params: ({ context, event }) =>
                factOf.abandoned(context, 'caller_disconnected', event.at),
            },
            {
              type: 'fail',
              params: ({ context }) => failureOf.abandoned(context, 'caller_disconnected'),
            },
          ],
        },
        'service.restarted': {
          target: 'failed',
          actions: [
            {
              type: 'note',
              params: ({ context, event }) =>
                factOf.abandoned(context, 'service_restart', event.at),
            },
            {
              type: 'fail',
              params: ({ context }) => failureOf.abandoned(context, 'service_restart'),
            },
          ],
        },
        'task.cancel': {
          target: 'canceled',
          actions: [
            {
              type: 'note',
              params: ({ context, event }) => factOf.abandoned(context, 'canceled', event.at),
            },
            { type: 'callOff', params: ({ event }) => event.reason },
          ],
        },
      },
      states: {
        asked: {
          description: 'The approvers have been asked.',
          tags: 'asked',
          invoke: { src: 'deadline', input: ({ context }) => momentAfter(context, 'asked') },
          on: {
            'deadline.reached': [
              {
                guard: { type: 'escalationIsDue', params: ({ event }) => event.at },
                target: 'escalated',
                actions: {
                  type: 'note',
                  params: ({ context, event }) => factOf.escalated(context, event.at),
                },
              },
              {
                guard: { type: 'reminderIsDue', params: ({ event }) => event.at },
                target: 'reminded',
                actions: {
                  type: 'note',
                  params: ({ context, event }) => factOf.reminded(context, event.at),
                },
              },
            ],
          },
        },
        reminded: {
          description: 'Half of the time is over and the approvers were reminded.',
          tags: 'reminded',
          invoke: { src: 'deadline', input: ({ context }) => momentAfter(context, 'reminded') },
          on: {
            'deadline.reached': {
              guard: { type: 'escalationIsDue', params: ({ event }) => event.at },
              target: 'escalated',
              actions: {
                type: 'note',
                params: ({ context, event }) => factOf.escalated(context, event.at),
              },
            },
          },
        },
        escalated: {
          description: 'Three quarters of the time are over and another target was asked as well.',
          tags: 'escalated',
          invoke: { src: 'deadline', input: ({ context }) => momentAfter(context, 'escalated') },
        },
      },
    },
    completed: {
      description: 'The agent has answered.',
      tags: ['completed', 'final'],
      type: 'final',
      entry: { type: 'note', params: { type: 'session.ended', state: 'completed' } },
    },
    failed: {
      description: 'The run ended without an answer; the failure says why.',
      tags: ['failed', 'final'],
      type: 'final',
      entry: { type: 'note', params: { type: 'session.ended', state: 'failed' } },
    },
    canceled: {
      description: 'Somebody called the task off.',
      tags: ['canceled', 'final'],
      type: 'final',
      entry: [
        {
          type: 'note',
          params: ({ context }) => ({
            type: 'invocation.cancelled',
            reason: context.cancelReason ?? 'external_signal',
          }),
        },
        { type: 'note', params: { type: 'session.ended', state: 'canceled' } },
      ],
    },
  },
});
