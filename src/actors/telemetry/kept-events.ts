import type { EnteredState } from '../../machines/task/entered-state.ts';
import { describeChart } from './describe-chart.ts';
import { redactedText, redactFields, redactName } from './redact.ts';
import { formatVersion, type ShownSnapshot, type StatelyEvent } from './stately-event.ts';

/** The way of an actor through its chart as a store kept it, and not as it was watched. */
export interface KeptWay {
  /** The name that the actor has in the stream of the live system. */
  name: string;
  /** The configuration of the chart that kept it; `null` when that is not at hand any more. */
  chart: object | null;
  /** Oldest first. */
  states: readonly EnteredState[];
  /** The number of states after the first one that are not kept. */
  leftOut: number;
  isFinal: (state: string) => boolean;
  /** What is kept of its context, and belongs to the last state; `null` for nothing. */
  context: object | null;
}

type Body<Event> = Event extends unknown
  ? Omit<Event, 'id' | 'rootId' | 'sessionId' | '_version'>
  : never;

/**
 * Writes what a store kept of an actor in the format of the Stately inspector, redacted as the stream of the live system
 * is: an event and a snapshot for each state that it entered. What changed no state was not kept, nor was the context of
 * any state but the last.
 */
export function keptEvents(way: KeptWay): StatelyEvent[] {
  const { chart, states, leftOut, isFinal, context } = way;
  const name = redactName(way.name);
  const [first] = states;
  const events: Body<StatelyEvent>[] = [
    {
      type: '@xstate.actor',
      createdAt: String(first?.at ?? 0),
      name,
      parentId: undefined,
      definition: chart === null ? JSON.stringify({ id: name }) : describeChart(chart),
      snapshot: { status: 'active' },
    },
  ];
  for (const [index, { state, event, at }] of states.entries()) {
    const createdAt = String(at);
    const said = { type: redactName(event) };
    if (index === 1 && leftOut > 0) {
      const gap = { type: 'states.left_out', count: leftOut };
      events.push({ type: '@xstate.event', createdAt, sourceId: undefined, event: gap });
    }
    // A transition that needs no event follows in the turn of the one before.
    if (event !== 'always') {
      events.push({ type: '@xstate.event', createdAt, sourceId: undefined, event: said });
    }
    const isLast = index === states.length - 1;
    const snapshot: ShownSnapshot = {
      status: isFinal(state) ? 'done' : 'active',
      value: valueOf(state),
      ...(isLast && context !== null ? { context: redactFields(context) } : {}),
    };
    events.push({ type: '@xstate.snapshot', createdAt, event: said, snapshot });
  }
  const envelope = { rootId: name, sessionId: name, _version: formatVersion };
  return events.map((event, index) => ({ ...event, ...envelope, id: String(index + 1) }));
}

/** Turns `working.thinking` into the value of a chart, `{working: 'thinking'}`. */
function valueOf(path: string): unknown {
  const [name = '', ...inner] = path.split('.');
  if (redactName(name) !== name) return redactedText;
  return inner.length === 0 ? name : { [name]: valueOf(inner.join('.')) };
}
