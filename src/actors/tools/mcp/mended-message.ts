import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { JSONRPCMessageSchema } from '@modelcontextprotocol/core';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../machines/json.ts';

/**
 * Returns a server's message, or list of messages, in the form that the SDK accepts: optional fields that are `null`
 * are removed. An invalid answer to a request becomes an error that names the faulty field; the SDK would drop it and
 * let the call run into its deadline. Invalid JSON is returned unchanged.
 */
export function mendedMessage(text: string): string {
  const said = parseJson(text);
  if (said === undefined) return text;
  const messages = Array.isArray(said) ? said : [said];
  const mended = messages.map(mendedAnswer);
  if (mended.every((message, index) => message === messages[index])) return text;
  return JSON.stringify(Array.isArray(said) ? mended : mended[0]);
}

function mendedAnswer(said: JsonValue): JsonValue {
  if (!isJsonObject(said) || 'method' in said || !isId(said['id'])) return said;
  const { id, result, error = null } = said;
  if (result === undefined && error === null) return said;
  if (error === null && !isJsonObject(result)) {
    return unreadable(id, `its result is ${kindOf(result ?? null)}`);
  }
  const part =
    error === null ? { result: resultOf(result as JsonObject) } : { error: errorOf(error) };
  if (part.result === result && JSONRPCMessageSchema.safeParse(said).success) return said;
  const message: JsonObject = { jsonrpc: '2.0', id, ...part };
  if (isDeep(message)) return unreadable(id, 'it goes too deep');
  const isMessage = JSONRPCMessageSchema.safeParse(message).success;
  return isMessage ? message : unreadable(id, 'the _meta of its result is no object of MCP');
}

/** A message nested too deeply cannot be serialised again. */
function isDeep(message: JsonObject): boolean {
  try {
    JSON.stringify(message);
    return false;
  } catch {
    return true;
  }
}

function isId(value: JsonValue | undefined): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function unreadable(id: string | number, why: string): JsonObject {
  const message = `the answer is no message of MCP: ${why}`;
  return { jsonrpc: '2.0', id, error: { code: ProtocolErrorCode.InternalError, message } };
}

function errorOf(said: JsonValue): JsonObject {
  if (!isJsonObject(said)) {
    const message = typeof said === 'string' ? said : 'an error without a message';
    return { code: ProtocolErrorCode.InternalError, message };
  }
  const { code = null, message, data } = said;
  const isCode = Number.isSafeInteger(code);
  const words = typeof message === 'string' ? message : 'an error without a message';
  return {
    code: isCode ? code : ProtocolErrorCode.InternalError,
    message: isCode || code === null ? words : `${words} (${JSON.stringify(code)})`,
    ...(data === undefined ? {} : { data }),
  };
}

/** Some servers send `null` for empty optional fields. */
function resultOf(said: JsonObject): JsonObject {
  const result = withoutNulls(said);
  if (!('protocolVersion' in result)) return result;
  const { capabilities, serverInfo } = result;
  return {
    ...result,
    capabilities: isJsonObject(capabilities) ? withoutNulls(capabilities) : {},
    serverInfo: {
      name: '',
      version: '',
      ...(isJsonObject(serverInfo) ? withoutNulls(serverInfo) : {}),
    },
  };
}

function withoutNulls(said: JsonObject): JsonObject {
  const values = Object.entries(said);
  return values.some(([, value]) => value === null)
    ? Object.fromEntries(values.filter(([, value]) => value !== null))
    : said;
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
}
