const units = [
  { name: 'days', one: 'day', time: 86_400_000 },
  { name: 'h', one: 'h', time: 3_600_000 },
  { name: 'min', one: 'min', time: 60_000 },
  { name: 's', one: 's', time: 1_000 },
] as const;

/** Formats a duration in milliseconds with at most two units: `38 s`, `5 min`, `1 h 20 min`, `3 days`. */
export function spanWords(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 10_000) return `${Math.round(milliseconds / 100) / 10} s`;
  const at = units.findIndex(({ time }) => milliseconds >= time);
  const [first, second] = [units[at], units[at + 1]];
  if (first === undefined) return '';
  const count = Math.floor(milliseconds / first.time);
  const whole = `${count} ${count === 1 ? first.one : first.name}`;
  const rest = second === undefined ? 0 : Math.floor((milliseconds % first.time) / second.time);
  // Seconds say nothing after ten minutes, nor hours after ten days.
  return rest === 0 || count >= 10
    ? whole
    : `${whole} ${rest} ${rest === 1 ? second?.one : second?.name}`;
}
