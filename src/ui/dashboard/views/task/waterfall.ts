import type {
  DecisionJson,
  TimelineEntryJson,
} from '../../../../http/wire/dashboard/task-detail-json.ts';

/** The history of one tool call, layer by layer in evaluation order. */
export interface CallStory {
  id: string;
  tool: string;
  rows: LayerRow[];
  /** The argument changes by MODIFY, each value as JSON. */
  changes: readonly Change[];
  /** Milliseconds for governance, for the wait, and for the run; `null` for a phase that did not happen. */
  ruled: number;
  waited: number | null;
  ran: number | null;
}

export type Change = NonNullable<DecisionJson['changes']>[number];

export interface LayerRow {
  name: string;
  verdict: Verdict;
  reason: string;
  /** Milliseconds; `null` if the layer was not evaluated. */
  took: number | null;
  /** Position of its bar in percent of the width; `null` if it has no bar. */
  bar: { from: number; width: number } | null;
  isWait: boolean;
}

export type Verdict =
  | 'allow'
  | 'deny'
  | 'modify'
  | 'step up'
  | 'hold'
  | 'ran'
  | 'failed'
  | 'running'
  | 'not yet'
  | 'not asked';

/** The logged data of an event, regardless of its line. */
type Happened = Pick<TimelineEntryJson, 'at' | 'event' | 'fields'>;

interface Asked {
  name: string;
  verdict: Verdict;
  reason: string;
  took: number | null;
  isWait: boolean;
}

interface Call {
  id: string;
  tool: string;
  decisions: DecisionJson[];
  /** Epoch milliseconds; `null` if it has not happened. */
  heldAt: number | null;
  wait: number | null;
  wasRefused: boolean;
  startedAt: number | null;
  ran: number | null;
  error: string | null;
  /** True once another program has received the call; the end of the task says nothing about its run. */
  isReleased: boolean;
}

const layers = [
  ['intent_alignment', 'Intent'],
  ['step_up', 'Assurance'],
  ['modify', 'Modify'],
  ['defer', 'Approval'],
  ['credentials', 'Credentials'],
  ['run', 'Run'],
  ['output', 'Output'],
] as const;

const verdicts: Record<string, Verdict> = {
  allow: 'allow',
  deny: 'deny',
  modify: 'modify',
  step_up: 'step up',
  defer: 'hold',
};

/** Percent of the width for the layers if there is a wait or a run, which take longer by orders of magnitude. */
const shareOfLayers = 40;

/**
 * Builds the history of each call, oldest first. Runs and waits have no call ID in the log, so they are matched with
 * the calls of their tool in order; a task runs one call at a time.
 *
 * @param now epoch milliseconds up to which a pending wait or run is counted
 * @param isOver true if the task has ended
 */
export function callStories(
  decisions: readonly DecisionJson[],
  timeline: readonly Happened[],
  now: number,
  isOver: boolean,
): CallStory[] {
  const calls = callsOf(decisions);
  for (const entry of timeline) happen(calls, entry);
  return calls.map((call) => storyOf(call, now, isOver));
}

function callsOf(decisions: readonly DecisionJson[]): Call[] {
  const calls = new Map<string, Call>();
  for (const decision of decisions) {
    const { call_id: id, tool } = decision;
    if (id === undefined || tool === undefined) continue;
    const known = calls.get(id);
    if (known === undefined) {
      calls.set(id, {
        id,
        tool,
        decisions: [decision],
        heldAt: null,
        wait: null,
        wasRefused: false,
        startedAt: null,
        ran: null,
        error: null,
        isReleased: false,
      });
    } else known.decisions.push(decision);
  }
  return [...calls.values()];
}

function happen(calls: Call[], { event, at, fields }: Happened): void {
  const ofTool = calls.filter(({ tool }) => tool === fields['tool']);
  const held = ofTool.find(({ heldAt, wait }) => heldAt !== null && wait === null);
  const time = Date.parse(at);
  switch (event) {
    case 'task_deferred': {
      const next = ofTool.find((call) => call.heldAt === null && says(call, 'defer', 'defer'));
      if (next !== undefined) next.heldAt = time;
      break;
    }
    case 'task_deferred_decision':
      if (held === undefined || fields['authorized'] === false) break;
      // An approval below the quorum does not end the wait; the start of the call does.
      if (fields['decision'] === 'reject') end(held, fields['wait_ms']);
      break;
    case 'task_deferred_timeout':
    case 'task_deferred_abandoned':
      if (held !== undefined) end(held, fields['wait_ms']);
      break;
    case 'tool_exec':
      run(ofTool, fields, time);
      break;
    case 'hold_released': {
      const next = run(ofTool, { phase: 'start' }, time);
      if (next !== undefined) next.isReleased = true;
      break;
    }
    case 'hold_outcome':
      run(ofTool, { error: errorOfHold(fields) }, time);
      break;
    case 'hold_unaccounted':
      run(ofTool, { error: 'its program reported no outcome' }, time);
      break;
    default:
  }
}

