/** What a turn of park → approve → complete measured. */
export interface Turn {
  perSecond: number;
  /** CPU milliseconds of a run, those of the peer's server included. */
  cpu: number;
}

/** What many runs at rest cost; bytes are those of one run. */
export interface Parked {
  parked: number;
  seconds: number;
  heap: number;
  resident: number;
  /** Null where there is no server. */
  server: number | null;
  /** Seconds from the start of a new process to the completion of three of the runs, or why there is none. */
  resumed: number | string;
}

/** What two approvals of one run at the same moment led to. */
export interface Race {
  runs: number;
  toolRuns: number;
  accepted: number;
}

/** A value, or one sentence that says why there is none. */
export type Or<Value> = Value | string;

/** All that was measured of a peer. */
export interface Peer {
  name: string;
  durability: string;
  /** With one caller, right after its start. */
  cold: Or<Turn>;
  one: Or<Turn>;
  many: Or<Turn>;
  race: Or<Race>;
  /** Null where it was not asked for. */
  parked: Or<Parked> | null;
}

/** Returns the median of each value of the turns. */
export function medianTurn(turns: readonly Turn[]): Turn {
  return {
    perSecond: median(turns.map(({ perSecond }) => perSecond)),
    cpu: median(turns.map(({ cpu }) => cpu)),
  };
}

/** Writes what was measured of all peers as two tables of Markdown. */
export function tablesOf(peers: readonly Peer[], wanted: number): string {
  const approvals = peers.map(({ name, durability, cold, one, many, race }) => [
    name,
    durability,
    cell(cold, rate),
    cell(one, rate),
    cell(many, rate),
    cell(race, often),
  ]);
  const rests = peers.flatMap(({ name, parked }) => {
    if (parked === null) return [];
    if (typeof parked === 'string') return [[name, notMeasured(parked), '', '', '']];
    return [[name, ...restOf(parked, wanted)]];
  });
  return [
    '| park → approve → complete | what is on disk | first second, 1 at once | 1 at once | 64 at once | two approvals at the same moment |',
    '|---|---|---|---|---|---|',
    ...approvals.map(row),
    '',
    `| ${count(wanted)} waiting runs | parked in | memory of each | of its server | restart to resumed |`,
    '|---|---|---|---|---|',
    ...rests.map(row),
  ].join('\n');
}

function cell<Value>(measured: Or<Value>, say: (value: Value) => string): string {
  return typeof measured === 'string' ? notMeasured(measured) : say(measured as Value);
}

/** One line, as a cell of a table holds no more. */
function notMeasured(reason: string): string {
  return `not measured: ${reason.replaceAll(/\s+/g, ' ').replaceAll('|', '/').trim().slice(0, 160)}`;
}

function rate({ perSecond, cpu }: Turn): string {
  return `${count(perSecond)}/s, ${cpu.toFixed(2)} ms`;
}

function often({ runs, toolRuns, accepted }: Race): string {
  return `the tool ran ${toolRuns} times in ${runs} runs, ${accepted} of ${runs * 2} approvals accepted`;
}

function restOf({ parked, seconds, heap, resident, server, resumed }: Parked, wanted: number) {
  const many = parked < wanted ? `only ${count(parked)} in ${seconds.toFixed(0)} s` : null;
  return [
    many ?? `${seconds.toFixed(1)} s`,
    `${kilobytes(heap)} heap, ${kilobytes(resident)} resident`,
    server === null ? '' : kilobytes(server),
    typeof resumed === 'string' ? notMeasured(resumed) : `${resumed.toFixed(2)} s`,
  ];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function kilobytes(bytes: number): string {
  // What is left of a rounded minus is no minus.
  return `${(Math.round((bytes / 1_024) * 10) / 10 + 0).toFixed(1)} KB`;
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
