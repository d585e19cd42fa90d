import { refusedVariable } from '../reserved-environment.ts';
import { refusedSecretName } from '../secret-name.ts';
import type { AgentAnswers } from './agent-answers.ts';
import { type AgentVariable, agentVariables } from './agent-variables.ts';

/** Variables of one step. */
const mostVariables = 100;

/** Characters of one value. */
const longestValue = 8_192;

/** Says in words what is wrong with a key, or `null`; an empty one comes from the environment. */
export function wrongKey(key: string): string | null {
  if (key === '' || (/^[\x21-\x7e]+$/.test(key) && key.length <= longestValue)) return null;
  return 'the key holds characters that no key has; copy it again';
}

/** Says in words what is wrong with the variables of a step, beside those of the steps before it, or `null`. */
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

/** The file that holds them takes no other names. */
function wrongName(name: string): string | null {
  if (/^[A-Z_][A-Z0-9_]*$/.test(name)) return refusedSecretName(name);
  return 'the name of a variable is upper-case letters, digits and underscores, such as SHOP_KEY';
}

/** A skill is given no variable that steers how its scripts run. */
function wrongSkillVariable(own: readonly AgentVariable[]): string | null {
  const refused = own.find(({ name }) => refusedVariable(name) !== null);
  return refused === undefined ? null : refusedVariable(refused.name);
}

/** A line of `.env` holds one quoted text, in which nothing stands for the quote itself. */
function wrongValue(name: string, value: string): string | null {
  if (value.length > longestValue) return `${name} has more than ${longestValue} characters`;
  if (/[\p{Cc}\p{Cs}]/u.test(value)) {
    return `${name} holds a line break or another control character; keep it with secret set`;
  }
  return value.includes("'") && value.includes('`')
    ? `${name} holds ' as well as \`, which no line of .env can; keep it with secret set`
    : null;
}
