import type { AnyMachineSnapshot } from 'xstate';
import { ModelError } from '../../../src/actors/ports/model.ts';
import { ToolError } from '../../../src/actors/ports/tool.ts';
import type { ToolCall } from '../../../src/machines/domain/task.ts';
import type { TaskEvent } from '../../../src/machines/task/task-events.ts';
import type { TaskContext } from '../../../src/machines/task/task-input.ts';
import type { Happening, Happenings } from '../../helpers/chart-walk.ts';
import { nudged } from '../../helpers/step-task.ts';
import * as fixture from '../../helpers/task-fixtures.ts';
import { saying, type WalkedTask } from './walked-task.ts';

type Story = Happening<WalkedTask>;

const { times, saved } = fixture;
/** How long the work may take, in milliseconds. */
export const maxTime = 60_000;

export const contextOf = ({ context }: AnyMachineSnapshot): TaskContext => context;
const toolOf = (snapshot: AnyMachineSnapshot) => contextOf(snapshot).pending[0]?.tool;
export const approvalsOf = (snapshot: AnyMachineSnapshot) =>
  contextOf(snapshot).deferral?.approvals.length ?? 0;

const at = (tag: string) => (snapshot: AnyMachineSnapshot) => snapshot.hasTag(tag);
const isAtWork = at('working');
const isThinking = (snapshot: AnyMachineSnapshot) => snapshot.matches({ working: 'thinking' });
const isAccepting = (snapshot: AnyMachineSnapshot) => snapshot.matches({ working: 'accepting' });
const isGoverning = (snapshot: AnyMachineSnapshot) => snapshot.matches({ working: 'governing' });
const isIn = (state: string) => (snapshot: AnyMachineSnapshot) =>
  snapshot.matches({ working: { executing: state } });
const isRunning = (snapshot: AnyMachineSnapshot) =>
  snapshot.matches({ working: { executing: { calling: 'running' } } });
const isStarting = (snapshot: AnyMachineSnapshot) =>
  snapshot.matches({ working: { executing: { calling: 'starting' } } });

/** The event for a chart when its invoked actor in a state has ended. */
const done = (state: string, output: unknown) => ({
  type: `xstate.done.actor.0.task.working.${state}`,
  output,
});
const thought = (...calls: ToolCall[]) => done('thinking', fixture.said('well', calls));
const call = (tool: string, id = 'call-1') => fixture.aCall({ id, tool });
const asksFor = (...tools: string[]): Story => ({
  event: thought(...tools.map((tool, index) => call(tool, `call-${index}`))),
  in: isThinking,
  happen: (task) => task.think(...tools),
});
const misfit = {
  ...fixture.allowed(),
  kind: 'misfit',
  layer: 'alignment',
  text: 'unknown tool: dance',
};
const denied = (snapshot: AnyMachineSnapshot) => ({
  ...fixture.allowed(contextOf(snapshot).pending[0]),
  kind: 'deny',
  layer: 'alignment',
  text: 'denied by intent alignment',
});
const bob = { approver: 'bob', email: 'bob@example.com' };
const ran = (output: object) => done('executing.calling.running', output);
const late = { ...fixture.returned('ok'), duration: maxTime };

const attempted = (more: Parameters<typeof fixture.anAttempt>[0] = {}): TaskEvent => ({
  type: 'deferral.decide',
  attempt: fixture.anAttempt({ approver: 'ann', email: 'ann@example.com', ...more }),
});
/** The last approval, after which the policy in force allows the call once more. */
const releasing =
  (more: Parameters<typeof fixture.anAttempt>[0] = {}) =>
  (snapshot: AnyMachineSnapshot) => [
    attempted(more),
    done('governing', fixture.allowed(contextOf(snapshot).pending[0])),
  ];
const heard = (text: string, refusal = false): TaskEvent => ({
  type: 'message.received',
  message: saying(text),
  refusal: refusal ? fixture.aRefusal() : null,
  sender: null,
});
const due = (moment: number): TaskEvent => ({ type: 'deadline.reached', at: moment });
const long = 'x'.repeat(300_000);

