import { baseUrlFrom, providerKey } from '../../actors/providers/providers.ts';
import type { JsonObject } from '../../machines/json.ts';
import { usualKeyVariable } from '../../machines/models/key-variable.ts';
import type { AgentAnswers, Question } from '../../machines/wizard/agent-answers.ts';
import type { AgentPlan } from '../../machines/wizard/agent-plan.ts';
import { providers } from '../../machines/wizard/offers.ts';
import type { AnswerEdit } from '../../machines/wizard/wizard-machine.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

type Environment = NodeJS.ProcessEnv;

/** Returns the first provider whose API key is in the environment; `null` if there is none. */
export function environmentProvider(env: Environment): string | null {
  return providers.find(({ name }) => hasKey(name, env))?.name ?? null;
}

/** Returns true if the environment has the provider's API key. */
export function hasKey(provider: string, env: Environment): boolean {
  if (usualKeyVariable(provider) === null) return false;
  return providerKey({ provider, purpose: 'the model' }, env).ok;
}

/** Returns a provider's base URL from the environment; empty if there is none. Throws CliError for an invalid URL. */
export function environmentAddress(provider: string, env: Environment): string {
  const found = baseUrlFrom(provider, env);
  if (found.ok) return found.url;
  throw new CliError(plainLine(found.message), {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: `fix or unset ${found.variable}, or pass --base-url`,
  });
}

/** Names the variable that supplied the base URL of a new agent's model; `null` if no variable did. */
export function addressNote(
  { service }: Pick<AgentPlan, 'service'>,
  env: Environment,
): string | null {
  const { provider, base_url: address } = Object(service?.['model']) as JsonObject;
  const found = baseUrlFrom(typeof provider === 'string' ? provider : '', env);
  if (!found.ok || found.variable === null || found.url !== address) return null;
  return plainLine(`its model is asked at ${found.url} (${found.variable})`);
}

/**
 * Returns the edit that fills in missing base URLs of models from the environment; `null` if there is nothing to fill
 * in.
 */
export function withEnvironmentAddress(
  step: Question,
  { provider, model, fallback }: AgentAnswers,
  env: Environment,
): AnswerEdit | null {
  const type = 'answer.edit';
  if (step === 'model' && model.address === '') {
    const address = environmentAddress(provider, env);
    return address === '' ? null : { type, step, value: { ...model, address } };
  }
  if (step !== 'fallback') return null;
  const value = fallback.map((each) =>
    each.address === '' ? { ...each, address: environmentAddress(each.provider, env) } : each,
  );
  return value.some(({ address }, index) => address !== fallback[index]?.address)
    ? { type, step, value }
    : null;
}