/** The error that the program of a hold reported; `null` for none. */
function errorOfHold({ status, error }: Record<string, unknown>): string | null {
  if (status === 'succeeded') return null;
  if (typeof error === 'string') return error;
  return status === 'not_run' ? 'its program did not run it' : 'failed';
}

function end(call: Call, wait: unknown): void {
  call.wait = Number(wait);
  call.wasRefused = true;
}

/** Notes the start or the end of a run; returns its call, `undefined` for none. */
function run(ofTool: Call[], fields: Record<string, unknown>, at: number): Call | undefined {
  if (fields['phase'] === 'start') {
    const next = ofTool.find((call) => call.startedAt === null && mayRun(call));
    if (next === undefined) return undefined;
    next.startedAt = at;
    if (next.heldAt !== null) next.wait = at - next.heldAt;
    return next;
  }
  const running = ofTool.find(({ startedAt, ran }) => startedAt !== null && ran === null);
  if (running === undefined) return undefined;
  running.ran = Number(fields['duration_ms'] ?? at - (running.startedAt ?? at));
  running.error = typeof fields['error'] === 'string' ? fields['error'] : null;
  return running;
}

function mayRun(call: Call): boolean {
  const isStopped = call.decisions.some(
    ({ layer, decision }) => layer !== 'output' && (decision === 'deny' || decision === 'step_up'),
  );
  return !isStopped && !call.wasRefused;
}

function says(call: Call, layer: string, decision: string): boolean {
  return call.decisions.some((said) => said.layer === layer && said.decision === decision);
}

function storyOf(call: Call, now: number, isOver: boolean): CallStory {
  const asked = layers
    .map(
      ([layer, name]): Asked =>
        layer === 'run' ? runOf(call, now, isOver) : askedOf(call, layer, name, now, isOver),
    )
    .filter(({ name, took }) => took !== null || (name !== 'Credentials' && name !== 'Output'));
  const sum = (rows: Asked[]) => rows.reduce((total, { took }) => total + (took ?? 0), 0);
  const isRun = ({ name }: Asked) => name === 'Run';
  return {
    id: call.id,
    tool: call.tool,
    changes: call.decisions.flatMap(({ changes = [] }) => changes),
    rows: withBars(asked),
    ruled: call.decisions.reduce((total, { duration_ms }) => total + duration_ms, 0),
    waited: call.heldAt === null ? null : sum(asked.filter(({ isWait }) => isWait)),
    ran: call.startedAt === null ? null : sum(asked.filter(isRun)),
  };
}

function askedOf(call: Call, layer: string, name: string, now: number, isOver: boolean): Asked {
  const said = call.decisions.find((decision) => decision.layer === layer);
  if (said === undefined) {
    const verdict = !mayRun(call) || isOver ? 'not asked' : 'not yet';
    return { name, verdict, reason: '', took: null, isWait: false };
  }
  const { decision, reason, duration_ms: took } = said;
  const verdict = verdicts[decision] ?? 'deny';
  if (layer !== 'defer' || call.heldAt === null)
    return { name, verdict, reason, took, isWait: false };
  const waited = call.wait ?? Math.max(0, now - call.heldAt);
  return { name, verdict, reason, took: waited, isWait: true };
}

function runOf(call: Call, now: number, isOver: boolean): Asked {
  const name = 'Run';
  if (call.startedAt === null) {
    const verdict = !mayRun(call) || isOver ? 'not asked' : 'not yet';
    return { name, verdict, reason: '', took: null, isWait: false };
  }
  const took = call.ran ?? Math.max(0, now - call.startedAt);
  const isOpen = call.ran === null && (call.isReleased || !isOver);
  const reason = call.error ?? (isOpen && call.isReleased ? 'not reported yet' : '');
  const verdict = call.error !== null ? 'failed' : isOpen ? 'running' : 'ran';
  return { name, verdict, reason, took, isWait: false };
}

/** Places the bars in sequence. Layers share one scale; longer phases share the remaining width. */
function withBars(asked: Asked[]): LayerRow[] {
  const isLong = ({ name, isWait }: Asked) => name === 'Run' || isWait;
  const total = (rows: Asked[]) => rows.reduce((sum, { took }) => sum + (took ?? 0), 0);
  const long = asked.filter((row) => isLong(row) && row.took !== null);
  const ruled = total(asked.filter((row) => !isLong(row)));
  const forLayers = long.length === 0 ? 100 : shareOfLayers;
  // Each long phase gets an equal part of the width, because a wait would otherwise leave no width for the run.
  const forEach = long.length === 0 ? 0 : (100 - shareOfLayers) / long.length;
  let from = 0;
  return asked.map((row): LayerRow => {
    if (row.took === null) return { ...row, bar: null };
    const part = ruled === 0 ? 0 : (row.took / ruled) * forLayers;
    const width = long.includes(row) ? forEach : part;
    const bar = { from, width };
    from += width;
    return { ...row, bar };
  });
}
