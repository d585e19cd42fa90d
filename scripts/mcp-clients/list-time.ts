import { pathToFileURL } from 'node:url';

interface ListingClient {
  connect(transport: object): Promise<void>;
  listTools(): Promise<{ tools: object[] }>;
  close(): Promise<void>;
}

/** Measures `tools/list` of the newest SDK, in milliseconds. */
export async function listTime(
  modules: string,
  url: string,
): Promise<{ tools: number; median: number }> {
  const load = (path: string) => import(pathToFileURL(`${modules}/sdk132/dist/esm/${path}`).href);
  const { Client } = await load('client/index.js');
  const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
  const client = new Client({ name: 'matrix', version: '1' }) as ListingClient;
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const times: number[] = [];
  let tools = 0;
  for (let round = 0; round < 20; round += 1) {
    const began = performance.now();
    ({
      tools: { length: tools },
    } = await client.listTools());
    times.push(performance.now() - began);
  }
  await client.close();
  return { tools, median: times.toSorted((one, other) => one - other)[10] ?? 0 };
}
