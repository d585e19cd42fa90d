import * as z from 'zod';

/** Maximum characters of the id of a server's task. */
const longestId = 1_024;

/** In milliseconds. A server may state none, and what it states is no reason to lose its task. */
const duration = z.number().nonnegative().nullish().catch(null);

/** Schema of a server's task in MCP 2025-11-25 and 2026-07-28, which name its times differently. */
export const serverTask = z
  .looseObject({
    taskId: z.string().min(1).max(longestId),
    status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
    statusMessage: z.string().nullish().catch(null),
    ttl: duration,
    ttlMs: duration,
    pollInterval: duration,
    pollIntervalMs: duration,
  })
  .transform((said) => ({
    id: said.taskId,
    status: said.status,
    message: said.statusMessage ?? null,
    /** Milliseconds from its creation for which the server keeps it; `null` if unlimited. */
    ttl: said.ttlMs ?? said.ttl ?? null,
    /** Pause before the next request for its state, in milliseconds; `null` for none stated. */
    pause: said.pollIntervalMs ?? said.pollInterval ?? null,
    /** The task as sent. */
    said,
  }));

export type ServerTask = z.output<typeof serverTask>;
