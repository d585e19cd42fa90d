import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { normalName } from '../../tool-name.ts';
import { addTextsOf } from './value-texts.ts';

/** The tool that runs a program, whichever way its name is written. */
const commandTool = 'cli-execute';

/**
 * Returns the texts of a call that `deny_commands` is matched against:
 * - the JSON of the arguments without blanks, as sent and with its keys sorted,
 * - every key and every string by itself, so that a line break or a quote is not seen as an escape,
 * - every list of plain values joined by blanks, as the words of a command,
 * - for `cli_execute`, the command line, also with each run of blanks as one.
 */
export function callTexts(tool: string, args: JsonObject): Set<string> {
  const texts = new Set([JSON.stringify(args), JSON.stringify(sorted(args))]);
  addTextsOf(args, texts);
  if (normalName(tool) !== commandTool) return texts;
  for (const line of commandLines(args)) texts.add(line).add(line.trim().replace(/\s+/g, ' '));
  return texts;
}

/** Both `command` and `binary` are taken when both are there, since either may be what runs. */
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
