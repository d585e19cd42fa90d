import { JSONPathError, query } from 'json-p3';
import { InexactNumberError, readExactJson } from '../../../machines/exact-json.ts';
import type { JsonValue } from '../../../machines/json.ts';
import type { Apart } from './run-apart.ts';

/** Maximum characters of a result. */
const longest = 1024 * 1024;

/** Returns the values that an RFC 9535 query selects in a JSON text, as a JSON list; runs in a worker. */
export function queryJson({ json, path }: { json: string; path: string }): Apart {
  let value: JsonValue;
  try {
    value = readExactJson(json);
  } catch (error) {
    if (error instanceof InexactNumberError) return { problem: `argument json: ${error.message}` };
    return { problem: 'argument json is not JSON' };
  }
  try {
    const text = JSON.stringify(query(path, value as never).values());
    if (text.length <= longest) return { text };
    return { problem: 'what was found is larger than 1 MiB; ask for less' };
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error;
    const [reason] = error.message.split(' (');
    return { problem: `argument path is not an RFC 9535 query: ${reason}` };
  }
}
