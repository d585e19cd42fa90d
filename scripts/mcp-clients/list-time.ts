import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

/** Measures `tools/list` of a client of the SDK, in milliseconds. */
export async function listTime(url: string): Promise<{ tools: number; median: number }> {
  const client = new Client({ name: 'matrix', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const times: number[] = [];
  let tools = 0;
  for (let round = 0; round < 20; round += 1) {
    const began = performance.now();
    tools = (await client.listTools()).tools.length;
    times.push(performance.now() - began);
  }
  await client.close();
  return { tools, median: times.toSorted((one, other) => one - other)[10] ?? 0 };
}
