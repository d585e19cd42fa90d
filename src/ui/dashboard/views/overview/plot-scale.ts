/** Returns a round maximum of an axis for values from 0, and its ticks. */
export function countTicks(most: number): number[] {
  const rough = Math.max(1, most) / 3;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) ?? 1,
  );
  const count = Math.ceil(Math.max(1, most) / step);
  return Array.from({ length: count + 1 }, (_, n) => n * step);
}

/** Durations at which a logarithmic axis can have a tick, in milliseconds. */
const durations = [
  ...[1_000, 10_000, 60_000, 600_000, 3_600_000, 14_400_000, 86_400_000, 604_800_000],
];

/** Returns the ends and ticks of a logarithmic axis of durations in milliseconds. */
export function durationTicks(values: readonly number[]): {
  from: number;
  to: number;
  ticks: number[];
} {
  const least = Math.max(500, Math.min(...values, 60_000));
  const most = Math.max(...values, 60_000);
  const from = durations.findLast((one) => one <= least) ?? 500;
  const to = durations.find((one) => one >= most) ?? most;
  const ticks = durations.filter((one) => one >= from && one <= to);
  return { from, to: Math.max(to, from * 10), ticks };
}

/** Returns which of many labels have room, as positions from 0; the last one always has. */
export function shownLabels(count: number, most: number): Set<number> {
  const step = Math.max(1, Math.ceil(count / Math.max(1, most)));
  const shown = new Set<number>();
  for (let at = count - 1; at >= 0; at -= step) shown.add(at);
  return shown;
}
