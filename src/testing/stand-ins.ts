import type { ServiceConfig } from '../actors/config/config.ts';
import type { Every } from '../actors/every.ts';
import {
  type CredentialIssuer,
  createIntentScorer,
  type IntentScorer,
} from '../actors/governance/governance.ts';
import type { LanguageModel, Log } from '../actors/ports.ts';
import { ToolMap } from '../actors/tool-name.ts';
import type { StandIns } from '../agent/create-system.ts';

/** What the stand-ins of an agent are made of. */
export interface StandInParts {
  config: ServiceConfig;
  model: LanguageModel;
  /** How well a call fits what was asked. */
  similarity: (request: string, call: string) => number;
  every: Every;
  log: Log;
}

/** Creates what stands for the parts of an agent that reach out, or go by the time of the machine. */
export function standInsOf({ config, model, similarity, every, log }: StandInParts): StandIns {
  const { threshold, hard_threshold: hardThreshold } = config.security.intent_alignment;
  const scorer: IntentScorer = createIntentScorer({
    embedder: { embed: async ([request = '', call = '']) => vectorsOf(similarity(request, call)) },
    thresholds: { threshold, hardThreshold },
    log,
  });
  return { model, scorer, issuer: emptyCredentials(config), every };
}

/** Two vectors whose cosine this is. */
function vectorsOf(cosine: number): number[][] {
  const rest = Math.sqrt(Math.max(0, 1 - cosine ** 2));
  return [
    [1, 0],
    [cosine, rest],
  ];
}

/** Makes credentials without a value for whatever tool has some. */
function emptyCredentials({ credentials }: ServiceConfig): CredentialIssuer {
  const providers = new ToolMap(credentials.map(({ tool, provider }) => [tool, provider]));
  return {
    providerOf: (tool) => providers.get(tool) ?? null,
    issue: async ({ tool }) => ({
      provider: providers.get(tool) ?? 'static',
      ttl: null,
      env: () => ({}),
      secretValues: () => [],
      revoke: () => undefined,
    }),
  };
}
