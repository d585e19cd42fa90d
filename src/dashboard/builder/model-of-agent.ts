import { isUsualModel } from '../../actors/providers/providers.ts';
import { SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment } from '../../agent/start/agent-environment.ts';
import { checkAgent } from '../../agent/start/agent-findings.ts';
import { withAssumed } from '../../agent/start/lenient-environment.ts';
import type { ModelOfAgent } from './builder-model.ts';

/**
 * Returns an agent's model with its own API key. Builds the agent's variables anew, so that variables of two agents are
 * never mixed. A model other than the default one is read without any variable of this process, because the author of
 * the folder may have put a variable into the base URL. `null` if the agent has no model that can write skills.
 */
export async function modelOfAgent(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<ModelOfAgent | null> {
  const usual = await modelWith(directory, await ownEnvironment(directory, env));
  return usual === null || isUsualModel(usual.settings)
    ? usual
    : modelWith(directory, await ownEnvironment(directory, {}));
}

async function modelWith(directory: string, env: NodeJS.ProcessEnv): Promise<ModelOfAgent | null> {
  // A missing key must not hide which model needs it.
  const given = withAssumed(env, (name) => (isKeyName.test(name) ? 'missing' : undefined));
  const { config } = await checkAgent(directory, given);
  if (config === null || config.model.provider === 'scripted') return null;
  const { provider, name, base_url, api_key_env, organization_id: organization } = config.model;
  const reach = base_url === '' ? {} : { base_url };
  return { settings: { provider, model: name, ...reach, api_key_env, organization }, env };
}

const isKeyName = /^(?!SERVICE_|OTEL_)[A-Z0-9_]*(?:KEY|TOKEN|SECRET)[A-Z0-9_]*$/;

async function ownEnvironment(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<NodeJS.ProcessEnv> {
  try {
    return (await agentEnvironment(directory, { env, passphrase: null })).env;
  } catch (error) {
    if (error instanceof SecretsError) return {};
    throw error;
  }
}
