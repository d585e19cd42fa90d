import { textTokens } from '../../../machines/conversation/estimate-tokens.ts';
import { fitConversation } from '../../../machines/conversation/fit-conversation.ts';
import type { Clock } from '../../ports/clock.ts';
import { type LanguageModel, ModelError } from '../../ports/model.ts';
import type { Tool } from '../../ports/tool.ts';
import {
  guardFetch,
  loadProvider,
  type Provider,
  type ProviderName,
  providerAddress,
  providerKey,
  StreamPace,
} from '../../providers/providers.ts';
import { createChainModel } from './chain-model.ts';
import type { ModelSubject } from './model-subject.ts';
import { createProviderModel, type ProviderModel } from './provider-model.ts';
import { type ScriptStep, scriptedModel } from './scripted-model.ts';
import { SharedTurns } from './shared-turns.ts';

/** Model settings of an agent (docs/contract/models.md); the timeout is in milliseconds. */
export interface ModelSettings extends ChainSettings {
  /** Time limit of one complete answer, in milliseconds. */
  timeout: number;
  /** Minimum time between two pieces of streamed text, in milliseconds; 0 for none. */
  stream_interval: number;
  max_output_tokens?: number | undefined;
  /** Maximum input tokens of a turn; a default for real models when absent. */
  context_budget?: number | undefined;
  /** Script for the provider `scripted`. */
  script: readonly ScriptStep[];
}

export interface ModelPorts {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Egress of the daemon. */
  fetch: typeof globalThis.fetch;
  /** Returns the tools of the model; called for each turn. */
  tools: () => Iterable<Tool>;
  /** Returns the system prompt; `null` for none. */
  instructions: () => string | null;
}

/** Default token budget: almost every current model accepts it, with room for its answer. */
const defaultBudget = 100_000;

/** Stream parts processed in one event-loop turn, which takes some milliseconds. */
const piecesAtOnce = 64;

const mebibyte = 1024 * 1024;

/** A provider's stream is about thirty times the size of its text, since each word is a separate event. */
const bounds = { bytes: 64 * mebibyte, errorBytes: 64 * 1024 };

/**
 * Creates the configured model of an agent with its fallbacks, without any request. Throws ModelError if a key is
 * missing, which `validate` reports with its line.
 */
export function createModel(config: ModelSettings, ports: ModelPorts): LanguageModel {
  const isScripted = config.provider === 'scripted';
  const model = isScripted
    ? scriptedModel(config.name, config.script)
    : chainModelOf(config, ports);
  const tokens = config.context_budget ?? (isScripted ? null : defaultBudget);
  return tokens === null ? model : modelWithinBudget(model, { ...ports, tokens });
}

function chainModelOf(config: ModelSettings, ports: ModelPorts): LanguageModel {
  const turns = new SharedTurns(piecesAtOnce);
  const pace = new StreamPace(config.stream_interval, ports.clock);
  const chain = modelChoices(config, ports.env).map((choice) =>
    providerModelOf(choice, config, { ...ports, turns, pace }),
  );
  return createChainModel(chain, ports.clock);
}

/** Parts that all models of an agent share. */
interface SharedParts extends ModelPorts {
  turns: SharedTurns;
  pace: StreamPace;
}

function providerModelOf(
  { subject, api, apiKey, organization }: ModelChoice,
  { timeout, max_output_tokens: maxOutputTokens }: ModelSettings,
  { clock, tools, instructions, turns, pace, ...ports }: SharedParts,
): ProviderModel {
  const fetch = guardFetch(pace.wrap(ports.fetch), bounds);
  const { provider, address: baseURL } = subject;
  let loading: Promise<Provider> | null = null;
  const load = (): Promise<Provider> => {
    loading ??= loadProvider({ provider, baseURL, apiKey, organization, fetch });
    return loading;
  };
  const limits = { timeout, maxOutputTokens };
  return createProviderModel({ subject, api, ...limits, load, tools, instructions, turns, clock });
}

