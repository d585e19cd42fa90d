import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../machines/json.ts';

/** An event that only adds text to one place of an answer. */
interface Addition {
  /** The same for events that add to the same place. */
  place: string;
  event: JsonObject;
  text: string;
  /** The part of the event that has the text, under `key`. */
  holder: JsonObject;
  key: string;
}

/**
 * Merges successive events of a provider's stream that add text to the same place of the answer: the last one of them
 * then has the text of all. Every other event keeps its bytes. `text` consists of complete server-sent events, in the
 * form of OpenAI's chat and responses, of Anthropic or of Google.
 */
export function mergeTexts(text: string): string {
  const blocks: Block[] = [];
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = endOfBlock(text, start);
    const block = read(text.slice(start, end));
    const last = blocks.at(-1);
    if (last?.addition && block.addition && last.addition.place === block.addition.place) {
      block.addition.text = last.addition.text + block.addition.text;
      block.isMerged = true;
      blocks.pop();
    }
    blocks.push(block);
  }
  return blocks.map(written).join('');
}

/** One event of the stream. */
interface Block {
  bytes: string;
  /** The lines before its data. */
  lead: string;
  addition: Addition | null;
  isMerged: boolean;
}

/** An event ends with a blank line. */
function endOfBlock(text: string, start: number): number {
  for (let at = text.indexOf('\n', start); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text.startsWith('\n', at + 1)) return at + 2;
    if (text.startsWith('\r\n', at + 1)) return at + 3;
  }
  return text.length;
}

function read(bytes: string): Block {
  const [, lead = '', json] =
    /^(event: ?[^\r\n]*\r?\n)?data: ?(\{[^\r\n]*\})\r?\n\r?\n$/.exec(bytes) ?? [];
  const event = json === undefined ? null : parseJson(json);
  const addition = isJsonObject(event) ? additionOf(event) : null;
  if (addition !== null) addition.place = lead + addition.place;
  return { bytes, lead, addition, isMerged: false };
}

function written({ bytes, lead, addition, isMerged }: Block): string {
  if (addition === null || !isMerged) return bytes;
  const { event, holder, key, text } = addition;
  holder[key] = text;
  return `${lead}data: ${JSON.stringify(event)}\n\n`;
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
  if (!hasOnly(event, responseKeys)) return null;
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
  if (!hasOnly(event, ['type', 'index', 'delta'])) return null;
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
  if (!hasOnly(event, chatKeys) || !hasOnly(choice, choiceKeys)) return null;
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
  if (!hasOnly(event, candidateKeys)) return null;
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

/** Members that say nothing beyond the text; an event with any other keeps its bytes. */
const responseKeys = [
  ...['type', 'item_id', 'output_index', 'content_index', 'delta', 'sequence_number'],
  ...['logprobs', 'obfuscation'],
];
const chatKeys = [
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'system_fingerprint'],
  ...['service_tier', 'obfuscation', 'provider'],
];
const choiceKeys = ['index', 'delta', 'finish_reason', 'native_finish_reason', 'logprobs'];
const candidateKeys = ['candidates', 'usageMetadata', 'modelVersion', 'responseId', 'createTime'];

function hasOnly(object: JsonObject, keys: readonly string[]): boolean {
  return Object.keys(object).every((key) => keys.includes(key));
}
