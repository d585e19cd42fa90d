import type {
  TaskDetailJson,
  TimelineEntryJson,
} from '../../../../http/wire/dashboard/task-detail-json.ts';
import { isFinal } from '../../../../machines/domain/task.ts';
import type { CallStory } from '../task/waterfall.ts';
import type { Part, Turn } from './turn.ts';
import { endOf, storiesOf } from './wait.ts';

type ToolPart = Extract<Part, { kind: 'tool' }>;

/**
 * Inserts a task's calls before the answer of its turn, which is identified by its message IDs. Omits held calls, calls
 * already received from the stream, and a running task whose stream is not read.
 *
 * @param id ID of the task
 */
export function withRecalled(turns: readonly Turn[], id: string, detail: TaskDetailJson): Turn[] {
  const said = messageIdsOf(detail.task);
  const place = turns.findLastIndex(
    ({ task, message }) => task === id || (task === null && said.has(message)),
  );
  const turn = turns[place];
  if (turn === undefined || turn.parts.some(isRecalled)) return [...turns];
  const isTold = turn.task === id;
  const over = isFinal(detail.state);
  if (!isTold && !over) return [...turns];
  const calls = withoutStreamed(callsOf(detail, over), turn.parts);
  // The state of a streamed task is reported by its stream.
  const became = isTold ? {} : { task: id, state: detail.state, note: noteOf(detail) };
  return turns.with(place, { ...turn, ...became, parts: [...calls, ...turn.parts] });
}

function isRecalled(part: Part): boolean {
  return part.kind === 'tool' && part.recalled !== undefined;
}

function callsOf(detail: TaskDetailJson, over: boolean): ToolPart[] {
  const deferred = detail.timeline.filter(({ event }) => event === 'task_deferred');
  const since = deferred.map(({ at }) => at);
  const stories = storiesOf(detail, Date.parse(detail.changed_at), over);
  const held = stories.filter(({ waited }) => waited !== null);
  return stories.filter(hasBegunOrEnded).map((story) => {
    const { tool } = story;
    const isRunning = runOf(story) === 'running';
    // A running call ends through the stream and is then loaded again.
    if (isRunning) return { kind: 'tool', tool, running: true };
    const wait = held.indexOf(story);
    const end: TimelineEntryJson | null = wait < 0 ? null : endOf(since, wait, detail.timeline);
    return { kind: 'tool', tool, running: false, recalled: { story, end } };
  });
}

function hasBegunOrEnded(story: CallStory): boolean {
  return runOf(story) !== 'not yet';
}

function runOf({ rows }: CallStory) {
  return rows.find(({ name }) => name === 'Run')?.verdict;
}

/** Drops the newest runs of a tool, as many as the stream has reported. */
function withoutStreamed(calls: readonly ToolPart[], streamed: readonly Part[]): ToolPart[] {
  const ran = ({ running, recalled }: ToolPart) =>
    running || typeof recalled?.story.ran === 'number';
  const kept = [...calls];
  for (const part of streamed) {
    if (part.kind !== 'tool') continue;
    const known = kept.findLastIndex((call) => call.tool === part.tool && ran(call));
    if (known !== -1) kept.splice(known, 1);
  }
  return kept;
}

function noteOf({ state, text }: TaskDetailJson): string {
  return state === 'completed' ? '' : text;
}

function messageIdsOf(task: unknown): ReadonlySet<unknown> {
  const { history } = Object(task) as { history?: unknown };
  const messages: unknown[] = Array.isArray(history) ? history : [];
  const ids = messages.map((one) => (Object(one) as { messageId?: unknown }).messageId);
  return new Set(ids.filter((one) => typeof one === 'string'));
}
