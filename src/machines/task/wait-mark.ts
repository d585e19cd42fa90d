/** The key of a progress notification's `_meta` that says what a call waits for; `null` there ends the wait. */
export const waitsMark = 'holdpoint/waits';

/** The method of a request that asks what became of the task of a call: `{task_id}`, answered with an `OutcomeMark`. */
export const outcomeMethod = 'holdpoint/outcome';

/** What a call waits for at an MCP server, for programs to read. */
export interface WaitMark {
  for: string;
  /** RFC 3339. */
  until: string | null;
}

/** What became of a call. */
export interface OutcomeMark {
  [key: string]: unknown;
  state: string;
  /** False when the call certainly never ran; `null` when nobody knows. */
  ran: false | null;
}

/** The key of a call's `_meta` that asks for a wait of its own beside an equal call that waits. */
export const separateMark = 'holdpoint/separate';
