import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import type {
  TaskDetailJson,
  TimelineEntryJson,
} from '../../../../http/wire/dashboard/task-detail-json.ts';
import { type CallStory, callStories } from '../task/waterfall.ts';
import type { Turn } from './turn.ts';

/** A held call of a turn, and the number of parts before it. */
export interface Wait {
  deferral: DeferralJson;
  after: number;
}

const ends: ReadonlySet<string> = new Set([
  'task_deferred_decision',
  'task_deferred_timeout',
  'task_deferred_abandoned',
]);

/** Adds a held call to a turn's waits. An existing wait is updated, for example after one of two approvals. */
export function withWait(waits: readonly Wait[], deferral: DeferralJson, after: number): Wait[] {
  const at = waits.findIndex((wait) => wait.deferral.id === deferral.id);
  const known = waits[at];
  if (known === undefined) return [...waits, { deferral, after }];
  return known.deferral === deferral ? [...waits] : waits.with(at, { ...known, deferral });
}

/** Finds the event that ended one of a turn's waits, by its start time; `null` while the log has none. */
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

/** Finds the decisions for one of a turn's waits: the newest wait belongs to the newest held call. */
export function storyOfWait(
  waits: readonly Wait[],
  place: number,
  stories: readonly CallStory[],
): CallStory | null {
  const held = stories.filter(({ waited }) => waited !== null);
  const story = held.at(place - waits.length) ?? null;
  return story?.tool === waits[place]?.deferral.tool ? story : null;
}

/** Returns the decisions on a turn's calls, oldest first; empty for a task that has not been loaded. */
export function storiesOf(
  detail: TaskDetailJson | null,
  now: number,
  isOver: boolean,
): CallStory[] {
  return detail === null ? [] : callStories(detail.decisions, detail.timeline, now, isOver);
}

/**
 * Finds the decisions for the call at a position in a turn: the first run of a tool is the first one shown in the turn.
 */
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