/** Limits of a conversation's size. */
interface ContextBudget {
  /** Maximum input tokens of a turn. */
  tokens: number;
  /** Returns the tools of the model; called for each turn. */
  tools: () => Iterable<Tool>;
  /** Returns the system prompt; `null` for none. */
  instructions: () => string | null;
}

/**
 * Wraps a model so that its input stays within a token budget. The turn includes the estimate, which the provider's own
 * count corrects. Instructions and tools are never shortened.
 */
export function modelWithinBudget(model: LanguageModel, budget: ContextBudget): LanguageModel {
  return {
    provider: model.provider,
    name: model.name,
    async next(conversation, options) {
      const { told = conversation.exchanges.length, tokensPerEstimate = 1 } = conversation;
      const always = fixedTokens(budget);
      const room = Math.floor(budget.tokens / tokensPerEstimate) - always;
      const fitted = fitConversation({ ...conversation, told }, room);
      if (fitted.kind === 'tooLong') {
        const needed = Math.ceil((fitted.tokens + always) * tokensPerEstimate);
        throw new ModelError(
          `the conversation is too long: what cannot be omitted takes about ${needed} tokens, and model.context_budget is ${budget.tokens}; send less at once, have the tools return less, or raise it if the model takes more`,
        );
      }
      const { leftOut, whole, tokens } = fitted;
      if (leftOut !== null) {
        const counted = (estimated: number) => Math.ceil((estimated + always) * tokensPerEstimate);
        options.onCompacted?.({
          ...leftOut,
          tokensBefore: counted(whole),
          tokensAfter: counted(tokens),
        });
      }
      const turn = await model.next({ ...conversation, ...fitted.conversation }, options);
      return { ...turn, estimatedTokens: fitted.tokens + always };
    },
  };
}

function fixedTokens({ tools, instructions }: ContextBudget): number {
  const offered = [...tools()].map(({ name, description, parameters }) =>
    textTokens(`${name}${description}${JSON.stringify(parameters)}`),
  );
  return offered.reduce((sum, tokens) => sum + tokens, textTokens(instructions() ?? ''));
}

/** A configured model with the values for its requests. */
interface ModelChoice {
  subject: ModelSubject;
  /** The API of openai to use. */
  api: 'chat' | 'responses';
  /** `null` for a server without a key. */
  apiKey: string | null;
  /** Empty for the key's default. */
  organization: string;
}

/** Settings of one model. */
interface LinkSettings {
  provider: ProviderName | 'scripted';
  name: string;
  /** Empty for the default URL. */
  base_url: string;
  api_key_env?: string | undefined;
  organization_id: string;
  api?: 'chat' | 'responses' | undefined;
}

/** Settings of a chain of models: the first one and its fallbacks. */
interface ChainSettings extends LinkSettings {
  fallbacks: readonly LinkSettings[];
}

/**
 * Returns the models of an agent in the order of use; none for `scripted`. Throws ModelError if a key or URL is
 * missing.
 */
function modelChoices(
  model: ChainSettings,
  env: Readonly<Record<string, string | undefined>>,
): ModelChoice[] {
  return [model, ...model.fallbacks].flatMap((one) => choiceOf(one, env));
}

function choiceOf(
  configured: LinkSettings,
  env: Readonly<Record<string, string | undefined>>,
): ModelChoice[] {
  const {
    provider,
    name: model,
    base_url,
    api_key_env,
    organization_id: organization,
  } = configured;
  if (provider === 'scripted') return [];
  const address = providerAddress(provider, base_url);
  if (address === null) throw new ModelError(`${provider} has no base_url; write its address`);
  const found = providerKey({ provider, api_key_env, purpose: 'the model' }, env);
  if (!found.ok) throw new ModelError(found.message);
  const { key: apiKey, variable: keyVariable } = found;
  // Servers compatible with openai implement the older API; openai's own models support more through the newer one.
  const api = configured.api ?? (base_url === '' ? 'responses' : 'chat');
  return [{ subject: { provider, model, address, keyVariable }, api, apiKey, organization }];
}
