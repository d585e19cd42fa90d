import { proseOfTest } from './prose-of-test.ts';

/** A banned phrase in a file. */
export interface Banned {
  /** `file:line`. */
  place: string;
  phrase: string;
  /** The remedy. */
  instead: string;
}

/** Phrases that are read twice, each with its remedy. Literal texts of the wire and of the contract have none of them. */
const phrases: [phrase: RegExp, instead: string][] = [
  [/\bwhoever\b/i, 'name the role: caller, approver, requester, operator'],
  [/\bwhatever\b/i, 'name the thing, or write "any" or "regardless of"'],
  [/\b(?:gone|goes|go|going) on with\b/i, 'write "continue" or "resume"'],
  [/\b(?:is|are|was|were|be) had\b|\bhad by\b/i, 'write "has"'],
  [/\b(?:is|are|was|were|be) told\b|\btold of\b/i, 'write "receives" or "is notified of"'],
  [/\bwhat becomes of\b/i, 'write "the outcome of"'],
  [/\bsays? so\b/i, 'write what is reported'],
  [/\bbeside\b/i, 'write "in addition to" or "next to"'],
  [/\b(?:somebody|anybody)\b/i, 'name the role, or write "someone" or "anyone"'],
  [/\bhears\b/i, 'write "receives"'],
  [/\b(?:run|kept|told) apart\b/i, 'write "isolated" or "separated"'],
  [/\bto be gone on\b|\blets? (?:it|them) go on\b/i, 'write "continues"'],
  [/\bknows? of\b/i, 'write "has" or "can read"'],
  [/\b(?:go|goes|going|gone|went) on\b/i, 'write "continues" or "resumes"'],
  [/\b(?:hands?|handed|handing) (?:it |them )?on\b/i, 'write "passes"'],
  [
    /\b(?:is|are|be|was|were|when|it|them) left out\b|\bleaves (?:it |them )?out\b/i,
    'write "omitted" or "omits"',
  ],
  [/\bof both\b/i, 'name the two, or write "of each"'],
  [/\bas (?:\w+\.)?(?:\w+ ){1,3}says?\b/i, 'write "according to" or "per"'],
  [/\bbeneath (?:it|them)\b/i, 'write "below" or "inside"'],
  [/\b(?:stands|stood)\b(?! for\b)/i, 'write "is", "remains" or "comes"'],
  [
    /\ba text\b(?! (?:file|block|editor|field|part|box|area|message|frame|fence)\b)/i,
    'write "a string" or "text"',
  ],
  [/\bwith (?:a|one) sentence\b/i, 'write "with a message"'],
  [
    /\b(?:process|program|command|server|worker)(?:es|s)? ends\b|\bdaemons? ends\b|\bprocess that (?:has )?ended\b/i,
    'write "exits"',
  ],
  [/\b(?:token|invitation|grant)s? ends?\b/i, 'write "expires" or "is invalidated"'],
];

/**
 * Lists the banned phrases of a text. Names of code, such as `heardSince`, entries of an object that name a value, and code
 * font in Markdown are no words of a sentence. Of a test only the comments and titles count, as other strings are data.
 */
export function bannedIn(file: string, text: string): Banned[] {
  if (/(?:^|\/)test\/.*\.ts$/.test(file)) return bannedInProse(file, proseOfTest(file, text));
  return bannedInProse(file, text);
}

function bannedInProse(file: string, text: string): Banned[] {
  const codeFont = file.endsWith('.md') ? /`[^`]*`/g : /(?!)/g;
  return text.split('\n').flatMap((line, index) => {
    const prose = line
      .replaceAll(codeFont, '')
      .replace(/^\s*\w+: \w+,$/, '')
      .replaceAll(/\.\.?\/[\w./-]+/g, '')
      .replaceAll(/\b\w+(?:\.\w+)+\b/g, '');
    return phrases.flatMap(([pattern, instead]) => {
      const [phrase] = pattern.exec(prose) ?? [];
      return phrase === undefined ? [] : [{ place: `${file}:${index + 1}`, phrase, instead }];
    });
  });
}
