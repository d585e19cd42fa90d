/** What a model says as one object of JSON: words, and a skill or `null`. */
export interface Envelope {
  message: string;
  skill: EnvelopeSkill | null;
}

/** A skill in an envelope, whose values are whatever the model wrote. */
export interface EnvelopeSkill {
  skill_md: string;
  scripts: unknown;
}

/** Objects of JSON that are tried; each may be as long as the answer. */
const mostTries = 32;

/**
 * Finds the object that an answer consists of, be it alone, in a block, behind some words or in an object around it; `null` when
 * there is none. JSON about other things is passed over.
 */
export function findEnvelope(text: string): Envelope | null {
  let start = text.indexOf('{');
  for (let tried = 0; start !== -1 && tried < mostTries; tried += 1) {
    const end = endOf(text, start);
    const value = parsed(text.slice(start, end));
    const envelope = envelopeIn(value, 2);
    if (envelope !== null) return envelope;
    start = text.indexOf('{', value === undefined ? start + 1 : end);
  }
  return null;
}

/** The place behind the brace that closes the one at `start`, those in strings left out; `start` when there is none. */
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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

/** `undefined` for what is neither a skill nor none. */
function skillOf(value: unknown): EnvelopeSkill | null | undefined {
  if (value === null) return null;
  if (!isObject(value) || typeof value['skill_md'] !== 'string') return undefined;
  return { skill_md: value['skill_md'], scripts: value['scripts'] ?? {} };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