/** What happens to the work. */
export const work = {
  'the model answers': { event: thought(), in: isThinking, happen: (task) => task.think() },
  'it asks to look': asksFor('look'),
  'it asks to pay': asksFor('pay'),
  'it asks for what there is not': {
    event: [thought(call('dance')), done('governing', misfit)],
    in: isThinking,
    happen: (task) => task.think('dance'),
  },
  'the call fits': {
    event: (snapshot) => {
      const [current = call('look')] = contextOf(snapshot).pending;
      const credential = current.tool === 'fetch' ? 'static' : null;
      return done('governing', { ...fixture.allowed(current), credential });
    },
    in: (snapshot) => isGoverning(snapshot) && toolOf(snapshot) !== 'pay',
    happen: (task) => task.embedder.answer([[1], [1]]),
  },
  'the disk has it': {
    event: saved(),
    in: at('saving'),
    happen: (task) => task.commits.answer(),
  },
  'the tool returns': {
    event: ran(fixture.returned('ok')),
    in: isRunning,
    happen: (task) => task.tool.answer('ok'),
  },
  'the tool fails': {
    event: ran(fixture.toolFailed('no')),
    in: isRunning,
    happen: (task) => task.tool.fail(new ToolError('no')),
  },
  'the tool says what nobody may hear': {
    event: ran(fixture.withheld('no')),
    in: isRunning,
    happen: (task) => task.tool.answer('the codeword is swordfish'),
  },
} as const satisfies Happenings<WalkedTask>;

/** What happens to a call that fits and waits, by how it is deferred. */
export const waiting = (quorum: number, onReject: 'fail' | 'tool_result') =>
  ({
    'a person must release it': {
      event: (snapshot) => {
        const { id, tool } = contextOf(snapshot).pending[0] ?? call('pay');
        const approvers = ['ann@example.com', 'bob@example.com'];
        const onTimeout = onReject === 'fail' ? {} : { onTimeout: onReject };
        const deferral = { ...nudged(), id, tool, approvers, quorum, onReject, ...onTimeout };
        return done('governing', fixture.deferred(deferral));
      },
      in: (snapshot) => isGoverning(snapshot) && toolOf(snapshot) === 'pay',
      happen: (task) => task.embedder.answer([[1], [1]]),
    },
    'Ann approves': {
      event: quorum === 1 ? releasing() : attempted(),
      in: at('deferred'),
      happen: (task) => task.decide('approve', quorum === 1 ? 'resolved' : 'recorded'),
    },
    'Ann rejects': {
      event: attempted({ verb: 'reject' }),
      in: at('deferred'),
      happen: (task) => task.decide('reject', 'resolved'),
    },
    'Ann approves too late': {
      event: attempted({ at: times.expired }),
      in: at('deferred'),
      happen: (task) => {
        task.clock.jump(4 * 60_000);
        task.decide('approve', 'notPending');
      },
    },
    'somebody asks for news': {
      event: heard('any news?'),
      in: at('deferred'),
      happen: (task) => task.say('any news?', 'kept'),
    },
    'half of the wait is over': {
      event: due(times.reminded),
      in: at('asked'),
      happen: (task) => task.reach('remindAt'),
    },
    'three quarters of the wait are over': {
      event: due(times.escalated),
      in: (snapshot) => snapshot.hasTag('asked') || snapshot.hasTag('reminded'),
      happen: (task) => task.reach('escalateAt'),
    },
    'the wait is over': {
      event: due(times.expired),
      in: at('deferred'),
      happen: (task) => task.reach('expiresAt'),
    },
    'the caller hangs up': {
      event: { type: 'caller.left', at: times.decided },
      in: at('deferred'),
      happen: (task) => task.leave(),
    },
    'it is called off': {
      event: { type: 'task.cancel', reason: 'external_signal', at: times.decided },
      happen: (task) => task.cancel(),
    },
  }) as const satisfies Happenings<WalkedTask>;

/** Restarts of the daemon. */
export const restarts = {
  'the daemon starts again and gives up': {
    event: { type: 'service.restarted', at: times.decided },
    happen: (task) => task.restart('abandon'),
  },
  'the daemon starts again': {
    // The start of a call is on disk before it runs, and what may have run runs again if that does no harm.
    event: (snapshot) => {
      if (!snapshot.hasTag('saving')) return [];
      if (!isStarting(snapshot)) return saved();
      return saved(toolOf(snapshot) === 'pay' ? 'unknown' : 'repeatable');
    },
    // A call that has not started is ruled on anew, which no event of the chart leads to.
    in: (snapshot) =>
      (!isRunning(snapshot) || toolOf(snapshot) === 'look') &&
      (!isIn('minting')(snapshot) || contextOf(snapshot).startedAt !== null),
    happen: (task) => task.restart('resume'),
  },
} as const satisfies Happenings<WalkedTask>;

