import { addressOf, askJson } from './http.mjs';
import { variable } from './run.mjs';

/** Asks Prometheus and answers the data of its answer. */
export async function askPrometheus(path, query = {}) {
  const url = addressOf(variable('PROMETHEUS_URL'), 'api', 'v1', path);
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
  const token = process.env.PROMETHEUS_TOKEN ?? '';
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  const answer = await askJson(url, { headers });
  if (answer?.status !== 'success') throw new Error('Prometheus did not answer the query');
  return answer.data;
}
