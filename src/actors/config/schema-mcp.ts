import * as z from 'zod';
import { normaliseEntry } from '../../machines/governance/standing.ts';
import { kebabCase } from '../../machines/kebab-case.ts';
import { name, positiveDuration, variableName } from '../schema-value.ts';
import { issuerUrl } from './schema-auth.ts';

/**
 * Maximum length of a server name. With the name and two underscores, a tool still has half of the 64 characters that
 * models accept.
 */
const longestServerName = 30;

/** Limited to the maximum delay of one timer. */
const callTime = positiveDuration.refine((milliseconds) => milliseconds <= 2 ** 31 - 1, {
  error: 'a call takes at most 24 days; write less',
});

const server = z.object({
  name: z
    .string()
    .max(longestServerName)
    .regex(kebabCase, {
      error: 'the name of an MCP server is kebab-case, such as shop-files',
    })
    .meta({
      description: 'Name of the server; its tools are called `<name>__<tool>`.',
      example: 'shop',
    }),
  url: name.optional().meta({
    description: 'Address of a server over streamable HTTP; a server has this or `command`.',
    example: 'https://shop.example.com/mcp',
  }),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9-]+$/, { error: 'this is no name of a header' }),
      z.string().regex(/^[\x20-\x7e]+$/, { error: 'the value of a header is one line of ASCII' }),
    )
    .default({})
    .meta({
      description: 'Headers sent to `url`, such as credentials.',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of service.yaml
      example: { Authorization: 'Bearer ${SHOP_TOKEN}' },
    }),
  auth: z
    .object({
      type: z
        .enum(['client_credentials', 'authorization_code'])
        .describe(
          'The grant: `client_credentials` with a secret of the agent, or `authorization_code` of a person who signs in with `holdpoint mcp login`.',
        ),
      client_id: name.optional().meta({
        description:
          'Client of the agent at the issuer; registered at the first sign-in if omitted, with `authorization_code` only.',
        example: 'holdpoint',
      }),
      client_secret: name.optional().meta({
        description: 'Secret of the client; none for a public client.',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of service.yaml
        example: '${SHOP_CLIENT_SECRET}',
      }),
      scopes: z
        .array(name)
        .default([])
        .meta({
          description: 'Requested scopes; those that the server names if omitted.',
          example: ['orders'],
        }),
      issuer: issuerUrl.optional().meta({
        description:
          'Issuer of the tokens; the first one that the server names is used and remembered if omitted.',
        example: 'https://id.example.com',
      }),
      resource: z.url().optional().meta({
        description: 'The resource for which tokens are requested; `url` if omitted.',
        example: 'https://shop.example.com',
      }),
    })
    .optional()
    .describe('Access to `url` by OAuth.'),
  command: name.optional().meta({
    description:
      'Program of a server over stdio, run in the folder of the agent; `node` is the Node of the daemon, and a path is relative to that folder.',
    example: 'node',
  }),
  args: z
    .array(z.string())
    .default([])
    .meta({ description: 'Arguments of `command`.', example: ['servers/shop.mjs'] }),
  env: z
    .record(variableName, z.string())
    .default({})
    .meta({
      description:
        "Additional variables of `command`; it receives nothing else of the daemon's environment.",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of service.yaml
      example: { SHOP_KEY: '${SHOP_KEY}' },
    }),
  timeout: callTime.prefault('60s').meta({
    description: 'Maximum time of a call without a result or progress; it is canceled after that.',
    example: '5m',
  }),
  total_timeout: callTime.prefault('24h').meta({
    description: 'How long a call may take in all, with or without progress.',
    example: '2h',
  }),
  elicitation: z.enum(['refuse', 'ask']).default('refuse').meta({
    description:
      'Questions of the server during a call: refused, or answered by the approvers of the rule `<name>__elicitation` under `security.defer.tools`.',
    example: 'ask',
  }),
  tools: z
    .object({
      allow: z
        .array(name)
        .optional()
        .meta({
          description: 'The tools of the server that the agent has, in the words of the server.',
          example: ['refund'],
        }),
      deny: z
        .array(name)
        .optional()
        .meta({
          description: 'The tools it does not have; it has the others. `[]` is every tool.',
          example: ['drop_table'],
        }),
    })
    .prefault({})
    .describe('Tools of the server that the agent gets: `allow` or `deny`, not both.'),
});

const callerEntry = z
  .string()
  .refine((text) => normaliseEntry(text) !== null, {
    error: 'this is an email, group:NAME, oncall:NAME or claim:NAME=VALUE',
  })
  .transform((text) => normaliseEntry(text) ?? text);

const callerEntries = z
  .union(
    [callerEntry, z.array(callerEntry).min(1, { error: 'the list names no one; add someone' })],
    {
      error: 'this is an email, group:NAME, oncall:NAME or claim:NAME=VALUE, or a list of them',
    },
  )
  .transform((entries) => (typeof entries === 'string' ? [entries] : entries));

const view = z.strictObject({
  for: callerEntries.meta({
    description:
      'The callers with the view: an email, `group:NAME`, `oncall:NAME` or `claim:NAME=VALUE`, or a list of them.',
    example: 'group:support',
  }),
  tools: z
    .strictObject({
      allow: z
        .array(name)
        .min(1, { error: 'the view has no tool; add one, such as shop__*' })
        .meta({
          description:
            'The tools that these callers can see and call, by their names here; `*` matches any characters.',
          example: ['shop__*'],
        }),
      deny: z
        .array(name)
        .default([])
        .meta({ description: 'Exceptions from `allow`.', example: ['shop__refund'] }),
    })
    .describe('Tools of the view.'),
});

/** `mcp`: servers that provide additional tools (docs/contract/models.md). */
export const mcpSchema = z.object({
  servers: z
    .array(server)
    .default([])
    .meta({
      description: 'MCP servers whose tools the agent has, governed like its own.',
      example: [
        { name: 'shop', url: 'https://shop.example.com/mcp', tools: { allow: ['refund'] } },
      ],
    }),
  views: z
    .array(view)
    .default([])
    .meta({
      description:
        'Restricts the tools at `/mcp` by caller. A caller has the tools of all views that name it, and without one no tool; without `views` every caller has every tool.',
      example: [{ for: 'group:support', tools: { allow: ['shop__find_order'] } }],
    }),
});

/** Configuration of one MCP server. */
export type McpServerConfig = z.output<typeof server>;
