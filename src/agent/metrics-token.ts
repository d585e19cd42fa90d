import type { ServiceConfig } from '../actors/config/config.ts';
import type { Skill } from '../actors/tools/tools.ts';
import type { JsonValue } from '../machines/json.ts';
import { namedVariables, usualVariables } from './agent-capture.ts';

/** The sources of secrets with which the token of the metrics is compared. */
export interface MetricsTokenParts {
  config: ServiceConfig;
  skills: readonly Skill[];
  env: Readonly<Record<string, string | undefined>>;
}

/** The token of the metrics also opens something else. The message names the remedy. */
export class SharedTokenError extends Error {}

/**
 * Returns the token of `server.metrics`; `null` without one. Throws SharedTokenError if the token is another secret of
 * the agent, or if a script receives it.
 */
export function metricsToken({ config, skills, env }: MetricsTokenParts): string | null {
  const { metrics, ...server } = config.server;
  if (metrics === undefined) return null;
  const { token_env: variable } = metrics;
  const token = env[variable] ?? '';
  const isGiven = skills.some(({ tools }) =>
    tools.some(({ environment }) => environment.includes(variable)),
  );
  if (isGiven) {
    throw new SharedTokenError(
      `the scripts of a skill receive ${variable}, the token of server.metrics; use another variable for one of the two`,
    );
  }
  const others = { ...config, server } as unknown as JsonValue;
  const rival = [...usualVariables, ...namedVariables(others)].find((name) => env[name] === token);
  // A header such as `Bearer ${TOKEN}` contains it.
  const written = JSON.stringify(token).slice(1, -1);
  if (rival !== undefined || JSON.stringify(others).includes(written)) {
    const place = rival === undefined ? 'in service.yaml' : `in ${rival}`;
    throw new SharedTokenError(
      `the token of server.metrics in ${variable} is also another secret ${place}; create a token that opens the metrics alone`,
    );
  }
  return token;
}
