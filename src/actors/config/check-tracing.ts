import { readTracing, TracingSettingsError } from '../telemetry/telemetry.ts';
import { errorAt, type Finding } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Checks the sampler and endpoint of tracing if it is enabled (docs/contract/configuration.md). */
export function checkTracing(
  { observability: { tracing }, agent_id: agentId }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  if (!tracing.enabled) return [];
  try {
    readTracing(tracing, { agentId, env });
    return [];
  } catch (error) {
    if (!(error instanceof TracingSettingsError)) throw error;
    const { key, message } = error;
    return [errorAt(['observability', 'tracing', key], message)];
  }
}
