import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';

/** How a client of the SDK reaches an agent. */
export interface McpClientOptions {
  token?: string;
  fetch?: typeof fetch;
}

/** Connects a client of the SDK to the agent at a URL; it closes after the test. */
export async function mcpClientAt(
  url: string,
  { token, ...options }: McpClientOptions = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers },
    ...options,
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  return client;
}

/** Returns the first text of a result. */
export function textIn(result: object): string {
  const { content } = result as { content: { text?: string }[] };
  return content[0]?.text ?? '';
}
