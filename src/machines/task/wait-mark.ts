/** The `_meta` key of a progress notification with the wait of a call; `null` ends the wait. */
export const waitsMark = 'holdpoint/waits';

/** The method of a request for the outcome of a call's task: `{task_id}`, answered with an `OutcomeMark`. */
export const outcomeMethod = 'holdpoint/outcome';

/** The wait of a call at an MCP server, in machine-readable form. */
export interface WaitMark {
  for: string;
  /** RFC 3339. */
  until: string | null;
}

/** The outcome of a call. */
export interface OutcomeMark {
  [key: string]: unknown;
  state: string;
  /** False if the call certainly never ran; `null` if unknown. */
  ran: false | null;
}

/** The `_meta` key of a call that requests its own wait instead of joining an equal waiting call. */
export const separateMark = 'holdpoint/separate';
