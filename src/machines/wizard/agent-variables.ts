import type { AgentAnswers } from './agent-answers.ts';
import { channelOffer, providerOffer, searchServices } from './offers.ts';

/** A variable of an agent's configuration, and the setting that needs it. */
export interface AgentVariable {
  name: string;
  /** Empty if the environment must provide it. */
  value: string;
  /** The key of the answers that defines it. */
  source: 'model' | 'channels' | 'tools' | 'skills' | 'fallback' | 'security';
}

/** Lists every variable that the answers set or need, in step order; a name may occur twice. */
export function agentVariables(answers: AgentAnswers): AgentVariable[] {
  const { model, tools, skills, security } = answers;
  const key = modelVariable(answers);
  const search = searchServices.find(({ name }) => name === tools.search);
  const isSearching = tools.names.includes('web_search') && search !== undefined;
  return [
    ...(key === null ? [] : [variable(key, model.key, 'model')]),
    ...channelVariables(answers),
    ...(isSearching ? [variable(search.variable, tools.key, 'tools')] : []),
    ...Object.entries(skills.variables).map(([name, value]) => variable(name, value, 'skills')),
    ...answers.fallback.flatMap(({ key: value }, index) => {
      const name = fallbackVariable(answers, index);
      return name === null ? [] : [variable(name, value, 'fallback')];
    }),
    ...Object.entries(security.variables).map(([name, value]) => variable(name, value, 'security')),
  ];
}

/** Returns the variable of the model's key; `null` for a model without a key. */
export function modelVariable({ provider, model, security }: AgentAnswers): string | null {
  const usual = providerOffer(provider)?.variable ?? null;
  if (usual === null || provider !== 'openai-compatible' || model.key !== '') return usual;
  return Object.hasOwn(security.variables, usual) ? usual : null;
}

/**
 * Returns the variable of a fallback model's key: the provider's default, or a separate one if the default already
 * holds another key; `null` for a model without a key.
 */
export function fallbackVariable(answers: AgentAnswers, index: number): string | null {
  const { provider = '', key = '' } = answers.fallback[index] ?? {};
  const usual = providerOffer(provider)?.variable ?? null;
  if (usual === null || (provider === 'openai-compatible' && key === '')) return null;
  const first = [{ provider: answers.provider, key: answers.model.key }, ...answers.fallback].find(
    (one) => one.provider === provider,
  );
  return key === '' || first?.key === key ? usual : `FALLBACK_${index + 1}_API_KEY`;
}

function channelVariables({ channels }: AgentAnswers): AgentVariable[] {
  return Object.entries(channels).flatMap(([channel, values]) =>
    (channelOffer(channel)?.fields ?? []).flatMap(({ name, variable: at }) => {
      const value = values[name] ?? '';
      return at === undefined || typeof value !== 'string'
        ? []
        : [variable(at, value.trim(), 'channels')];
    }),
  );
}

function variable(name: string, value: string, source: AgentVariable['source']): AgentVariable {
  return { name, value, source };
}
