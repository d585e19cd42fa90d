import { parseJson } from '../../../machines/json.ts';
import { personalRules } from './personal-rules.ts';
import { type RedactionRule, when } from './redaction-rule.ts';

/** Rules for keys and tokens with a recognisable format: the group `secrets`. */
const secretRules: readonly RedactionRule[] = [
  {
    // A block without an end marker extends to the end of the text.
    name: 'private_key',
    pattern: String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)`,
  },
  {
    name: 'api_key',
    pattern: String.raw`\bsk-[A-Za-z0-9_-]{20,}`,
    narrow: when((found) => /\d/.test(found) && /[A-Za-z]/.test(found.slice(3))),
  },
  { name: 'stripe_key', pattern: String.raw`\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}` },
  { name: 'aws_access_key_id', pattern: String.raw`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b` },
  {
    name: 'aws_secret_access_key',
    pattern: String.raw`(?i)aws_?secret_?(?:access_?)?key["']?\s*[=:]\s*["']?[a-z0-9/+]{40}\b`,
  },
  {
    name: 'github_token',
    pattern: String.raw`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})`,
  },
  { name: 'gitlab_token', pattern: String.raw`\bglpat-[A-Za-z0-9_-]{20,}` },
  {
    name: 'slack_token',
    pattern: String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}`,
    narrow: when((found) => /\d/.test(found)),
  },
  {
    name: 'slack_webhook',
    pattern: String.raw`https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}`,
  },
  { name: 'google_api_key', pattern: String.raw`\bAIza[A-Za-z0-9_-]{35}` },
  { name: 'npm_token', pattern: String.raw`\bnpm_[A-Za-z0-9]{36}\b` },
  {
    name: 'jwt',
    pattern: String.raw`\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){2,4}`,
    narrow: when(hasTokenHeader),
  },
  {
    name: 'bearer_token',
    pattern: String.raw`(?i)\bbearer[ \t]+[a-z0-9._~+/=-]{16,}`,
    narrow: when((found) => /\d/.test(found) || found.length >= 40),
  },
];

/** Returns whether a part of a token is an RFC 7515 header: an object with `alg`. */
function hasTokenHeader(token: string): boolean {
  return token.split('.').some(isTokenHeader);
}

function isTokenHeader(part: string): boolean {
  const read = parseJson(Buffer.from(part, 'base64url').toString());
  return Object.hasOwn(Object(read) as object, 'alg');
}

const groups: Readonly<Record<string, readonly RedactionRule[]>> = {
  secrets: secretRules,
  pii: personalRules,
};

const rules = new Map([...secretRules, ...personalRules].map((rule) => [rule.name, rule]));

/** Names that `redact` accepts: rules first, then groups. */
export const redactionNames: readonly string[] = [...rules.keys(), ...Object.keys(groups)];

export function isRedactionName(name: string): boolean {
  return redactionNames.includes(name);
}

/** Returns the distinct built-in rules of rule and group names, in the order of the names. */
export function redactionRules(names: readonly string[]): RedactionRule[] {
  const found = new Set<RedactionRule>();
  for (const name of names) {
    if (!isRedactionName(name)) throw new RangeError('a redaction rule has an unknown name');
    const rule = rules.get(name);
    for (const member of rule ? [rule] : (groups[name] ?? [])) found.add(member);
  }
  return [...found];
}
