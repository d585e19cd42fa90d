import type { ActorRefLike, InspectionEvent, Snapshot } from 'xstate';
import { describeChart } from './describe-chart.ts';
import { redactedText, redactFields, redactName } from './redact.ts';

/** The release of the Stately inspector whose event format this is. */
export const formatVersion = '0.7.2';

interface StatelyEnvelope {
  /** Counts the events of a stream, from 1. */
  id: string;
  rootId: string;
  sessionId: string;
  /** Epoch milliseconds. */
  createdAt: string;
  _version: string;
}

export interface ShownEvent {
  type: string;
  [key: string]: unknown;
}

export interface ShownSnapshot {
  status: Snapshot<unknown>['status'];
  value?: unknown;
  tags?: string[];
  context?: unknown;
  input?: unknown;
  output?: unknown;
  error?: string;
}

/** One event of the stream, in the format of the Stately inspector. */
export type StatelyEvent = StatelyEnvelope &
  (
    | {
        type: '@xstate.actor';
        name: string;
        parentId: string | undefined;
        /** The chart as JSON; of an actor without one, its name alone. */
        definition: string;
        snapshot: ShownSnapshot;
      }
    | { type: '@xstate.event'; sourceId: string | undefined; event: ShownEvent }
    | { type: '@xstate.snapshot'; event: ShownEvent; snapshot: ShownSnapshot }
  );

/**
 * Puts an inspection event into Stately's format with everything private taken out.
 * Returns `null` for kinds the format does not know.
 */
export function statelyEvent(
  inspection: InspectionEvent,
  { id, at }: { id: number; at: number },
): StatelyEvent | null {
  const { rootId, actorRef } = inspection;
  const envelope: StatelyEnvelope = {
    id: String(id),
    rootId,
    sessionId: actorRef.sessionId,
    createdAt: String(at),
    _version: formatVersion,
  };
  switch (inspection.type) {
    case '@xstate.actor':
      return { type: '@xstate.actor', ...envelope, ...shownActor(actorRef) };
    case '@xstate.event':
      return {
        type: '@xstate.event',
        ...envelope,
        sourceId: inspection.sourceRef?.sessionId,
        event: shownEvent(inspection.event),
      };
    case '@xstate.snapshot':
      return {
        type: '@xstate.snapshot',
        ...envelope,
        event: shownEvent(inspection.event),
        snapshot: shownSnapshot(inspection.snapshot),
      };
    default:
      return null;
  }
}

function shownActor(actorRef: ActorRefLike): {
  name: string;
  parentId: string | undefined;
  definition: string;
  snapshot: ShownSnapshot;
} {
  const { id, sessionId, _parent, logic } = actorRef as ActorRefLike & {
    id?: string;
    _parent?: ActorRefLike;
    logic?: { config?: unknown; id?: string };
  };
  const chart = typeof logic?.config === 'object' && logic.config !== null ? logic.config : null;
  const name = redactName((id === sessionId ? logic?.id : id) ?? sessionId);
  return {
    name,
    parentId: _parent?.sessionId,
    definition: chart === null ? JSON.stringify({ id: name }) : describeChart(chart),
    // An actor is announced before it has a snapshot; the first one follows in an event of its own.
    snapshot: { status: 'active' },
  };
}

function shownEvent(event: { type: string }): ShownEvent {
  return { ...redactFields(event), type: redactName(event.type) };
}

function shownSnapshot(snapshot: Snapshot<unknown>): ShownSnapshot {
  const { status } = snapshot;
  const { value, tags, context, input, output, error } = snapshot as {
    [key in keyof ShownSnapshot]: unknown;
  };
  return {
    status,
    ...(value === undefined ? {} : { value }),
    ...(tags instanceof Set ? { tags: [...tags].map(String) } : {}),
    ...(context === undefined ? {} : { context: shownPayload(context) }),
    ...(input === undefined ? {} : { input: shownPayload(input) }),
    ...(output === undefined ? {} : { output: shownPayload(output) }),
    ...(error === undefined ? {} : { error: redactedText }),
  };
}

function shownPayload(payload: unknown): unknown {
  if (payload === null) return null;
  return typeof payload === 'object' && !Array.isArray(payload)
    ? redactFields(payload)
    : redactedText;
}
