import { refusedVariable } from '../reserved-environment.ts';
import { refusedSecretName } from '../secret-name.ts';
import type { AgentAnswers } from './agent-answers.ts';
import { type AgentVariable, agentVariables } from './agent-variables.ts';

/** Maximum number of variables per step. */
const mostVariables = 100;

/** Maximum length of a value in characters. */
const longestValue = 8_192;

/** Returns the problem of an API key; `null` if it is valid. An empty key comes from the environment. */
export function wrongKey(key: string): string | null {
  if (key === '' || (/^[\x21-\x7e]+$/.test(key) && key.length <= longestValue)) return null;
  return 'the key holds characters that no key has; copy it again';
}

/** Returns the problem of a step's variables, given the variables of earlier steps; `null` if they are valid. */
export function wrongVariables(
  source: AgentVariable['source'],
  answers: AgentAnswers,
): string | null {
  const all = agentVariables(answers);
  const own = all.filter((variable) => variable.source === source);
  if (own.length > mostVariables) return `there are at most ${mostVariables} variables`;
  for (const { name, value } of own) {
    const wrong = wrongName(name) ?? wrongValue(name, value);
    if (wrong !== null) return wrong;
    const others = all.filter((other) => other.name === name && other.value !== '');
    if (others.some((other) => value !== '' && other.value !== value)) {
      return `${name} has two values; set it in one place`;
    }
  }
  return source === 'skills' ? wrongSkillVariable(own) : null;
}

/** The secrets file accepts only such names. */
function wrongName(name: string): string | null {
  if (/^[A-Z_][A-Z0-9_]*$/.test(name)) return refusedSecretName(name);
  return 'the name of a variable is upper-case letters, digits and underscores, such as SHOP_KEY';
}

/** A skill must not receive a variable that controls how its scripts run. */
function wrongSkillVariable(own: readonly AgentVariable[]): string | null {
  const refused = own.find(({ name }) => refusedVariable(name) !== null);
  return refused === undefined ? null : refusedVariable(refused.name);
}

/** A value in `.env` is one quoted text without an escape for the quote character. */
function wrongValue(name: string, value: string): string | null {
  if (value.length > longestValue) return `${name} has more than ${longestValue} characters`;
  if (/[\p{Cc}\p{Cs}]/u.test(value)) {
    return `${name} holds a line break or another control character; keep it with secret set`;
  }
  return value.includes("'") && value.includes('`')
    ? `${name} holds ' as well as \`, which no line of .env can; keep it with secret set`
    : null;
}
