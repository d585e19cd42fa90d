import type {
  OverviewAgentJson,
  OverviewDayJson,
  OverviewFailureJson,
  OverviewPersonJson,
  OverviewSpanJson,
} from '../../http/wire/dashboard/overview-json.ts';
import { eventOfWait } from '../../machines/domain/hold-events.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';

/** A call that waited: how the wait ended, and what became of the call. */
interface Wait {
  agent: string;
  tool: string;
  end: 'waiting' | 'approved' | 'changed' | 'rejected' | 'expired' | 'abandoned';
  /** Epoch milliseconds. */
  endedAt: number;
  waited: number;
  outcome: 'none' | 'succeeded' | 'failed';
  error: string;
  task: string;
  failedAt: number;
}

interface Person {
  times: number[];
  rejected: number;
}

/** Calls and people beyond these counts are omitted, so that a large log fills no memory. */
const mostWaits = 200_000;
const mostPeople = 1_000;

/** Largest number of one line that counts; a sum of any lines stays finite. */
const mostAtOnce = 1e12;

/** Length of the strip of states in milliseconds. */
const stripTime = 86_400_000;

/** The range of figures in epoch milliseconds, and the zone of its days. */
export interface FiguresRange {
  from: number;
  to: number;
  zone: string;
}

/** Adds up what people decided and what agents did, from the events of their logs in order. */
export class LogFigures {
  readonly #range: FiguresRange;
  readonly #waits = new Map<string, Wait>();
  readonly #people = new Map<string, Person>();
  readonly #agents = new Map<string, AgentFigures>();
  readonly #dayOf: (at: number) => string;

  constructor(range: FiguresRange) {
    this.#range = range;
    this.#dayOf = daysIn(range.zone);
  }

  /** Adds an agent without events. */
  add(agent: string): void {
    this.#agents.set(agent, new AgentFigures(this.#range));
  }

