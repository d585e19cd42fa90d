import { parseJson } from '../json.ts';
import { type Artifact, findFences } from './find-fences.ts';
import { longestAnswer, scriptsProblem, type WrittenSkill } from './written-skill.ts';

/** A model's answer as one JSON object: a message, and a skill or `null`. */
export interface Envelope {
  message: string;
  skill: EnvelopeSkill | null;
}

/** A skill in an envelope, with unvalidated values from the model. */
interface EnvelopeSkill {
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

/** A model's parsed answer in one turn of the builder. */
export interface BuilderAnswer {
  /** The text without the files; may be empty. */
  message: string;
  draft: WrittenSkill | null;
  /** The reason why the files are not accepted, as one sentence; `null` if they are or there are none. */
  problem: string | null;
}

/**
 * Extracts the text and the skill from an answer, which may be a JSON object or text with a block per file. Never
 * throws, and never returns a draft with a script name that could be a path (docs/contract/dashboard.md).
 */
export function readAnswer(text: string): BuilderAnswer {
  if (text.length > longestAnswer) {
    return { message: '', draft: null, problem: 'the answer is longer than 1 MiB; ask for less' };
  }
  const { artifacts, prose } = findFences(text);
  // JSON inside a file belongs to that file, so only the text around the files is searched.
  const envelope = findEnvelope(prose);
  if (envelope === null) return answerOf(prose, filesOf(artifacts));
  return answerOf(envelope.message, envelope.skill && filesOfSkill(envelope.skill));
}

type Files = { skill_md: string | null; scripts: Readonly<Record<string, string>> } | string;

function answerOf(words: string, files: Files | null): BuilderAnswer {
  const message = words.replaceAll(/\n{3,}/g, '\n\n').trim();
  if (files === null) return { message, draft: null, problem: null };
  if (typeof files === 'string') return { message, draft: null, problem: files };
  const { skill_md: skillMd, scripts } = files;
  if (skillMd === null || skillMd.trim() === '') {
    const problem = 'the answer has scripts and no SKILL.md; ask for the whole skill';
    return { message, draft: null, problem };
  }
  const problem = scriptsProblem(scripts);
  return problem === null
    ? { message, draft: { skill_md: skillMd, scripts }, problem }
    : { message, draft: null, problem };
}

/** If a file occurs twice, the last one is used. */
function filesOf(artifacts: readonly Artifact[]): Files | null {
  if (artifacts.length === 0) return null;
  const skillMd = artifacts.findLast(({ script }) => script === null)?.content ?? null;
  const scripts = artifacts.flatMap(({ script, content }) =>
    script === null ? [] : [[script, content] as const],
  );
  return { skill_md: skillMd, scripts: Object.fromEntries(scripts) };
}

function filesOfSkill({ skill_md: skillMd, scripts }: EnvelopeSkill): Files {
  const entries = entriesOf(scripts);
  if (entries === null) return 'the scripts of the answer are no texts by name; ask for them again';
  return { skill_md: skillMd, scripts: Object.fromEntries(entries) };
}

function entriesOf(scripts: unknown): (readonly [string, string])[] | null {
  // A string would be iterated as single characters.
  if (typeof scripts === 'string' && scripts !== '') return null;
  const found: unknown[][] = Array.isArray(scripts)
    ? scripts.map((one: unknown) => {
        const { name, content } = Object(one) as { name?: unknown; content?: unknown };
        return [name, content];
      })
    : Object.entries(Object(scripts) as object);
  const entries = found.filter(
    (entry): entry is [string, string] =>
      typeof entry[0] === 'string' && typeof entry[1] === 'string',
  );
  return entries.length === found.length ? entries : null;
}
