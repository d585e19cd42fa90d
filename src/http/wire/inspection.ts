import { z } from 'zod';

/** A task's path through its chart in the format of the Stately inspector. */
export const inspection = z
  .object({
    events: z
      .array(
        z.looseObject({
          type: z.enum(['@xstate.actor', '@xstate.event', '@xstate.snapshot']),
          id: z.string(),
          rootId: z.string(),
          sessionId: z.string(),
          createdAt: z.string().describe('Epoch milliseconds.'),
        }),
      )
      .describe('Oldest first.'),
  })
  .meta({ id: 'Inspection' });
