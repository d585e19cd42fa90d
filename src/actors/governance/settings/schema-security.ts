import * as z from 'zod';
import { name, optionalTool, ruleKeys, rulesOf, variableName } from '../../schema-value.ts';
import { alignmentSchema } from './schema-alignment.ts';
import { deferSchema } from './schema-defer.ts';
import { effectsSchema, limitsSchema } from './schema-limits.ts';

const enabled = z.boolean().default(false).describe('Switches the layer on.');

const replacement = z.object({
  pattern: z.string().meta({ description: 'Pattern in RE2 syntax.', example: '\\d{16}' }),
  with: z.string().meta({ description: 'Replacement; `$1` is a group.', example: '****' }),
});

const argumentRule = z.union(
  [
    z.strictObject({
      path: name.meta({
        description: 'Place of the argument, with dots.',
        example: 'items.0.name',
      }),
      set: z.json().meta({ description: 'Value that is put there.', example: 'EUR' }),
    }),
    z.strictObject({
      path: name.meta({ description: 'Place of the argument, with dots.', example: 'internal' }),
      remove: z.literal(true).describe('Removes the argument.'),
    }),
    z.strictObject({
      path: name.meta({ description: 'Place of the argument, with dots.', example: 'note' }),
      replace: replacement.describe('Replaces part of the text.'),
    }),
  ],
  { error: 'a rule must be {path, set}, {path, remove: true} or {path, replace: {pattern, with}}' },
);

const modifySchema = z.object({
  enabled,
  tools: z
    .record(
      z.string(),
      rulesOf(
        z.object({
          ...ruleKeys,
          arguments: z
            .array(argumentRule)
            .default([])
            .meta({
              description: 'Rules for the arguments, in order.',
              example: [{ path: 'currency', set: 'EUR' }],
            }),
          output: z
            .array(z.object({ replace: replacement.describe('Replaces part of the text.') }))
            .default([])
            .meta({
              description: 'Rules for what the tool returns.',
              example: [{ replace: { pattern: '\\d{16}', with: '****' } }],
            }),
          optional: optionalTool,
        }),
      ),
    )
    .default({})
    .describe(
      'The tools whose calls are rewritten, by name; one entry or a list, of which the first that applies counts.',
    ),
});

const denial = z.object({
  pattern: z.string().meta({ description: 'Pattern in RE2 syntax.', example: 'rm\\s+-rf' }),
  message: z.string().optional().meta({
    description: 'Text shown to the caller instead of the pattern.',
    example: 'deletions are not allowed',
  }),
});

/** A denied tool: its name, or an object with a condition. */
const deniedTool = z
  .union(
    [
      name,
      z.object({
        ...ruleKeys,
        tool: name.meta({ description: 'Tool whose calls are denied.', example: 'cli_execute' }),
        message: z.string().optional().meta({
          description: 'Text shown to the caller.',
          example: 'refunds above 5,000 are made by hand',
        }),
        optional: optionalTool,
      }),
    ],
    { error: 'this must be the name of a tool, or {tool, when}' },
  )
  .transform((rule) =>
    typeof rule === 'string' ? { tool: rule, shadow: false, optional: false } : rule,
  );

const guardrailsSchema = z.object({
  enabled,
  deny_commands: z
    .array(denial)
    .default([])
    .meta({
      description: 'Patterns that deny a call by its arguments.',
      example: [{ pattern: 'rm\\s+-rf', message: 'deletions are not allowed' }],
    }),
  deny_prompts: z
    .array(denial)
    .default([])
    .meta({
      description: 'Messages that are denied before the model reads them.',
      example: [{ pattern: '(?i)ignore previous instructions' }],
    }),
  deny_output: z
    .array(
      z.object({
        pattern: z
          .string()
          .meta({ description: 'Pattern in RE2 syntax.', example: 'customer-\\d+' }),
        action: z
          .enum(['block', 'redact'])
          .describe('`block` denies the result, `redact` removes the match.'),
      }),
    )
    .default([])
    .meta({
      description: 'Results that are blocked or redacted.',
      example: [{ pattern: 'customer-\\d+', action: 'redact' }],
    }),
  denied_tools: z
    .array(deniedTool)
    .default([])
    .meta({
      description: 'Tools that never run, regardless of other rules.',
      example: ['cli_execute'],
    }),
  redact: z
    .array(name)
    .default([])
    .meta({
      description: 'Named redaction rules for results, such as `secrets` and `pii`.',
      example: ['secrets', 'email'],
    }),
});

