import { addressOf, askJson } from './http.mjs';
import { variable } from './run.mjs';

/** Asks the admin interface of Unleash about a project. */
export function askUnleash(project, parts, options = {}) {
  const url = addressOf(variable('UNLEASH_URL'), 'api', 'admin', 'projects', project, ...parts);
  return askJson(url, { ...options, headers: { authorization: variable('UNLEASH_TOKEN') } });
}
