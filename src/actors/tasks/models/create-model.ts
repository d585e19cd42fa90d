import type { Clock, LanguageModel, Tool } from '../../ports.ts';
import { guardFetch, loadProvider, type Provider } from '../../providers/providers.ts';
import { createChainModel } from './chain-model.ts';
import { type ChainSettings, type ModelChoice, modelChoices } from './model-choices.ts';
import { createProviderModel, type ProviderModel } from './provider-model.ts';
import { type ScriptStep, scriptedModel } from './scripted-model.ts';
import { SharedTurns } from './shared-turns.ts';
import { modelWithinBudget } from './within-budget.ts';

/** How the model of an agent is configured (docs/contract/models.md); the timeout is milliseconds. */
export interface ModelSettings extends ChainSettings {
  /** How long one answer may take as a whole. */
  timeout: number;
  max_output_tokens?: number | undefined;
  /** Tokens that a model is told in one turn, at most; the default of real models when absent. */
  context_budget?: number | undefined;
  /** What the provider `scripted` plays. */
  script: readonly ScriptStep[];
}

/** What the model of an agent is made with. */
export interface ModelPorts {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** The egress of the daemon. */
  fetch: typeof globalThis.fetch;
  /** What the model may ask for; read anew at each turn. */
  tools: () => Iterable<Tool>;
  /** What it is told before anything else; `null` for nothing. */
  instructions: () => string | null;
}

/** Tokens that nearly every model of today takes, with room for its answer. */
const defaultBudget = 100_000;

/** Pieces of answers that are read in one turn of the event loop: some milliseconds of work. */
const piecesAtOnce = 128;

const mebibyte = 1024 * 1024;

/** A megabyte of answer is sent as some thirty, one event for each word. */
const bounds = { bytes: 64 * mebibyte, errorBytes: 64 * 1024 };

/**
 * Makes the model of an agent as its configuration says, with its fallbacks; nothing is asked yet. Throws ModelError when a
 * key is missing, which `validate` says with its line.
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
  const chain = modelChoices(config, ports.env).map((choice) =>
    providerModelOf(choice, config, { ...ports, turns }),
  );
  return createChainModel(chain, ports.clock);
}

function providerModelOf(
  { subject, api, apiKey, organization }: ModelChoice,
  { timeout, max_output_tokens: maxOutputTokens }: ModelSettings,
  { clock, tools, instructions, turns, ...ports }: ModelPorts & { turns: SharedTurns },
): ProviderModel {
  const fetch = guardFetch(ports.fetch, bounds);
  const { provider, address: baseURL } = subject;
  let loading: Promise<Provider> | null = null;
  const load = (): Promise<Provider> => {
    loading ??= loadProvider({ provider, baseURL, apiKey, organization, fetch });
    return loading;
  };
  const limits = { timeout, maxOutputTokens };
  return createProviderModel({ subject, api, ...limits, load, tools, instructions, turns, clock });
}
