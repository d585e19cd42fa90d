/** Formats milliseconds compactly: `0.4 ms`, `174 ms`, `2.1 s`, `3:13`, `2 h 5 m`, `3 d 4 h`. */
export function spanText(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 9.95) return `${trimmed(ms.toFixed(1))} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${trimmed((ms / 1_000).toFixed(1))} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'm');
  return pair(Math.floor(minutes / 1_440), 'd', Math.floor((minutes % 1_440) / 60), 'h');
}

function trimmed(number: string): string {
  return number.replace(/\.0$/, '');
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

function pair(many: number, unit: string, few: number, smaller: string): string {
  return few === 0 ? `${many} ${unit}` : `${many} ${unit} ${few} ${smaller}`;
}
