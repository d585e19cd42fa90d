import { errorAt, type Finding } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

const path = ['server', 'metrics', 'token_env'];

const shortest = 16;
const longest = 512;

/** Checks that the variable of `server.metrics` holds a usable token and that no provider signs callers in with it. */
export function checkMetrics(
  { server: { metrics }, auth }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  if (metrics === undefined) return [];
  const { token_env: variable } = metrics;
  const isShared = auth.providers.some(
    ({ type, settings }) => type === 'static_token' && settings.token_env === variable,
  );
  if (isShared) {
    const message = `a provider signs callers in with ${variable}, so the monitoring system could call the agent; use another variable`;
    return [errorAt(path, message)];
  }
  const fault = faultOf(Object.hasOwn(env, variable) ? env[variable] : undefined);
  return fault === null ? [] : [errorAt(path, `the environment variable ${variable} ${fault}`)];
}

/** Returns what is wrong with a token, without the token. */
function faultOf(token: string | undefined): string | null {
  if (token === undefined || token === '') return 'is not set; it must hold the token';
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return 'has a character that no bearer token can have, such as a space; use letters and digits';
  }
  if (token.length >= shortest && token.length <= longest) return null;
  return `must have ${shortest} to ${longest} characters; create one with openssl rand -hex 32`;
}
