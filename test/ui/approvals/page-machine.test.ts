import { describe, expect, it } from 'vitest';
import { createActor, getInitialSnapshot, getNextSnapshot, SimulatedClock } from 'xstate';
import type { SessionJson } from '../../../src/http/wire/approvals-page.ts';
import { type PageEvent, pageMachine } from '../../../src/ui/approvals/page-machine.ts';

const session: SessionJson = {
  ...{ agent_id: 'till', name: 'Ann', email: 'ann@example.com', csrf: 'c' },
  expires_at: '2026-11-26T20:00:00Z',
};

type Done = { type: string; output?: unknown; error?: unknown };

/** The state and the context after events, of which some are the ends of what the chart has asked. */
function after(...events: (PageEvent | Done)[]) {
  let snapshot = getInitialSnapshot(pageMachine);
  for (const event of events) {
    snapshot = getNextSnapshot(pageMachine, snapshot, event as PageEvent);
  }
  return { state: snapshot.value, ...snapshot.context };
}

const done = (state: string, output: unknown): Done => ({
  type: `xstate.done.actor.0.approvals-page.${state}`,
  output,
});
const failed = (state: string): Done => ({
  type: `xstate.error.actor.0.approvals-page.${state}`,
  error: new Error('The agent is not responding.'),
});
const opened = done('opening', session);
const read = { type: 'calls.read', waiting: [], decided: [] } as const;
const nothing = { session: null, calls: null, problem: null, left: null };
const open = { open: 'calm' };

describe('the approvals page', () => {
  it('asks a person without a session to sign in', () => {
    expect(after(done('opening', null))).toEqual({ state: 'signedOut', ...nothing });
  });

  it('shows the calls of a session, and a problem until the next read', () => {
    const calls = { waiting: [], decided: [] };
    expect(after(opened, read)).toEqual({ state: open, session, calls, problem: null, left: null });
    const problem = 'The agent is not responding.';
    const broken = after(opened, read, { type: 'calls.failed', problem });
    expect(broken).toEqual({ state: open, session, calls, problem, left: null });
    expect(after(opened, { type: 'calls.failed', problem }, read).problem).toBeNull();
  });

  it('drops all data when the session ends, also during the sign-out', () => {
    expect(after(opened, read, { type: 'session.ended' })).toEqual({ state: 'ended', ...nothing });
    const leaving = [opened, read, { type: 'sign-out' }] as const;
    expect(after(...leaving, { type: 'session.ended' }).state).toBe('signedOut');
    expect(after(...leaving, done('signingOut', null))).toEqual({ state: 'signedOut', ...nothing });
  });

  it('stays signed in when the sign-out fails, and ignores calls that arrive at that time', () => {
    const leaving = after(opened, { type: 'sign-out' }, read);
    expect([leaving.state, leaving.calls]).toEqual(['signingOut', null]);
    const stayed = after(opened, { type: 'sign-out' }, failed('signingOut'));
    expect([stayed.state, stayed.problem]).toEqual([open, 'The agent is not responding.']);
  });

  it('opens again after a failure', () => {
    expect(after(failed('opening')).state).toBe('failed');
    expect(after(failed('opening'), { type: 'retry' }).state).toBe('opening');
  });

  it('warns a minute before the session ends, and not after it is renewed', () => {
    const clock = new SimulatedClock();
    const snapshot = getNextSnapshot(
      pageMachine,
      getInitialSnapshot(pageMachine),
      opened as PageEvent,
    );
    const actor = createActor(pageMachine, { clock, snapshot }).start();
    const renew = (left: number) => actor.send({ type: 'session.renewed', left });
    renew(600_000);
    clock.increment(539_999);
    expect(actor.getSnapshot().value).toEqual({ open: 'calm' });
    clock.increment(1);
    expect(actor.getSnapshot().value).toEqual({ open: 'ending' });
    renew(90_000);
    expect(actor.getSnapshot().value).toEqual({ open: 'calm' });
    clock.increment(30_000);
    expect(actor.getSnapshot().value).toEqual({ open: 'ending' });
    actor.stop();
  });
});
