/** A message sender of MCP 2026-07-28, without sessions. */
export interface ModernMcp {
  /** Sends one request and resolves with the answer to it. */
  (method: string, params?: Record<string, unknown>, more?: ModernRequest): Promise<ModernAnswer>;
}

/** What a test changes in a request. */
export interface ModernRequest {
  headers?: Record<string, string>;
  meta?: Record<string, unknown>;
  capabilities?: object;
  signal?: AbortSignal;
}

/** The answer to a request: its HTTP status, and its JSON-RPC answer after the notifications before it. */
export interface ModernAnswer {
  status: number;
  result?: any;
  error?: any;
  notifications: any[];
}

/** The capabilities of a client that accepts tasks. */
export const acceptsTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** The capabilities of a client that shows addresses to its user. */
export const showsLinks = { elicitation: { url: {} } };

/** Creates a sender of messages to an agent. */
export function modernMcp(
  url: string,
  capabilities: object = {},
  token: string | null = null,
): ModernMcp {
  return async (method, params = {}, more = {}) => {
    const name = params['taskId'] ?? params['name'];
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...more.headers,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method,
        params: {
          ...params,
          _meta: { ...envelopeOf(more.capabilities ?? capabilities), ...more.meta },
        },
      }),
      ...(more.signal === undefined ? {} : { signal: more.signal }),
    });
    return { status: response.status, ...read(await response.text()) };
  };
}

function envelopeOf(capabilities: object): object {
  const at = (key: string) => `io.modelcontextprotocol/${key}`;
  return {
    [at('protocolVersion')]: '2026-07-28',
    [at('clientInfo')]: { name: 'test', version: '1' },
    [at('clientCapabilities')]: capabilities,
  };
}

function read(text: string): Omit<ModernAnswer, 'status'> {
  const messages = text.startsWith('{')
    ? [JSON.parse(text)]
    : [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data));
  const { jsonrpc: _, id: __, ...answer } = messages.at(-1) ?? {};
  return { ...answer, notifications: messages.slice(0, -1) };
}
