import { isJsonObject, type JsonObject, parseJson } from '../../../machines/json.ts';
import { isCanonicalText } from './canonical-text.ts';
import { maximumLineBytes } from './chain-format.ts';

/** Faults of a single line. */
export type LineReason =
  | 'the line is longer than 4 MiB'
  | 'the line is empty'
  | 'the line begins with a byte order mark'
  | 'the line holds a carriage return'
  | 'the line is not valid UTF-8'
  | 'the line is not valid JSON'
  | 'the line is not a JSON object'
  | 'the line is not in canonical form (RFC 8785)';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Parses one line of the log, without its newline; returns a string with the reason if it is invalid. */
export function readLine(bytes: Uint8Array): JsonObject | LineReason {
  const refused = refusedBytes(bytes);
  if (refused !== null) return refused;
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return 'the line is not valid UTF-8';
  }
  const value = parseJson(text);
  if (value === undefined) return 'the line is not valid JSON';
  if (!isJsonObject(value)) return 'the line is not a JSON object';
  return isCanonicalText(value, text) ? value : 'the line is not in canonical form (RFC 8785)';
}

function refusedBytes(bytes: Uint8Array): LineReason | null {
  if (bytes.length > maximumLineBytes) return 'the line is longer than 4 MiB';
  if (bytes.length === 0) return 'the line is empty';
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return 'the line begins with a byte order mark';
  }
  return bytes.includes(0x0d) ? 'the line holds a carriage return' : null;
}