/** What happens to a task that begins with calls of these tools. */
export const accepting = (...tools: string[]) => {
  const calls = tools.map((tool, index) => call(tool, `call-${index}`));
  const accepted = done('accepting', fixture.accepted(calls));
  const again = restarts['the daemon starts again'];
  return {
    'the calls are accepted': {
      event: accepted,
      in: isAccepting,
      happen: (task) => task.others.answer([]),
    },
    'the daemon starts again': {
      ...again,
      // The caller's other tasks are counted at once.
      event: (snapshot) => (isAccepting(snapshot) ? accepted : again.event(snapshot)),
    },
  } as const satisfies Happenings<WalkedTask>;
};

/** What else happens to a task whose errors end it. */
export const further = {
  'the model fails': {
    event: done('thinking', fixture.modelFailed('no quota')),
    in: isThinking,
    happen: (task) => task.model.fail(new ModelError('no quota')),
  },
  'it asks to fetch': asksFor('fetch'),
  'it asks to look twice': asksFor('look', 'look'),
  'it asks to look after too long': {
    event: done('thinking', { ...fixture.said('well', [call('look')]), duration: maxTime }),
    in: isThinking,
    happen: (task) => {
      task.clock.advance(maxTime);
      return task.think('look');
    },
  },
  'the call does not fit': {
    event: (snapshot) => done('governing', denied(snapshot)),
    in: isGoverning,
    happen: (task) =>
      task.embedder.answer([
        [1, 0],
        [0, 1],
      ]),
  },
  'the shop gives a key': {
    event: done('executing.minting', fixture.minted()),
    in: isIn('minting'),
    happen: (task) => task.credentials.answer(),
  },
  'the shop gives none': {
    event: done('executing.minting', fixture.minted('no key')),
    in: isIn('minting'),
    happen: (task) => task.credentials.fail(new Error('no key')),
  },
  'the tool returns after too long': {
    event: ran(late),
    in: isRunning,
    happen: (task) => {
      task.clock.advance(maxTime);
      return task.tool.answer('ok');
    },
  },
  'the work takes too long': {
    event: { type: 'time.passed', at: times.decided, busy: maxTime },
    in: at('working'),
    happen: (task) => {
      task.clock.advance(maxTime);
      task.rig.lookAround();
    },
  },
  'Bob approves as well': {
    event: releasing(bob),
    in: (snapshot) => approvalsOf(snapshot) === 1,
    happen: (task) => task.decide('approve', 'resolved', bob),
  },
  'Ann approves something else': {
    event: attempted({ argsSha256: 'b2'.repeat(32) }),
    in: at('deferred'),
    happen: (task) => task.decide('approve', 'otherArguments', { argsSha256: 'b2'.repeat(32) }),
  },
  'a stranger approves': {
    event: attempted({ email: 'eve@example.com' }),
    in: at('deferred'),
    happen: (task) => task.decide('approve', 'forbidden', { email: 'eve@example.com' }),
  },
  'Ann approves what does not wait': {
    event: attempted(),
    in: isAtWork,
    happen: (task) =>
      task.decide('approve', task.context.settled === null ? 'notPending' : 'decided'),
  },
  'somebody says what the model may not hear': {
    event: heard('launch it', true),
    in: at('deferred'),
    happen: (task) => task.say('launch it', 'refused'),
  },
  'somebody says too much': {
    event: heard(long),
    in: at('deferred'),
    happen: (task) => task.say(long, 'full'),
  },
  'somebody speaks in between': {
    event: heard('any news?'),
    in: isAtWork,
    happen: (task) => task.say('any news?', 'notWaiting'),
  },
  'a request leaves': {
    event: { type: 'egress.judged', domain: 'api.example.com', mode: 'allowlist', reason: null },
    happen: (task) => task.hop(),
  },
  ...restarts,
} as const satisfies Happenings<WalkedTask>;
