import type { EnteredState } from '../../machines/task/entered-state.ts';
import { describeChart } from './describe-chart.ts';
import { redactedText, redactFields, redactName } from './redact.ts';
import { formatVersion, type ShownSnapshot, type StatelyEvent } from './stately-event.ts';

/** The stored path of an actor through its chart. */
export interface KeptWay {
  /** Name of the actor in the live stream. */
  name: string;
  /** Configuration of the chart version that was stored; `null` if it is no longer available. */
  chart: object | null;
  /** Oldest first. */
  states: readonly EnteredState[];
  /** Number of states after the first one that are not stored. */
  leftOut: number;
  isFinal: (state: string) => boolean;
  /** The stored context, which belongs to the last state; `null` for none. */
  context: object | null;
}

type Body<Event> = Event extends unknown
  ? Omit<Event, 'id' | 'rootId' | 'sessionId' | '_version'>
  : never;

/**
 * Converts the stored path of an actor to the format of the Stately inspector, redacted like the live stream: an event
 * and a snapshot for each entered state. Events without a state change, and earlier contexts, are not stored.
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
    events.push({ type: '@xstate.event', createdAt, sourceId: undefined, event: said });
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

/** Converts `working.thinking` to a chart's state value, `{working: 'thinking'}`. */
function valueOf(path: string): unknown {
  const [name = '', ...inner] = path.split('.');
  if (redactName(name) !== name) return redactedText;
  return inner.length === 0 ? name : { [name]: valueOf(inner.join('.')) };
}
