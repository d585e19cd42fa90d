import type { ActorRefLike, InspectionEvent, Snapshot } from 'xstate';
import { describeChart } from './describe-chart.ts';
import { redactedText, redactFields, redactName } from './redact.ts';

/** Release of the Stately inspector that defines this event format. */
export const formatVersion = '0.7.2';

interface StatelyEnvelope {
  /** Sequence number in the stream, from 1. */
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
        /** The chart as JSON; for an actor without a chart, only its name. */
        definition: string;
        snapshot: ShownSnapshot;
      }
    | { type: '@xstate.event'; sourceId: string | undefined; event: ShownEvent }
    | { type: '@xstate.snapshot'; event: ShownEvent; snapshot: ShownSnapshot }
  );

/**
 * Converts an inspection event to Stately's format with all private data removed. Returns `null` for kinds that the
 * format lacks.
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
    // An actor is announced before it has a snapshot; its first snapshot follows in a separate event.
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
