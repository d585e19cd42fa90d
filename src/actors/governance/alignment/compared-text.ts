import type { Message } from '../../../machines/domain/task.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { cutToRunes } from '../../../machines/text.ts';

/** Maximum Unicode code points of a text that are compared. */
const maximumRunes = 8_192;

/** Maximum code points of a description, so that the arguments always count. */
const maximumDescription = 4_096;

/** Returns the text of a message for comparison, without data and files; empty if there is none. */
export function textOfRequest({ parts }: Message): string {
  return clean(parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n'));
}

/**
 * Returns the text of a tool call for comparison: name, description and arguments as JSON
 * (docs/contract/governance.md). Arguments beyond 8,192 code points are ignored.
 */
export function textOfCall(tool: string, description: string, args: JsonObject): string {
  const shortened = cutToRunes(description, maximumDescription);
  return clean(`${tool}: ${shortened}\n${JSON.stringify(args)}`);
}

/**
 * Normalises a text: well-formed, with one spelling for each character. Invisible characters are removed first, since
 * they could push relevant text beyond the limit.
 */
function clean(text: string): string {
  const visible = text
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return cutToRunes(cutToRunes(visible, maximumRunes).normalize('NFKC'), maximumRunes);
}
