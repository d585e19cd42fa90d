import * as z from 'zod';
import { kebabCase } from '../../machines/kebab-case.ts';
import { securitySchema } from '../governance/governance.ts';
import { jsonObject, name, optionalTool } from '../schema-value.ts';
import { approvalsSchema } from './schema-approvals.ts';
import { auditSchema } from './schema-audit.ts';
import { authSchema } from './schema-auth.ts';
import {
  egressSchema,
  observabilitySchema,
  secretsSchema,
  serverSchema,
  storeSchema,
} from './schema-daemon.ts';
import { gateSchema } from './schema-gate.ts';
import { mcpSchema } from './schema-mcp.ts';
import { modelSchema } from './schema-model.ts';
import { builtinToolName, toolSchema } from './schema-tools.ts';

const credential = z.object({
  tool: name.meta({ description: 'Tool that gets the credentials.', example: 'issue_refund' }),
  provider: z
    .enum(['static', 'sts_assume_role'])
    .describe(
      'How they are made: `static` passes variables, `sts_assume_role` assumes an AWS role.',
    ),
  spec: jsonObject.default({}).meta({
    description: 'Settings of the provider.',
    example: { env: { SHOP_KEY: { from_env: 'SHOP_KEY' } } },
  }),
  optional: optionalTool,
});

/**
 * Schema of `service.yaml` with its own key names (docs/contract/configuration.md). Fills in defaults; durations are in
 * milliseconds.
 */
export const serviceSchema = z.object({
  agent_id: z
    .string()
    .max(64)
    .regex(kebabCase, {
      error: 'the agent id must be kebab-case, such as refund-desk',
    })
    .meta({ description: 'Name of the agent, in lower case with hyphens.', example: 'refunds' }),
  version: name
    .default('0.0.0')
    .meta({ description: 'Version of the agent, which its card shows.', example: '1.2.0' }),
  description: z.string().default('').meta({
    description: 'What the agent does, which its card shows.',
    example: 'Handles refunds',
  }),
  gate: gateSchema
    .optional()
    .describe('Governs calls that other programs run, in place of a model.'),
  model: modelSchema.prefault({}).describe('The model that works on the tasks.'),
  instructions: z
    .union(
      [
        z.string(),
        z.object({
          file: name.meta({
            description: 'File in the folder of the agent that holds the instructions.',
            example: 'AGENT.md',
          }),
        }),
      ],
      { error: 'this must be a string, or {file: AGENT.md}' },
    )
    .default('')
    .meta({
      description: 'System prompt; the text of skills without scripts follows it.',
      example: 'You handle refunds. Look the order up before you say anything about it.',
    }),
  builtin_tools: z
    .array(builtinToolName)
    .default([])
    .meta({
      description: 'Builtin tools that the agent may use; all others are off.',
      example: ['datetime_now', 'http_request'],
    }),
  tools: z
    .array(toolSchema)
    .default([])
    .meta({
      description: 'Settings of single tools; tools of scripts need not be listed.',
      example: [{ name: 'lookup_order', idempotent: true }],
    }),
  mcp: mcpSchema.prefault({}).describe('Tools of other servers.'),
  skills: z
    .object({
      path: name.default('SKILL.md').meta({
        description:
          'The main skill file; `skills/*.md` and `skills/<name>/SKILL.md` are read as well.',
        example: 'agent/SKILL.md',
      }),
      disclosure: z
        .enum(['full', 'progressive'])
        .optional()
        .describe(
          'What the model gets of the skills: the whole text of those without scripts (`full`), or the name and description of all, which it opens with `skill_open` and `skill_read` (`progressive`); `progressive` if the texts have more than 8 KiB together and the key is omitted.',
        ),
    })
    .prefault({})
    .describe('Where the skills are.'),
  channels: z
    .array(name)
    .default([])
    .meta({
      description:
        'Channels that are switched on: `slack`, `telegram`, `webhook`, `email`, `teams`; `console` and `dashboard` are always there.',
      example: ['slack'],
    }),
  egress: egressSchema.prefault({}).describe('Reachable hosts, and the isolation of scripts.'),
  workflow_propagation: z
    .object({
      allowed_hosts: z
        .array(name)
        .default([])
        .meta({
          description: 'Hosts that get the workflow headers with the requests of tools.',
          example: ['api.example.com'],
        }),
    })
    .prefault({})
    .describe('Receivers of the workflow headers of a call.'),
  card: z
    .object({
      security_schemes: jsonObject.default({}).meta({
        description:
          'Ways to sign in on the card in addition to those of `auth.providers`, kept as written.',
        example: { partner: { type: 'apiKey', in: 'header', name: 'X-Partner-Key' } },
      }),
    })
    .prefault({})
    .describe('Additions to the agent card.'),
  approvals: approvalsSchema
    .optional()
    .describe('A page in the browser on which people sign in and decide (docs/approvals.md).'),
  auth: authSchema.prefault({}).describe('Who is accepted.'),
  server: serverSchema.prefault({}).describe('The HTTP server of the daemon.'),
  security: securitySchema.prefault({}).describe('The layers that judge each tool call.'),
  credentials: z
    .array(credential)
    .default([])
    .meta({
      description: 'Credentials that are made for a call after its approval.',
      example: [
        {
          tool: 'issue_refund',
          provider: 'static',
          spec: { env: { SHOP_KEY: { from_env: 'SHOP_KEY' } } },
        },
      ],
    }),
  audit: auditSchema.prefault({}).describe('The audit log.'),
  observability: observabilitySchema.prefault({}).describe('Data sent to a collector.'),
  store: storeSchema.prefault({}).describe('Where tasks are kept.'),
  secrets: secretsSchema.prefault({}).describe('Sources of the variables in the configuration.'),
});

type WrittenConfig = z.output<typeof serviceSchema>;

/** A policy that the configuration includes (docs/contract/governance.md). */
export interface IncludedPolicy {
  /** Name in problems and in the names of its rules: the path in the agent's folder, or the URL without its query. */
  file: string;
  /** Path in the agent's folder; `null` for a policy from a URL. */
  path: string | null;
  security: WrittenConfig['security'];
}

/** The validated configuration of an agent, with defaults, and with the policies that it includes, if any. */
export type ServiceConfig = WrittenConfig & { included?: readonly IncludedPolicy[] };
