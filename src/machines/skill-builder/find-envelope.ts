import { parseJson } from '../json.ts';

/** A model's answer as one JSON object: a message, and a skill or `null`. */
export interface Envelope {
  message: string;
  skill: EnvelopeSkill | null;
}

/** A skill in an envelope, with unvalidated values from the model. */
export interface EnvelopeSkill {
  skill_md: string;
  scripts: unknown;
}

/** Maximum number of JSON objects to try; each may be as long as the answer. */
const mostTries = 32;

/**
 * Finds the JSON object of an answer, whether alone, in a code block, after some text or nested in another object;
 * `null` if there is none. Ignores JSON of other content.
 */
export function findEnvelope(text: string): Envelope | null {
  let start = text.indexOf('{');
  for (let tried = 0; start !== -1 && tried < mostTries; tried += 1) {
    const end = endOf(text, start);
    const value = parseJson(text.slice(start, end));
    const envelope = envelopeIn(value, 2);
    if (envelope !== null) return envelope;
    start = text.indexOf('{', value === undefined ? start + 1 : end);
  }
  return null;
}

/**
 * Returns the position after the brace that closes the one at `start`, ignoring braces in strings; `start` if there is
 * none.
 */
function endOf(text: string, start: number): number {
  let depth = 0;
  let isText = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === '\\' && isText) index += 1;
    else if (character === '"') isText = !isText;
    else if (isText) continue;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return start;
}

function envelopeIn(value: unknown, levels: number): Envelope | null {
  if (!isObject(value)) return null;
  const skill = skillOf(value['skill']);
  const message = typeof value['message'] === 'string' ? value['message'] : null;
  if (Object.hasOwn(value, 'skill') && skill !== undefined && (skill !== null || message !== null))
    return { message: message ?? '', skill };
  const own = skillOf(value);
  if (own !== undefined && own !== null) return { message: message ?? '', skill: own };
  const [only, ...others] = Object.values(value);
  return levels > 1 && others.length === 0 ? envelopeIn(only, levels - 1) : null;
}

/** Returns `undefined` if the value is neither a skill nor `null`. */
function skillOf(value: unknown): EnvelopeSkill | null | undefined {
  if (value === null) return null;
  if (!isObject(value) || typeof value['skill_md'] !== 'string') return undefined;
  return { skill_md: value['skill_md'], scripts: value['scripts'] ?? {} };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
