import type { DashboardEvents } from '../../../http/wire/dashboard/dashboard-events.ts';

/** One event of the server's stream, in the format passed between tabs. */
export type StreamEvent = {
  [Name in keyof DashboardEvents]: { id: string; name: Name; data: DashboardEvents[Name] };
}[keyof DashboardEvents];

const names: Record<StreamEvent['name'], true> = {
  agent_status: true,
  agent_created: true,
  agent_removed: true,
  deferral: true,
  task: true,
  sign_in: true,
  reset: true,
};

/** Parses an event from the fields of the stream; `null` for an unknown event. */
export function readStreamEvent(fields: {
  id: string;
  event: string | undefined;
  data: string;
}): StreamEvent | null {
  if (fields.event === undefined || !Object.hasOwn(names, fields.event)) return null;
  // The data comes from the same server as this page and is trusted.
  const data = JSON.parse(fields.data) as unknown;
  return { id: fields.id, name: fields.event, data } as StreamEvent;
}
