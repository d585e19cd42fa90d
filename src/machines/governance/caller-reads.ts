/** The parts of a verified token that conditions of rules read; callers carry no others. */
export interface CallerReads {
  groups: boolean;
  /** Names of claims. */
  claims: ReadonlySet<string>;
}

/** The reads of a policy without conditions on callers. */
export const nothingRead: CallerReads = { groups: false, claims: new Set() };
