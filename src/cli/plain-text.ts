import { plainLine } from '../machines/plain-line.ts';

export { plainLine } from '../machines/plain-line.ts';

/** Escapes a string like `plainLine`, but keeps its line breaks and tabs. */
export function plainText(text: string): string {
  return text.replace(/[^\n\t]+/g, (line) => plainLine(line));
}
