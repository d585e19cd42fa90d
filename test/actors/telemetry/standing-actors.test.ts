import { expect, it } from 'vitest';
import { StandingActors } from '../../../src/actors/telemetry/standing-actors.ts';
import type { StatelyEvent } from '../../../src/actors/telemetry/stately-event.ts';

let count = 0;

function envelope(sessionId: string) {
  count += 1;
  return { id: String(count), rootId: 'x:0', sessionId, createdAt: '0', _version: '0.7.2' };
}

function announced(name: string, sessionId: string, parentId?: string): StatelyEvent {
  const snapshot = { status: 'active' as const };
  return {
    type: '@xstate.actor',
    ...envelope(sessionId),
    name,
    parentId,
    definition: '{}',
    snapshot,
  };
}

function shown(sessionId: string, status: 'active' | 'done' | 'stopped' = 'active'): StatelyEvent {
  return {
    type: '@xstate.snapshot',
    ...envelope(sessionId),
    event: { type: 'tick' },
    snapshot: { status },
  };
}

/** What is kept of events that are sent as `a`, `b`, `c` and so on. */
function kept(maximumBytes: number, ...events: StatelyEvent[]): string[] {
  const actors = new StandingActors(maximumBytes);
  for (const [index, event] of events.entries()) actors.note(event, 'abcdef'.charAt(index));
  return actors.all();
}

it('the actor list keeps the registration and the last state of the root and its children, in order', () => {
  const events = [
    announced('registry', 'x:0'),
    announced('r1', 'x:1', 'x:0'),
    shown('x:1'),
    shown('x:0'),
    shown('x:1', 'stopped'),
  ];
  expect(kept(100, ...events)).toEqual(['a', 'b', 'd', 'e']);
});

it('the actor list keeps nothing of the children of a task, nor of an unregistered actor', () => {
  const events = [announced('thinking', 'x:2', 'x:1'), shown('x:2'), shown('x:7')];
  expect(kept(100, ...events)).toEqual([]);
});

it('the actor list has a parked and woken task under its newest actor only', () => {
  const events = [
    announced('r1', 'x:1', 'x:0'),
    shown('x:1', 'stopped'),
    announced('r1', 'x:2', 'x:0'),
    shown('x:2'),
    shown('x:1'),
  ];
  expect(kept(100, ...events)).toEqual(['c', 'd']);
});

it('the actor list drops ended actors first, then the longest silent ones', () => {
  const events = [
    announced('registry', 'x:0'),
    announced('r1', 'x:1', 'x:0'),
    announced('r2', 'x:2', 'x:0'),
    shown('x:2', 'done'),
    announced('r3', 'x:3', 'x:0'),
    announced('r4', 'x:4', 'x:0'),
  ];
  expect(kept(4, ...events)).toEqual(['a', 'b', 'e', 'f']);
  expect(kept(2, ...events)).toEqual(['e', 'f']);
});