/** Step-up rule of a tool: an acr, or an object with the acr and further settings. */
const steppedTool = z
  .union(
    [
      name,
      z.object({
        ...ruleKeys,
        acr: name.meta({
          description: 'Assurance level that the token of the caller must carry.',
          example: 'gold',
        }),
        optional: optionalTool,
      }),
    ],
    {
      error: 'this must be an acr, or {acr: <acr>, optional: true}',
    },
  )
  .transform((rule) =>
    typeof rule === 'string' ? { acr: rule, optional: false, shadow: false } : rule,
  );

const stepUpSchema = z.object({
  enabled,
  tools: z
    .record(z.string(), rulesOf(steppedTool))
    .default({})
    .meta({
      description:
        'The assurance level (`acr`) that each tool requires, by name; one rule or a list, of which the first that applies counts.',
      example: { issue_refund: 'gold' },
    }),
  acr_hierarchy: z
    .array(name)
    .default([])
    .meta({
      description: 'Assurance levels from the lowest to the highest; a higher one serves as well.',
      example: ['silver', 'gold'],
    }),
});

const policySchema = z.object({
  mode: z
    .enum(['enforce', 'shadow'])
    .default('enforce')
    .describe(
      '`shadow`: the rules of tools decide nothing, and the log has `policy_shadow` for each that would have.',
    ),
  reload: z
    .enum(['auto', 'manual'])
    .default('auto')
    .describe(
      'When changed rules come into force in a running agent: `auto` within seconds, `manual` at `holdpoint policy reload`.',
    ),
  include: z
    .array(
      z.union(
        [
          name,
          z.strictObject({
            url: name.meta({
              description: 'URL of the policy; fetched once at the start, and kept.',
              example: 'https://policies.example.com/payments.yaml',
            }),
            sha256: z
              .string()
              .regex(/^[0-9a-f]{64}$/, {
                error: 'this must be a SHA-256 in lower-case hexadecimal digits',
              })
              .meta({
                description: 'SHA-256 of the policy; another content is refused.',
                example: 'a'.repeat(64),
              }),
          }),
        ],
        { error: 'this must be a path such as ./shared/payments.yaml, or {url, sha256}' },
      ),
    )
    .default([])
    .meta({
      description:
        'Policies of others, which the rules of this file can tighten and never loosen: paths in the folder of the agent, or URLs.',
      example: ['./shared/payments.yaml'],
    }),
  environment: z
    .array(variableName)
    .default([])
    .meta({
      description: 'Variables of the daemon that conditions may read as `environment.NAME`.',
      example: ['STAGE'],
    }),
});

/** `security`: the layers that govern a tool call (docs/contract/configuration.md, docs/contract/governance.md). */
export const securitySchema = z.object({
  intent_alignment: alignmentSchema
    .prefault({})
    .describe('Denies calls that do not match the request.'),
  step_up: stepUpSchema.prefault({}).describe('Requires a stronger sign-in for some tools.'),
  modify: modifySchema.prefault({}).describe('Rewrites arguments and results.'),
  guardrails: guardrailsSchema
    .prefault({})
    .describe('Denies matches of fixed rules, before any other layer.'),
  policy: policySchema
    .prefault({})
    .describe('Conditions, included files and reload of these rules.'),
  defer: deferSchema.prefault({}).describe('Holds calls until a person decides.'),
  limits: limitsSchema.describe(
    'Bounds how many calls run in a period, or how much they add up to, in all sessions together.',
  ),
  effects: effectsSchema.describe(
    'Recognises a call with the effect of an earlier one, by name or pattern of the tool.',
  ),
});
