import type { ChannelsReading } from '../../actors/channels/channels.ts';
import { configuredAdapters, type ServiceConfig } from '../../actors/config/config.ts';
import { isUsualModel } from '../../actors/providers/providers.ts';
import { type WithheldVariables, withholdVariables } from '../../actors/secrets/secrets.ts';
import { checkAgent, type Findings } from '../../agent/start/agent-findings.ts';
import { usualKeyVariable } from '../../machines/models/key-variable.ts';
import type { Finding, Subject } from './check.ts';

type Model = ServiceConfig['model'] | ServiceConfig['model']['fallbacks'][number];

/** A model and the variables for its requests; `null` for a model that is not asked. */
export type AskedModel = { configured: Model; env: NodeJS.ProcessEnv } | null;

/** The agent's settings that are safe to use for outgoing requests. */
export interface Sendable {
  models: AskedModel[];
  providers: ServiceConfig['auth']['providers'];
  /** Issuer of the approvals page; `null` if there is none, or it is not asked. */
  pageIssuer: string | null;
  /** Names of identity providers that are not asked. */
  withheldProviders: string[];
  channels: ChannelsReading | null;
  withheldAdapters: ReadonlySet<string>;
  /** The admission variables. */
  admission: NodeJS.ProcessEnv;
}

/** The finding for settings that are not checked. */
export const withheld: Finding = {
  status: 'warn',
  message:
    'not asked: its settings would send a variable of this environment to a place that the folder names',
  fix: 'keep the variable with the agent, by holdpoint secret set',
};

/**
 * Decides which of an agent's settings may be used for requests. A folder received from another person must not learn
 * the variables of this process. These variables are therefore sent only under their default name to the default host;
 * any other value must come from the folder itself.
 */
export async function sendableOf(
  { directory, env, own }: Subject,
  { config, channels }: Findings,
): Promise<Sendable> {
  const apart = withholdVariables(own, env);
  const read = await checkAgent(directory, apart.env);
  const providers = read.config?.auth.providers ?? [];
  const pageIssuer = read.config?.approvals?.sign_in.issuer ?? null;
  const mayAsk = (provider: (typeof providers)[number]) =>
    provider.type === 'static_token' || !apart.isWithheld(provider);
  const asked = providers.filter(mayAsk);
  const askedNames = new Set(asked.map(({ name }) => name));
  return {
    models: modelsOf(config).map((one, at) =>
      isUsualModel(one) ? { configured: one, env } : ownModel(modelsOf(read.config)[at], apart),
    ),
    providers: asked,
    pageIssuer: pageIssuer !== null && !apart.isWithheld(pageIssuer) ? pageIssuer : null,
    withheldProviders: (config?.auth.providers ?? [])
      .map(({ name }) => name)
      .filter((name) => !askedNames.has(name)),
    ...channelsOf({ full: channels, own: read.channels }, { env, apart }),
    admission: admissionOf({ env, own }),
  };
}

function modelsOf(config: Pick<ServiceConfig, 'model'> | null): Model[] {
  return config === null ? [] : [config.model, ...config.model.fallbacks];
}

function ownModel(model: Model | undefined, { env, isWithheld }: WithheldVariables): AskedModel {
  if (model === undefined || isWithheld(model)) return null;
  const variable = model.api_key_env ?? usualKeyVariable(model.provider);
  const isOwn = variable === null || !isWithheld(env[variable]);
  return isOwn ? { configured: model, env: keptOf(env, isWithheld) } : null;
}

function keptOf(env: NodeJS.ProcessEnv, isWithheld: (value: unknown) => boolean) {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => !isWithheld(value)));
}

function channelsOf(
  { full, own }: { full: ChannelsReading | null; own: ChannelsReading | null },
  { env, apart: { isWithheld } }: { env: NodeJS.ProcessEnv; apart: WithheldVariables },
): Pick<Sendable, 'channels' | 'withheldAdapters'> {
  if (full === null) return { channels: null, withheldAdapters: new Set() };
  const chosen = {
    slack: isUsualSlack(full.slack, env) ? full.slack : (own?.slack ?? null),
    telegram: isUsualTelegram(full.telegram, env) ? full.telegram : (own?.telegram ?? null),
    webhook: own?.webhook ?? null,
    email: own?.email ?? null,
    teams: own?.teams ?? null,
  };
  const { slack, telegram, webhook, email, teams } = chosen;
  const isKept = {
    // The tokens are non-enumerable, so JSON does not contain them.
    slack: slack !== null && ![slack.botToken, slack.appToken, slack.apiUrl].some(isWithheld),
    telegram: telegram !== null && ![telegram.token, telegram.apiUrl].some(isWithheld),
    // A target's host is asked without its path and without a secret.
    webhook: webhook !== null && !isWithheld(Object.values(webhook.targets).map(({ url }) => url)),
    teams: teams !== null && !Object.values(teams.targets).some(({ url }) => isWithheld(url)),
    email: email !== null && ![email.password, email.host, email.user].some(isWithheld),
  };
  const withheldAdapters = configuredAdapters.filter(
    (name) => (full[name] ?? null) !== null && !isKept[name],
  );
  return {
    channels: {
      slack: isKept.slack ? slack : null,
      telegram: isKept.telegram ? telegram : null,
      webhook: isKept.webhook ? webhook : null,
      ...(isKept.email && email !== null ? { email } : {}),
      ...(isKept.teams && teams !== null ? { teams } : {}),
    },
    withheldAdapters: new Set(withheldAdapters),
  };
}

function isUsualSlack(slack: ChannelsReading['slack'], env: NodeJS.ProcessEnv): boolean {
  return (
    slack?.apiUrl === 'https://slack.com/api/' &&
    slack.botToken === env['SLACK_BOT_TOKEN'] &&
    slack.appToken === env['SLACK_APP_TOKEN']
  );
}

function isUsualTelegram(telegram: ChannelsReading['telegram'], env: NodeJS.ProcessEnv): boolean {
  return (
    telegram?.apiUrl === 'https://api.telegram.org' && telegram.token === env['TELEGRAM_BOT_TOKEN']
  );
}

/** If the folder names the platform, it receives no token of this process. */
function admissionOf({ env, own }: Pick<Subject, 'env' | 'own'>): NodeJS.ProcessEnv {
  if (own['SERVICE_ADMISSION_URL'] === undefined) return env;
  const { SERVICE_PLATFORM_TOKEN: token } = own;
  const { SERVICE_PLATFORM_TOKEN: _, ...others } = env;
  return token === undefined ? others : { ...others, SERVICE_PLATFORM_TOKEN: token };
}
