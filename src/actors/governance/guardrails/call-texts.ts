import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { normalName } from '../../tool-name.ts';
import { addTextsOf } from './value-texts.ts';

/** Normalised name of the tool that runs a program. */
const commandTool = 'cli-execute';

/**
 * Returns the texts of a call that `deny_commands` is matched against:
 * - the compact JSON of the arguments, as sent and with sorted keys,
 * - each key and each string separately, so that line breaks and quotes are not hidden by escapes,
 * - every list of plain values joined by blanks, like the words of a command,
 * - for `cli_execute`, the command line, also with runs of blanks collapsed.
 */
export function callTexts(tool: string, args: JsonObject): Set<string> {
  const texts = new Set([JSON.stringify(args), JSON.stringify(sorted(args))]);
  addTextsOf(args, texts);
  if (normalName(tool) !== commandTool) return texts;
  for (const line of commandLines(args)) texts.add(line).add(line.trim().replace(/\s+/g, ' '));
  return texts;
}

/** Includes both `command` and `binary` if both are present, since either may be executed. */
function commandLines({ command, binary, args }: JsonObject): string[] {
  return [command, binary]
    .filter((program) => program !== undefined)
    .map((program) => [...wordsOf(program), ...wordsOf(args)].join(' '));
}

function wordsOf(value: JsonValue | undefined): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  return isJsonObject(value) ? Object.values(value).flatMap(wordsOf) : [String(value)];
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}
