import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod';
import { type ReadOffer, readOffer } from './read-offer.ts';
import { sealedResult } from './sealed-result.ts';
import { ServerFault } from './server-fault.ts';

/** Timeout of a protocol request, such as one page of the tool list, in milliseconds. */
export const answerPatience = 15_000;

/** Maximum tools and pages read from one server. */
const mostTools = 256;
const mostPages = 32;

const toolPage = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().max(4_096).nullish(),
});

/**
 * Fetches a server's tools page by page. The SDK's own method would trust each schema, refuse the whole list for one
 * tool, and cache it. Rejects with ServerFault, and with SDK errors.
 */
export async function listTools(client: Client, server: string): Promise<ReadOffer> {
  if (client.getServerCapabilities()?.tools === undefined) {
    return { ...readOffer(server, []), isWithoutTools: true };
  }
  const found: unknown[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const params = (cursor ?? null) === null ? {} : { cursor };
    const request = { method: 'tools/list', params } as const;
    const answer = toolPage.parse(
      await client.request(request, sealedResult, { timeout: answerPatience }),
    );
    found.push(...answer.tools.slice(0, mostTools + 1 - found.length));
    if (found.length > mostTools) throw new ServerFault(`has more than ${mostTools} tools`);
    cursor = answer.nextCursor;
    if ((cursor ?? null) === null) return readOffer(server, found);
  }
  throw new ServerFault(`lists its tools on more than ${mostPages} pages`);
}
