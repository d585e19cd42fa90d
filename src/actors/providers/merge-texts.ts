import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';

/** An event that only adds text to one place of an answer. */
interface Addition {
  /** The same for events that add to the same place. */
  place: string;
  event: JsonObject;
  text: string;
  /** The part of the event whose member `key` is the text. */
  holder: JsonObject;
  key: string;
}

/**
 * Merges successive events of a provider's stream that add text to the same place of the answer: the last one of them
 * then has the text of all. Every other event keeps its bytes. `text` consists of complete server-sent events, in the
 * form of OpenAI's chat and responses, of Anthropic or of Google.
 */
export function mergeTexts(text: string): string {
  const blocks = text.split(/(?<=\n\r?\n)/);
  if (blocks.length < 2) return text;
  const merged: { lead: string; block: string; addition: Addition | null }[] = [];
  for (const block of blocks) {
    const { lead, addition } = read(block);
    const last = merged.at(-1);
    if (addition === null || last?.addition?.place !== addition.place || last.lead !== lead) {
      merged.push({ lead, block, addition });
      continue;
    }
    const { holder, key, event } = addition;
    addition.text = last.addition.text + addition.text;
    holder[key] = addition.text;
    merged[merged.length - 1] = {
      lead,
      block: `${lead}data: ${JSON.stringify(event)}\n\n`,
      addition,
    };
  }
  return merged.length === blocks.length ? text : merged.map(({ block }) => block).join('');
}

/** Splits an event into the lines before its data and its addition, if it is one. */
function read(block: string): { lead: string; addition: Addition | null } {
  const [, lead = '', json] =
    /^(event: ?[^\r\n]*\r?\n)?data: ?(\{[^\r\n]*\})\r?\n\r?\n$/.exec(block) ?? [];
  const event = json === undefined ? null : parsed(json);
  return { lead, addition: event === null ? null : additionOf(event) };
}

function parsed(json: string): JsonObject | null {
  try {
    const value = JSON.parse(json) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function additionOf(event: JsonObject): Addition | null {
  const { type, choices, candidates } = event;
  if (type === 'response.output_text.delta') return inResponse(event);
  if (type === 'content_block_delta') return inBlock(event);
  if (Array.isArray(choices)) return inChoice(event, choices);
  return Array.isArray(candidates) ? inCandidate(event, candidates) : null;
}

/** OpenAI's responses. */
function inResponse(event: JsonObject): Addition | null {
  const { item_id, output_index, content_index, logprobs } = event;
  if (Array.isArray(logprobs) && logprobs.length > 0) return null;
  return added(event, [item_id, output_index, content_index], event, 'delta');
}

/** Kinds of text in the events of Anthropic, with their members. */
const blockTexts: Record<string, string> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
};

function inBlock(event: JsonObject): Addition | null {
  const { index, delta } = event;
  if (!isJsonObject(delta) || typeof delta['type'] !== 'string') return null;
  const key = blockTexts[delta['type']];
  if (key === undefined || !hasOnly(delta, ['type', key])) return null;
  return added(event, [index, key], delta, key);
}

/** Texts in a choice of OpenAI's chat and of servers like it. */
const choiceTexts = new Set(['content', 'reasoning_content', 'reasoning']);

function inChoice(event: JsonObject, choices: JsonValue[]): Addition | null {
  const [choice] = choices;
  if (choices.length !== 1 || !isJsonObject(choice) || (event['usage'] ?? null) !== null)
    return null;
  const { index, delta, finish_reason, logprobs } = choice;
  if ((finish_reason ?? null) !== null || (logprobs ?? null) !== null) return null;
  if (!isJsonObject(delta)) return null;
  const [key = '', ...others] = Object.keys(delta);
  if (others.length > 0 || !choiceTexts.has(key)) return null;
  return added(event, [index ?? null, key], delta, key);
}

/** Google. Its counts of tokens are totals, so those of the last event remain. */
function inCandidate(event: JsonObject, candidates: JsonValue[]): Addition | null {
  const [candidate] = candidates;
  if (candidates.length !== 1 || !isJsonObject(candidate)) return null;
  const { content, index } = candidate;
  if (!hasOnly(candidate, ['content', 'index']) || !isJsonObject(content)) return null;
  const parts = content['parts'];
  const part = Array.isArray(parts) && parts.length === 1 ? parts[0] : null;
  if (!isJsonObject(part) || !hasOnly(part, ['text', 'thought'])) return null;
  return added(event, [index ?? null, part['thought'] ?? null], part, 'text');
}

function added(
  event: JsonObject,
  place: readonly (JsonValue | undefined)[],
  holder: JsonObject,
  key: string,
): Addition | null {
  const text = holder[key];
  return typeof text === 'string'
    ? { place: JSON.stringify(place), event, text, holder, key }
    : null;
}

function hasOnly(object: JsonObject, keys: readonly string[]): boolean {
  return Object.keys(object).every((key) => keys.includes(key));
}
