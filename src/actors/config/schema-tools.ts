import * as z from 'zod';
import { isTrustworthyUrl } from '../../machines/trustworthy-url.ts';
import { nearestName } from '../nearest-name.ts';
import { name, positiveDuration, variableName } from '../schema-value.ts';

/** The builtin tools (docs/contract/models.md). */
const builtinToolNames = [
  'http_request',
  'web_search',
  'web_fetch',
  'json_query',
  'csv_parse',
  'datetime_now',
  'uuid_generate',
  'math_calculate',
  'file_read',
  'file_write',
  'file_edit',
  'glob_search',
  'grep_search',
  'cli_execute',
] as const;

/** The name of a builtin tool; an unknown name is reported with the nearest known one. */
export const builtinToolName = z.enum(builtinToolNames, {
  error: ({ input }) => {
    const near = typeof input === 'string' ? nearestName(input, builtinToolNames) : null;
    if (near !== null) return `there is no such builtin tool; did you mean ${near}?`;
    return `there is no such builtin tool; there are ${builtinToolNames.join(', ')}`;
  },
});

const longestRun = 600_000;

/** Keys of `tools[].config`, with the builtin tool they belong to. */
export const configOwners = {
  provider: 'web_search',
  base_url: 'web_search',
  api_key_env: 'web_search',
  commands: 'cli_execute',
  timeout: 'cli_execute',
} as const;

const config = z.object({
  provider: z
    .enum(['tavily', 'perplexity'])
    .optional()
    .describe('Search service of `web_search`; `tavily` if omitted.'),
  base_url: z
    .string()
    .refine(isTrustworthyUrl, {
      error: 'this must be an https URL, or http on a loopback host, without credentials, ? and #',
    })
    .optional()
    .meta({
      description: 'Custom address of that service.',
      example: 'https://search.example.com/search',
    }),
  api_key_env: variableName.optional().meta({
    description: 'Variable with its key; `TAVILY_API_KEY` or `PERPLEXITY_API_KEY` if omitted.',
    example: 'SEARCH_KEY',
  }),
  commands: z
    .array(
      name.regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, {
        error: 'this must be the bare name of a program, such as jq, without a path or arguments',
      }),
    )
    .min(1, { error: 'list at least one program; a model may run no other' })
    .optional()
    .meta({
      description: 'Programs that `cli_execute` may run, by their bare names; required for it.',
      example: ['jq', 'pandoc'],
    }),
  timeout: positiveDuration
    .refine((milliseconds) => milliseconds <= longestRun, {
      error: 'a program may run for at most 10m',
    })
    .optional()
    .meta({
      description: 'Timeout of a program of `cli_execute`; 60s if omitted, 10m at most.',
      example: '2m',
    }),
});

/** One entry of `tools`. */
export const toolSchema = z.object({
  name: name.meta({ description: 'Name of the tool.', example: 'lookup_order' }),
  config: config.prefault({}).describe('Settings of a builtin tool; a script has none.'),
  idempotent: z
    .boolean()
    .default(false)
    .describe(
      'Promises that a second run of the same call does no harm, so that a restart may run it again.',
    ),
});
