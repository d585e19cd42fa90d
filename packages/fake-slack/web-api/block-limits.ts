import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/machines/json.ts';
import { malformed } from './slack-refusal.ts';

/** Maximum length of a message in characters. */
export const longestMessage = 40_000;

interface Limits {
  /** Maximum text lengths by field name; a name with `?` is optional. */
  texts?: Record<string, number>;
  /** Maximum list lengths by field name. */
  lists?: Record<string, number>;
}

const blockLimits: Record<string, Limits> = {
  actions: { lists: { elements: 25 } },
  context: { lists: { elements: 10 } },
  divider: {},
  header: { texts: { text: 150 } },
  image: { texts: { 'title?': 2_000, image_url: 3_000, alt_text: 2_000 } },
  input: { texts: { label: 2_000, 'hint?': 2_000 } },
  markdown: { texts: { text: 12_000 } },
  rich_text: {},
  section: { texts: { 'text?': 3_000 }, lists: { fields: 10 } },
};

const elementLimits: Record<string, Limits> = {
  button: {
    texts: { text: 75, 'value?': 2_000, 'url?': 3_000, 'accessibility_label?': 75 },
  },
  confirm: { texts: { title: 100, text: 300, 'confirm?': 30, 'deny?': 30 } },
  plain_text_input: { texts: { 'placeholder?': 150, 'initial_value?': 3_000 } },
};

/** Checks blocks against Slack's limits. Throws SlackRefusal with `error`. */
export function checkBlocks(
  blocks: JsonValue,
  { error, most, path }: { error: string; most: number; path: string },
): asserts blocks is JsonObject[] {
  if (!Array.isArray(blocks)) throw malformed(error, 'must be a list', path);
  if (blocks.length > most) throw malformed(error, `no more than ${most} items allowed`, path);
  const ids = new Set<string>();
  for (const [index, block] of blocks.entries()) {
    checkBlock(block, error, `${path}/${index}`);
    const id = isJsonObject(block) ? block['block_id'] : undefined;
    if (typeof id !== 'string') continue;
    if (ids.has(id)) throw malformed(error, 'block_id already exists', `${path}/${index}/block_id`);
    ids.add(id);
  }
}

function checkBlock(block: JsonValue, error: string, path: string): void {
  const type = isJsonObject(block) ? block['type'] : undefined;
  const limits = typeof type === 'string' ? blockLimits[type] : undefined;
  if (!isJsonObject(block) || limits === undefined) {
    throw malformed(error, `unsupported type: ${JSON.stringify(type)}`, `${path}/type`);
  }
  checkLimits(block, { ...limits, texts: { ...limits.texts, 'block_id?': 255 } }, error, path);
  for (const list of ['elements', 'fields']) {
    const entries = type === 'rich_text' ? undefined : block[list];
    if (Array.isArray(entries)) checkElements(entries, error, `${path}/${list}`);
  }
  for (const single of ['element', 'accessory']) {
    const element = block[single];
    if (element !== undefined) checkElements([element], error, `${path}/${single}`);
  }
}

function checkElements(elements: JsonValue[], error: string, path: string): void {
  const ids = new Set<string>();
  for (const [index, element] of elements.entries()) {
    if (!isJsonObject(element)) throw malformed(error, 'must be an object', `${path}/${index}`);
    checkElement(element, error, `${path}/${index}`);
    const id = element['action_id'];
    if (typeof id !== 'string') continue;
    if (ids.has(id)) throw malformed(error, 'action_id already exists', `${path}/${index}`);
    ids.add(id);
  }
}

function checkElement(element: JsonObject, error: string, path: string): void {
  const type = typeof element['type'] === 'string' ? element['type'] : '';
  if (type === 'mrkdwn' || type === 'plain_text') checkText(element, 2_000, error, path);
  const texts = { ...elementLimits[type]?.texts, 'action_id?': 255 };
  checkLimits(element, { texts }, error, path);
  const longest = element['max_length'];
  if (typeof longest === 'number' && (longest < 1 || longest > 3_000)) {
    throw malformed(error, 'must be between 1 and 3000', `${path}/max_length`);
  }
  const confirm = element['confirm'];
  if (isJsonObject(confirm)) {
    checkLimits(confirm, elementLimits['confirm'] ?? {}, error, `${path}/confirm`);
  }
}

/** Checks an object's texts and lists against limits. Throws SlackRefusal with `error`. */
export function checkLimits(
  { ...object }: JsonObject,
  { texts = {}, lists = {} }: Limits,
  error: string,
  path: string,
): void {
  for (const [field, most] of Object.entries(texts)) {
    const name = field.replace(/\?$/, '');
    const text = object[name];
    if (text !== undefined) checkText(text, most, error, `${path}/${name}`);
    else if (name === field) throw malformed(error, `missing required field: ${name}`, path);
  }
  for (const [name, most] of Object.entries(lists)) {
    const list = object[name];
    if (list === undefined && name === 'fields') continue;
    if (!Array.isArray(list) || list.length === 0 || list.length > most) {
      throw malformed(error, `must have 1 to ${most} items`, `${path}/${name}`);
    }
  }
}

function checkText(value: JsonValue, most: number, error: string, path: string): void {
  const text = isJsonObject(value) ? value['text'] : value;
  if (typeof text !== 'string') throw malformed(error, 'must be a string', path);
  if (text.length > most) {
    throw malformed(error, `must be less than ${most + 1} characters`, path);
  }
  if (text === '' && isJsonObject(value)) {
    throw malformed(error, 'must be more than 0 characters', path);
  }
}
