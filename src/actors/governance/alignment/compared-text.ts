import type { JsonObject } from '../../../machines/json.ts';
import type { Message } from '../../../machines/task/task.ts';
import { cutToRunes } from '../../../machines/text.ts';

/** The most Unicode code points of a text that are compared. */
const maximumRunes = 8_192;

/** The most of them a description may take, so that the arguments always count. */
const maximumDescription = 4_096;

/** Returns the text of a message as it is compared, without its data and files; empty when there is none. */
export function textOfRequest({ parts }: Message): string {
  return clean(parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n'));
}

/**
 * Returns what a tool call would do, as it is compared: name, description and arguments as JSON
 * (docs/contract/governance.md). Arguments past 8,192 code points are not seen.
 */
export function textOfCall(tool: string, description: string, args: JsonObject): string {
  const shortened = cutToRunes(description, maximumDescription);
  return clean(`${tool}: ${shortened}\n${JSON.stringify(args)}`);
}

/**
 * Brings a text into one form: well-formed, with one way to write each character. What nobody can see
 * goes first, since it would push what counts past the cut.
 */
function clean(text: string): string {
  const visible = text
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return cutToRunes(cutToRunes(visible, maximumRunes).normalize('NFKC'), maximumRunes);
}
