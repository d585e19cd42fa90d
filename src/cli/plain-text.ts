import { plainLine } from '../machines/plain-line.ts';

export { plainLine } from '../machines/plain-line.ts';

/** Shows a text as `plainLine` does, but for its line breaks and tabs, which stay. */
export function plainText(text: string): string {
  return text.replace(/[^\n\t]+/g, (line) => plainLine(line));
}
