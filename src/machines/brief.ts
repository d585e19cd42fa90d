import { plainLine } from './plain-line.ts';
import { keptStart } from './text.ts';

/** Shortens a string to one plain line of at most `length` characters. */
export function brief(text: string, length: number): string {
  const line = plainLine(text.replaceAll(/\s+/g, ' ').trim());
  return line.length > length ? `${keptStart(line, length - 1)}…` : line;
}