  /** Reads the next event of an agent's log. */
  read(agent: string, value: JsonValue | undefined): void {
    if (!isJsonObject(value) || typeof value['event'] !== 'string') return;
    const at = Date.parse(text(value['ts']));
    if (!(at >= this.#range.from && at <= this.#range.to)) return;
    const fields = isJsonObject(value['fields']) ? value['fields'] : {};
    const event = eventOfWait(value['event']);
    const task = text(value['task_id']);
    this.#agents.get(agent)?.read(event, { at, fields, task });
    this.#readWait(event, { agent, at, fields, task });
  }

  /** Returns the figures of all events that were read. */
  figures() {
    const settled = [...this.#waits.values()].filter(({ end }) => decided.has(end));
    return {
      days: this.#days(settled),
      ...timesToDecide(settled),
      people: this.#listPeople(),
      failures: failuresOf([...this.#waits.values()]),
      agents: [...this.#agents].map(([id, figures]) => figures.figures(id)),
    };
  }

  #readWait(
    event: string,
    { agent, at, fields, task }: { agent: string; at: number; fields: JsonObject; task: string },
  ): void {
    const call = text(fields['call_id']);
    if (call === '') return;
    const key = JSON.stringify([agent, task, call]);
    const known = this.#waits.get(key);
    if (event === 'tool_exec' && fields['phase'] === 'end') return ended(known, at, fields);
    if (event === 'hold_outcome')
      return ended(known, at, { ...fields, outcome: fields['status'] ?? null });
    const end = endOf(event, fields);
    if (end === null || (known === undefined && this.#waits.size >= mostWaits)) return;
    const waited = typeof fields['wait_ms'] === 'number' ? fields['wait_ms'] : 0;
    const wait: Wait = {
      ...{ agent, task, tool: text(fields['tool']), end, endedAt: at, waited },
      ...{ outcome: 'none', error: '', failedAt: 0 },
    };
    // A rejection ends the wait, regardless of earlier approvals of others.
    this.#waits.set(
      key,
      known?.end === 'changed' && end === 'approved' ? { ...wait, end: 'changed' } : wait,
    );
    if (event === 'task_deferred_decision')
      this.#countPerson(text(fields['approver']), end, waited);
  }

  #countPerson(name: string, end: Wait['end'], waited: number): void {
    const person = this.#people.get(name) ?? { times: [], rejected: 0 };
    if (!this.#people.has(name) && this.#people.size >= mostPeople) return;
    this.#people.set(name, person);
    person.times.push(waited);
    if (end === 'rejected') person.rejected += 1;
  }

  #days(settled: readonly Wait[]): OverviewDayJson[] {
    const days = new Map<string, { waits: Wait[]; failed: number }>();
    for (const day of daysOf(this.#range, this.#dayOf)) days.set(day, { waits: [], failed: 0 });
    for (const wait of settled) days.get(this.#dayOf(wait.endedAt))?.waits.push(wait);
    for (const { outcome, failedAt } of settled) {
      const day = outcome === 'failed' ? days.get(this.#dayOf(failedAt)) : undefined;
      if (day !== undefined) day.failed += 1;
    }
    return [...days].map(([day, { waits, failed }]) => {
      const count = (end: Wait['end']) => waits.filter((wait) => wait.end === end).length;
      return {
        ...{ day, approved: count('approved'), changed: count('changed') },
        ...{ rejected: count('rejected'), expired: count('expired'), failed },
        ...timesToDecide(waits),
      };
    });
  }

  #listPeople(): OverviewPersonJson[] {
    return [...this.#people]
      .map(([name, { times, rejected }]) => ({
        ...{ name, decisions: times.length, rejected },
        median_ms: quantile(ascending(times), 0.5) ?? 0,
      }))
      .toSorted(
        (one, other) => other.decisions - one.decisions || (one.name < other.name ? -1 : 1),
      );
  }
}

const decided: ReadonlySet<Wait['end']> = new Set(['approved', 'changed', 'rejected', 'expired']);

function endOf(event: string, fields: JsonObject): Wait['end'] | null {
  if (event === 'task_deferred') return 'waiting';
  if (event === 'task_deferred_timeout') return 'expired';
  if (event === 'task_deferred_abandoned') return 'abandoned';
  if (event !== 'task_deferred_decision' || fields['authorized'] === false) return null;
  if (fields['decision'] !== 'approve') return 'rejected';
  return fields['edited_args_sha256'] === undefined ? 'approved' : 'changed';
}

function ended(wait: Wait | undefined, at: number, { outcome, error }: JsonObject): void {
  if (wait === undefined || (wait.end !== 'approved' && wait.end !== 'changed')) return;
  if (outcome === 'not_run') return;
  wait.outcome = outcome === 'succeeded' ? 'succeeded' : 'failed';
  if (wait.outcome === 'succeeded') return;
  wait.failedAt = at;
  wait.error = outcome === 'unknown' ? text(error) || 'outcome unknown' : text(error);
}

function failuresOf(waits: readonly Wait[]): OverviewFailureJson[] {
  const ran = waits.filter(({ outcome }) => outcome !== 'none');
  const byTool = Map.groupBy(ran, ({ agent, tool }) => JSON.stringify([agent, tool]));
  return [...byTool.values()]
    .flatMap((some): OverviewFailureJson[] => {
      const failed = some.filter(({ outcome }) => outcome === 'failed');
      const last = failed.toSorted((one, other) => one.failedAt - other.failedAt).at(-1);
      if (last === undefined) return [];
      const { agent, tool, error, task } = last;
      return [
        {
          ...{ agent_id: agent, tool, failed: failed.length, ran: some.length },
          ...{ last_error: error, task_id: task },
        },
      ];
    })
    .toSorted((one, other) => other.failed - one.failed);
}

/** The tokens of an agent, and when it worked or waited. */
class AgentFigures {
  readonly #range: FiguresRange;
  readonly #stripFrom: number;
  #input = 0;
  #output = 0;
  /** Starts of what has not ended, by task and call. */
  readonly #open = { working: new Map<string, number>(), waiting: new Map<string, number>() };
  readonly #spans: OverviewSpanJson[] = [];

  constructor(range: FiguresRange) {
    this.#range = range;
    this.#stripFrom = Math.max(range.from, range.to - stripTime);
  }

  read(
    event: string,
    { at, fields, task }: { at: number; fields: JsonObject; task: string },
  ): void {
    if (event === 'llm_call') {
      this.#input += numberOf(fields['input_tokens']);
      this.#output += numberOf(fields['output_tokens']);
    }
    const call = `${task} ${text(fields['call_id'])}`;
    const waited = numberOf(fields['wait_ms']);
    if (event === 'session_start') this.#open.working.set(task, at);
    else if (event === 'session_end') this.#end('working', task, at, at);
    else if (event === 'task_deferred') this.#open.waiting.set(call, at);
    else if (endOf(event, fields) !== null) this.#end('waiting', call, at, at - waited);
  }

  figures(agent: string): OverviewAgentJson {
    const { to } = this.#range;
    const open = (['working', 'waiting'] as const).flatMap((state) =>
      [...this.#open[state].values()].map((from) => ({ from, to, state })),
    );
    const spans = [...this.#spans, ...open];
    return {
      ...{ agent_id: agent, input_tokens: this.#input, output_tokens: this.#output },
      spans: (['working', 'waiting'] as const).flatMap((state) =>
        joined(spans.filter((span) => span.state === state && span.to > this.#stripFrom)).map(
          ({ from, to: end }) => ({ from: Math.max(from, this.#stripFrom), to: end, state }),
        ),
      ),
    };
  }

  /** @param began when it began if its first event is before the range */
  #end(state: OverviewSpanJson['state'], key: string, at: number, began: number): void {
    const from = this.#open[state].get(key) ?? began;
    this.#open[state].delete(key);
    if (at > this.#stripFrom) this.#spans.push({ from, to: at, state });
  }
}

/** Joins spans that overlap, or are less than a pixel of the strip apart. */
function joined(spans: readonly OverviewSpanJson[]): OverviewSpanJson[] {
  const gap = stripTime / 1_000;
  const result: OverviewSpanJson[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    const last = result.at(-1);
    if (last !== undefined && span.from <= last.to + gap) last.to = Math.max(last.to, span.to);
    else result.push({ ...span });
  }
  return result;
}

/** Returns how long people needed for their decisions, without waits that expired. */
function timesToDecide(waits: readonly Wait[]): Pick<OverviewDayJson, 'p50_ms' | 'p95_ms'> {
  const decidedOn = waits.filter(({ end }) => end !== 'expired');
  const times = ascending(decidedOn.map(({ waited }) => waited));
  return { p50_ms: quantile(times, 0.5), p95_ms: quantile(times, 0.95) };
}

function ascending(values: readonly number[]): number[] {
  return values.toSorted((one, other) => one - other);
}

/** Returns the value below which a share of sorted values lies; `null` for none. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

/** Returns a function to the day of a time in a zone, such as `2026-11-24`; it remembers the days of hours. */
function daysIn(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    ...{ timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' },
  });
  // Zones differ by quarters of an hour.
  const quarter = 900_000;
  const known = new Map<number, string>();
  return (at) => {
    const slot = Math.floor(at / quarter);
    const day = known.get(slot) ?? format.format(slot * quarter);
    known.set(slot, day);
    return day;
  };
}

function daysOf({ from, to }: FiguresRange, dayOf: (at: number) => string): Set<string> {
  const days = new Set<string>();
  for (let at = from; at < to; at += 43_200_000) days.add(dayOf(at));
  return days.add(dayOf(to));
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' && value > 0 ? Math.min(value, mostAtOnce) : 0;
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
