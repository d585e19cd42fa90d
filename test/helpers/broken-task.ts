import type { JsonObject, JsonValue } from '../../src/machines/json.ts';

/** What is read of a line of the log. */
export interface TaskLine {
  event: string;
  seq?: number;
  fields?: JsonObject;
}

/** The tool of a task that is held, and one that is denied where there is one. */
interface ToolsOfTask {
  held: string;
  denied?: string;
}

/** The ways in which a wait ends. */
const resolutions = ['task_deferred_decision', 'task_deferred_timeout', 'task_deferred_abandoned'];

/**
 * Plays the log of one task and returns what cannot have been: a gap in `seq`, a wait that ended twice, a held tool
 * without the approval right before it, a step in the middle of another, anything but a new run after the end.
 */
export function brokenTask(events: readonly TaskLine[], { held, denied }: ToolsOfTask): string[] {
  const broken: string[] = [];
  const claim = (holds: boolean, what: string): void => {
    if (!holds) broken.push(what);
  };
  let [isPending, isReleased, isRunning, hasEnded, isEdited] = [false, false, false, false, false];
  let approved: JsonValue | undefined;
  let due = 1;
  for (const { event, seq, fields = {} } of events) {
    // A message to channels and receivers is no step of the task.
    if (seq === undefined) continue;
    claim(seq === due, `line ${seq} stands where ${due} was due`);
    due += 1;
    claim(!hasEnded || event === 'session_start', `${event} after the end`);
    if (event === 'session_start') [hasEnded, isReleased] = [false, false];
    else if (event === 'task_deferred') {
      // A call that an approver changed may be held again.
      const isAgain = isEdited && fields['edited_from'] !== undefined;
      const isFree = !isPending && !isRunning && (!isReleased || isAgain);
      claim(isFree, 'a wait began in the middle of another step');
      [isPending, isReleased] = [true, false];
    } else if (resolutions.includes(event) && fields['authorized'] !== false) {
      claim(isPending, `${event} without a wait`);
      isPending = false;
      isReleased = fields['decision'] === 'approve';
      isEdited = fields['edited_args_sha256'] !== undefined;
      approved = fields['edited_args_sha256'] ?? fields['args_sha256'];
    } else if (event === 'tool_exec' && fields['phase'] === 'start') {
      claim(fields['tool'] !== denied, 'a tool that is denied was started');
      claim(fields['tool'] !== held || isReleased, 'a held tool was started without an approval');
      const isSame = fields['tool'] !== held || fields['args_sha256'] === approved;
      claim(isSame, 'a held tool was started with other arguments than were approved');
      claim(!isRunning, 'a tool was started while another ran');
      [isReleased, isRunning] = [false, true];
    } else if (event === 'tool_exec') {
      claim(isRunning, 'a tool ended that did not run');
      isRunning = false;
    } else if (event === 'session_end') {
      claim(!isPending && !isRunning, 'the end came in the middle of a step');
      hasEnded = true;
    }
  }
  return broken;
}
