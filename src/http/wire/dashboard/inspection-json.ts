/** A task's path in the format of the Stately inspector: `GET /api/agents/{id}/tasks/{tid}/inspection`. */
export interface InspectionJson {
  /** Oldest first. */
  events: object[];
}
