import type { ServiceConfig } from '../../actors/config/config.ts';
import {
  type ModelProbe,
  type ModelQuestion,
  probeModel,
  providerAddress,
  providerKey,
} from '../../actors/providers/providers.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding } from './check.ts';
import { type AskedModel, withheld } from './sendable.ts';

/** Timeout in milliseconds for a provider's list of models. */
const patience = 5_000;

/**
 * Checks that each provider lists its model of the chain and accepts the API key; reports the first model that fails.
 * `models` holds the models of the chain, each with its variables. Sends no request if `config` is invalid (`null`).
 */
export async function checkModel(
  config: Pick<ServiceConfig, 'model'> | null,
  models: readonly AskedModel[],
): Promise<Finding> {
  if (config === null) {
    return { status: 'warn', message: 'no model is asked, since service.yaml is not valid' };
  }
  const { model } = config;
  if (model.provider === 'scripted') {
    return { status: 'pass', message: 'the model is scripted, so no provider is asked' };
  }
  const findings = await Promise.all(models.map(examine));
  const wrong =
    findings.find(({ status }) => status === 'fail') ??
    findings.find(({ status }) => status === 'warn');
  if (wrong !== undefined) return wrong;
  return { status: 'pass', message: findings.map(({ message }) => message).join(', ') };
}

async function examine(asked: AskedModel): Promise<Finding> {
  if (asked === null) return withheld;
  const { configured, env } = asked;
  const { provider, name: model, base_url, api_key_env } = configured;
  const address = providerAddress(provider, base_url);
  const key = providerKey({ provider, api_key_env, purpose: 'the model' }, env);
  if (provider === 'scripted' || address === null || !key.ok) {
    return { status: 'fail', message: plainLine(`${provider} ${model} cannot be asked`) };
  }
  const question = { provider, model, address, apiKey: key.key };
  const probe = await probeModel(question, globalThis.fetch, AbortSignal.timeout(patience));
  return describe(probe, question, key.variable);
}

function describe(
  probe: ModelProbe,
  { provider, model, address }: ModelQuestion,
  variable: string | null,
): Finding {
  const place = `${provider} at ${URL.parse(address)?.origin ?? address}`;
  const told = (status: Finding['status'], message: string, fix?: string): Finding => ({
    status,
    message: plainLine(message),
    ...(fix === undefined ? {} : { fix: plainLine(fix) }),
  });
  switch (probe.kind) {
    case 'known':
      return told('pass', `${provider} knows ${model}`);
    case 'unlisted':
      return told('warn', `${place} answers, and does not report whether ${model} exists`);
    case 'unknown':
      return told(
        'fail',
        `${place} does not know the model ${model}`,
        provider === 'ollama' ? `ollama pull ${model}` : 'fix model.name in service.yaml',
      );
    case 'refused':
      return told(
        'fail',
        `${place} refuses ${variable === null ? 'a request without a key' : `the key in ${variable}`} (${probe.status})`,
        variable === null
          ? 'name the variable that holds it in model.api_key_env'
          : `set ${variable}`,
      );
    case 'unreachable':
      return told(
        'fail',
        `${place} could not be reached`,
        provider === 'ollama' ? 'ollama serve' : 'check model.base_url and the network',
      );
  }
}
