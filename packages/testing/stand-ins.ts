import type { ServiceConfig } from '../../src/actors/config/config.ts';
import type { Every } from '../../src/actors/every.ts';
import {
  type CredentialIssuer,
  createIntentScorer,
  type IntentScorer,
} from '../../src/actors/governance/governance.ts';
import type { Log } from '../../src/actors/ports/log.ts';
import type { LanguageModel } from '../../src/actors/ports/model.ts';
import { ToolMap } from '../../src/actors/tool-name.ts';
import type { StandIns } from '../../src/agent/start/create-system.ts';

export interface StandInParts {
  config: ServiceConfig;
  model: LanguageModel;
  /** Returns the intent score of a call. */
  similarity: (request: string, call: string) => number;
  every: Every;
  log: Log;
}

/** Creates replacements for the agent's parts that make outbound requests or read the system clock. */
export function standInsOf({ config, model, similarity, every, log }: StandInParts): StandIns {
  const { threshold, hard_threshold: hardThreshold } = config.security.intent_alignment;
  const scorer: IntentScorer = createIntentScorer({
    embedder: { embed: async ([request = '', call = '']) => vectorsOf(similarity(request, call)) },
    thresholds: { threshold, hardThreshold },
    log,
  });
  return { model, scorer, issuer: emptyCredentials(config), every };
}

/** Returns two vectors with the given cosine. */
function vectorsOf(cosine: number): number[][] {
  const rest = Math.sqrt(Math.max(0, 1 - cosine ** 2));
  return [
    [1, 0],
    [cosine, rest],
  ];
}

/** Issues empty credentials for every tool that has credentials. */
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
