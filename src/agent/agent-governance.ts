import type { ServiceConfig } from '../actors/config/config.ts';
import {
  type CredentialIssuer,
  createCachingEmbedder,
  createCredentialIssuer,
  createEmbedder,
  createIntentScorer,
  createPolicy,
  type Guardrails,
  type IntentScorer,
  type Modify,
  type Policy,
} from '../actors/governance/governance.ts';
import type { Clock, Log, Outbound, Tool } from '../actors/ports.ts';

/** What governs an agent; the layers that need the outside are `null` while they are off. */
export interface Governance {
  policy: Policy;
  scorer: IntentScorer | null;
  issuer: CredentialIssuer | null;
}

/** The configuration has been checked and its rules compiled. */
export interface GovernanceParts {
  config: Pick<ServiceConfig, 'security' | 'credentials'>;
  /** True when every caller is known. */
  isAuthOn: boolean;
  tools: ReadonlyMap<string, Tool>;
  guardrails: Guardrails | null;
  modify: Modify | null;
  /** Takes the secrets out of a text that is kept. */
  scrub: (text: string) => string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
  /** Scores calls, where intent alignment is on, in place of the configured embedder. */
  scorer?: IntentScorer;
  /** Makes the credentials of calls, where some have any, in place of the configured providers. */
  issuer?: CredentialIssuer;
  /** How the embedder and the token service are asked; directly when absent. */
  outbound?: Outbound;
}

/** Action texts whose embeddings are kept. */
const keptEmbeddings = 1_000;

/** Assembles every layer that governs the calls of an agent (docs/contract/governance.md). */
export function createGovernance(parts: GovernanceParts): Governance {
  const { security, credentials } = parts.config;
  const issuer = issuerOf(credentials, parts);
  const policy = createPolicy({
    security,
    isAuthOn: parts.isAuthOn,
    tools: parts.tools,
    guardrails: parts.guardrails,
    modify: parts.modify,
    credentials: issuer,
    scrub: parts.scrub,
  });
  return { policy, scorer: intentScorerOf(security.intent_alignment, parts), issuer };
}

function issuerOf(
  credentials: ServiceConfig['credentials'],
  parts: GovernanceParts,
): CredentialIssuer | null {
  if (credentials.length === 0) return null;
  return parts.issuer ?? createCredentialIssuer(credentials, parts);
}

function intentScorerOf(
  alignment: ServiceConfig['security']['intent_alignment'],
  parts: GovernanceParts,
): IntentScorer | null {
  if (!alignment.enabled) return null;
  if (parts.scorer !== undefined) return parts.scorer;
  const { threshold, hard_threshold: hardThreshold } = alignment;
  const { env, clock, outbound } = parts;
  const ports = { env, clock, ...(outbound === undefined ? {} : { fetch: outbound.fetch }) };
  return createIntentScorer({
    embedder: createCachingEmbedder(createEmbedder(alignment, ports), { max: keptEmbeddings }),
    thresholds: { threshold, hardThreshold },
    log: parts.log,
  });
}
