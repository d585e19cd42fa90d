import { answerWithoutPending } from '../governance/decision.ts';
import { whenCutOff } from './executing-outcomes.ts';
import { executing } from './executing-state.ts';
import * as factOf from './fact-of.ts';
import { speakersIn } from './follow-up.ts';
import { withAttempt, withOutput, withTime } from './params-from.ts';
import { currentCall, initialContext, ruledTask } from './task-input.ts';
import {
  promptRefused,
  whenAccepted,
  whenDecided,
  whenDue,
  whenEnded,
  whenRepeated,
  whenRuled,
  whenThought,
  whenTold,
} from './task-outcomes.ts';
import { taskSetup } from './task-setup.ts';
import { toldBefore } from './told-turns.ts';

/**
 * One A2A task from its acceptance to its end. A held tool call runs only after its approval, exactly one decision
 * counts, and no event leaves a final state.
 */
export const taskMachine = taskSetup.createMachine({
  id: 'task',
  description:
    'One A2A task. It calls the model, governs each tool call, and runs allowed calls. A call that needs approval waits in deferred, where exactly one decision, the deadline, a cancel or a lost caller ends the wait. A released call is governed again before it runs unless its ruling is still valid, a changed one by every layer.',
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
      description: 'Accepted; work starts immediately unless the message is denied.',
      tags: 'submitted',
      entry: [
        { type: 'note', params: ({ context }) => factOf.sessionStarted(context) },
        'screenPrompt',
      ],
      on: {
        'prompt.screened': [
          {
            guard: { type: 'isMessageRefused', params: ({ event }) => event.refusal },
            target: 'failed',
            actions: promptRefused,
          },
          { guard: 'beginsWithCalls', target: 'working.accepting' },
          { target: 'working' },
        ],
      },
    },
    working: {
      description: 'The agent is at work.',
      tags: 'working',
      initial: 'thinking',
      on: {
        'task.cancel': { target: 'canceled', actions: whenCutOff.canceled },
        'service.restarted': { target: 'failed', actions: whenCutOff.restarted },
        'time.passed': {
          guard: { type: 'isOutOfTime', params: ({ event }) => event.busy },
          target: 'failed',
          actions: whenCutOff.outOfTime,
        },
      },
      states: {
        accepting: {
          description: 'The calls that the run begins with are checked like calls of a model turn.',
          invoke: {
            src: 'accept',
            input: ({ context }) => ({ taskId: context.run.id, calls: context.run.calls ?? [] }),
            onDone: { target: 'governing', actions: whenAccepted },
          },
        },
        thinking: {
          description: 'The model is called for its next turn.',
          entry: 'takeTurn',
          invoke: {
            src: 'think',
            input: ({ context }) => ({
              taskId: context.run.id,
              correlationId: context.run.correlationId,
              history: [...context.run.session, ...context.run.history],
              request: context.run.request,
              exchanges: context.exchanges,
              said: context.said,
              followUps: context.followUps,
              ran: context.run.ran,
              turns: context.spent.turns - 1,
              told: toldBefore(context),
              tokensPerEstimate: context.spent.tokensPerEstimate,
            }),
            onDone: [
              {
                guard: withOutput('modelFailed'),
                target: '#task.failed',
                actions: whenThought.failed,
              },
              {
                guard: withOutput('wantsTooMuch'),
                target: '#task.failed',
                actions: whenThought.overspent,
              },
              {
                guard: withOutput('wantsTools'),
                target: 'governing',
                actions: whenThought.wantsTools,
              },
              { target: '#task.completed', actions: whenThought.answered },
            ],
          },
        },
        governing: {
          description:
            'Every layer of governance evaluates the call; a released call again, by the policy in force.',
          invoke: {
            src: 'govern',
            input: ({ context }) => ({
              taskId: context.run.id,
              call: currentCall(context),
              request: context.run.request,
              requester: context.run.requester,
              speakers: speakersIn(context),
              scores: context.scores,
              held: context.held,
              ran: context.run.ran,
              task: ruledTask(context.run),
              now: context.now,
            }),
            onDone: [
              {
                guard: withOutput('isAnswered'),
                target: 'executing.recording',
                actions: whenRuled.answered,
              },
              {
                guard: withOutput('isRuledOut'),
                target: '#task.failed',
                actions: whenRuled.refused,
              },
              {
                guard: withOutput('needsApproval'),
                target: '#task.deferred',
                actions: whenRuled.held,
              },
              { guard: 'runsElsewhere', target: '#task.completed', actions: whenRuled.granted },
              {
                guard: withOutput('isGivenCredential'),
                target: 'executing.minting',
                actions: whenRuled.allowed,
              },
              { target: 'executing.calling', actions: whenRuled.allowed },
            ],
          },
        },
        executing,
      },
    },
    deferred: {
      description:
        'Parked until a named person approves or rejects the call, or it times out. Messages of callers are stored for the model and decide nothing.',
      tags: 'deferred',
      initial: 'asked',
      on: {
        'deferral.decide': [
          {
            guard: withAttempt('cameTooLateForModel'),
            target: 'working.executing.recording',
            actions: whenDecided.tooLateForModel,
          },
          { guard: withAttempt('cameTooLate'), target: 'failed', actions: whenDecided.tooLate },
          { guard: withAttempt('isMispinned'), actions: whenDecided.mispinned },
          { guard: withAttempt('isRefused'), actions: whenDecided.refused },
          { guard: withAttempt('lacksReason'), actions: whenDecided.unreasoned },
          { guard: withAttempt('lacksPasskey'), actions: whenDecided.unconfirmed },
          { guard: withAttempt('mayNotEdit'), actions: whenDecided.notEditable },
          { guard: withAttempt('isUnfit'), actions: whenDecided.unfit },
          {
            guard: withAttempt('isRejectionForModel'),
            target: 'working.executing.recording',
            actions: whenDecided.rejectedForModel,
          },
          { guard: withAttempt('isRejection'), target: 'failed', actions: whenDecided.rejected },
          {
            guard: withAttempt('isEdit'),
            target: 'working.governing',
            actions: whenDecided.edited,
          },
          { guard: withAttempt('isShortOfQuorum'), actions: whenDecided.counted },
          {
            guard: withAttempt('mustBeRuledAgain'),
            target: 'working.governing',
            actions: whenDecided.approved,
          },
          { guard: 'runsElsewhere', target: 'completed', actions: whenDecided.granted },
          {
            guard: 'needsCredential',
            target: 'working.executing.minting',
            actions: whenDecided.approved,
          },
          { target: 'working.executing.calling', actions: whenDecided.approved },
        ],
        'policy.changed': { target: 'working.governing', actions: whenEnded.ruledAgain },
        'message.received': [
          {
            guard: { type: 'isMessageRefused', params: ({ event }) => event.refusal },
            actions: whenTold.refused,
          },
          {
            guard: { type: 'hasNoRoomFor', params: ({ event }) => event.message },
            actions: whenTold.full,
          },
          { actions: whenTold.kept },
        ],
        'call.repeated': { actions: whenRepeated },
        'link.shown': { actions: 'markLinkShown' },
        'deadline.reached': [
          {
            guard: withTime('isTimeUpForModel'),
            target: 'working.executing.recording',
            actions: whenEnded.timedOutForModel,
          },
          { guard: withTime('isTimeUp'), target: 'failed', actions: whenEnded.timedOut },
        ],
        'caller.left': { target: 'failed', actions: whenEnded.callerLeft },
        'service.restarted': { target: 'failed', actions: whenEnded.restarted },
        'task.cancel': { target: 'canceled', actions: whenEnded.canceled },
      },
      states: {
        asked: {
          description: 'The approvers are notified.',
          tags: 'asked',
          on: {
            'deadline.reached': [
              {
                guard: withTime('escalationIsDue'),
                target: 'escalated',
                actions: whenDue.escalated,
              },
              { guard: withTime('reminderIsDue'), target: 'reminded', actions: whenDue.reminded },
            ],
          },
        },
        reminded: {
          description: 'Half of the time is over and the approvers were reminded.',
          tags: 'reminded',
          on: {
            'deadline.reached': {
              guard: withTime('escalationIsDue'),
              target: 'escalated',
              actions: whenDue.escalated,
            },
          },
        },
        escalated: {
          description:
            'Another target was notified, at three quarters of the time or at the time of its stage; later stages follow.',
          tags: 'escalated',
          on: {
            'deadline.reached': {
              guard: withTime('furtherEscalationIsDue'),
              actions: whenDue.escalatedFurther,
            },
          },
        },
      },
    },
    completed: {
      description: 'The agent answered.',
      tags: ['completed', 'final'],
      type: 'final',
      entry: { type: 'note', params: { type: 'session.ended', state: 'completed' } },
    },
    failed: {
      description: 'The run ended without an answer; the failure has the reason.',
      tags: ['failed', 'final'],
      type: 'final',
      entry: { type: 'note', params: ({ context }) => factOf.sessionFailed(context) },
    },
    canceled: {
      description: 'The task was canceled.',
      tags: ['canceled', 'final'],
      type: 'final',
      entry: [
        { type: 'note', params: ({ context }) => factOf.invocationCancelled(context) },
        { type: 'note', params: { type: 'session.ended', state: 'canceled' } },
      ],
    },
  },
});
