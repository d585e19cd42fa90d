import type { Clock } from '../../ports/clock.ts';
import type { LanguageModel } from '../../ports/model.ts';
import type { Tool } from '../../ports/tool.ts';
import { guardFetch, loadProvider, type Provider, StreamPace } from '../../providers/providers.ts';
import { createChainModel } from './chain-model.ts';
import { type ChainSettings, type ModelChoice, modelChoices } from './model-choices.ts';
import { createProviderModel, type ProviderModel } from './provider-model.ts';
import { type ScriptStep, scriptedModel } from './scripted-model.ts';
import { SharedTurns } from './shared-turns.ts';
import { modelWithinBudget } from './within-budget.ts';

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
