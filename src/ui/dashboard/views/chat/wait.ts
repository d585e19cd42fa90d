import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import type {
  TaskDetailJson,
  TimelineEntryJson,
} from '../../../../http/wire/dashboard/task-detail-json.ts';
import { type CallStory, callStories } from '../task/waterfall.ts';
import type { Turn } from './turn.ts';

/** A call of a turn that waited for a person, and how many parts of the turn came before it. */
export interface Wait {
  deferral: DeferralJson;
  after: number;
}

const ends: ReadonlySet<string> = new Set([
  'task_deferred_decision',
  'task_deferred_timeout',
  'task_deferred_abandoned',
]);

/** Adds a call that waits to those of a turn; one that is there already, such as after one of two approvals, is renewed. */
export function withWait(waits: readonly Wait[], deferral: DeferralJson, after: number): Wait[] {
  const at = waits.findIndex((wait) => wait.deferral.id === deferral.id);
  const known = waits[at];
  if (known === undefined) return [...waits, { deferral, after }];
  return known.deferral === deferral ? [...waits] : waits.with(at, { ...known, deferral });
}

/** Finds what ended one of the waits of a turn, of which each began at its time; `null` while the log has nothing of it. */
export function endOf(
  began: readonly string[],
  place: number,
  timeline: readonly TimelineEntryJson[],
): TimelineEntryJson | null {
  const since = Date.parse(began[place] ?? '');
  const until = Date.parse(began[place + 1] ?? '9999-01-01');
  const over = timeline.filter(({ at, event, fields }) => {
    const time = Date.parse(at);
    return ends.has(event) && fields['authorized'] !== false && time >= since && time < until;
  });
  return over.at(-1) ?? null;
}

/** Finds the story of one of the waits of a turn: the newest wait has the newest story of a call that was held. */
export function storyOfWait(
  waits: readonly Wait[],
  place: number,
  stories: readonly CallStory[],
): CallStory | null {
  const held = stories.filter(({ waited }) => waited !== null);
  const story = held.at(place - waits.length) ?? null;
  return story?.tool === waits[place]?.deferral.tool ? story : null;
}

/** Tells how the calls of a turn were ruled on, oldest first; nothing of a task that was not read yet. */
export function storiesOf(
  detail: TaskDetailJson | null,
  now: number,
  isOver: boolean,
): CallStory[] {
  return detail === null ? [] : callStories(detail.decisions, detail.timeline, now, isOver);
}

/** Finds the story of the call at a place of a turn: the first run of a tool is the first that a turn shows of it. */
export function storyAt(
  stories: readonly CallStory[],
  parts: Turn['parts'],
  place: number,
): CallStory | null {
  const part = parts[place];
  if (part?.kind !== 'tool') return null;
  if (part.recalled !== undefined) return part.recalled.story;
  const isOfTool = (other: Turn['parts'][number]): boolean =>
    other.kind === 'tool' && other.tool === part.tool && other.recalled?.story.ran !== null;
  const before = parts.slice(0, place).filter(isOfTool).length;
  return stories.filter(({ tool, ran }) => tool === part.tool && ran !== null)[before] ?? null;
}
