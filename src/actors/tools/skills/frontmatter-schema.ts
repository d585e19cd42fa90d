import { z } from 'zod';
import { kebabCase } from '../../../machines/kebab-case.ts';

const text = z.string().nullish();
const names = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);

/** Programs by name, or with instructions for their installation, which nobody follows here. */
const programs = z
  .array(
    z.union([
      z.string(),
      z.looseObject({
        name: z.string().meta({ description: 'Name of the program.', example: 'jq' }),
      }),
    ]),
  )
  .nullish()
  .transform((list) => (list ?? []).map((one) => (typeof one === 'string' ? one : one.name)));

const requires = z.looseObject({
  bins: programs.meta({
    description: 'Programs that must be installed for the agent to start.',
    example: ['jq'],
  }),
  env: z
    .looseObject({
      required: names.meta({
        description: 'Variables that must be set for the agent to start; its scripts get them.',
        example: ['SHOP_URL'],
      }),
      one_of: names.meta({
        description: 'Variables of which one must be set; its scripts get those that are.',
        example: ['SHOP_KEY', 'SHOP_TOKEN'],
      }),
      optional: names.meta({
        description: 'Variables that its scripts get when they are set.',
        example: ['SHOP_REGION'],
      }),
    })
    .nullish()
    .describe('Environment variables for the scripts of the skill; they get no others.'),
});

const serviceBlock = z
  .looseObject({
    requires: requires.nullish().describe('Requirements of the machine, checked at the start.'),
    idempotent: z
      .union([z.boolean(), z.array(z.string())])
      .nullish()
      .meta({
        description: 'Tools whose calls can safely run twice: all (`true`), or those listed.',
        example: ['lookup_order'],
      }),
    held: z
      .array(z.string())
      .nullish()
      .meta({
        description:
          'Tools of it that change something and should wait for a person; `skills add` writes their rules under `security.defer`.',
        example: ['issue_refund'],
      }),
    egress_domains: z
      .array(z.string())
      .nullish()
      .meta({
        description: 'Read like `egress_domains` of the skill, in addition to it.',
        example: ['api.example.com'],
      }),
    denied_tools: z
      .array(z.string())
      .nullish()
      .meta({
        description: 'Tools that no call reaches while the agent has the skill.',
        example: ['http_request'],
      }),
    timeout_hint: z
      .int({ error: 'timeout_hint must be a whole number of seconds' })
      .min(1, { error: 'timeout_hint must be at least 1 second' })
      .max(600, { error: 'timeout_hint must be at most 600 seconds' })
      .nullish()
      .meta({
        description: 'How long a script of it may run, in seconds; 60 if omitted, 600 at most.',
        example: 300,
      }),
    risk: text.meta({
      description: 'Worst effect of its tools, in one sentence for the person who adds the skill.',
      example: 'Pays money out; a refund cannot be taken back.',
    }),
    guardrails: z
      .json()
      .optional()
      .meta({
        description:
          'Rules as under `security.guardrails`, added to those of `service.yaml`; they remove nothing.',
        example: { deny_output: [{ pattern: 'customer-\\d+', action: 'redact' }] },
      }),
  })
  .nullish();

/** The recognised keys of a skill's frontmatter; others are preserved. */
export const frontmatterSchema = z.looseObject({
  name: z
    .string()
    .max(64, 'name is longer than 64 characters; shorten it')
    .regex(kebabCase, 'name must be lower-case words joined by hyphens, such as issue-refunds')
    .meta({
      description: 'Name of the skill, in lower case with hyphens; a file without one is skipped.',
      example: 'refunds',
    }),
  display_name: text.meta({ description: 'Name that the agent card shows.', example: 'Refunds' }),
  description: text.meta({
    description: 'What the skill is for, which the agent card shows.',
    example: 'Looks up orders and refunds them',
  }),
  category: text.meta({
    description: 'Kind of skill, in lower case with hyphens.',
    example: 'customer-care',
  }),
  tags: names.meta({
    description: 'Words to find it by, which the agent card shows.',
    example: ['orders', 'refunds'],
  }),
  egress_domains: names.meta({
    description:
      'Public hosts that the scripts of this skill may reach, in addition to `egress`; `$NAME` is a declared variable with hosts or URLs, separated by commas.',
    example: ['api.example.com'],
  }),
  metadata: z
    .looseObject({ service: serviceBlock.describe('What Holdpoint reads.'), forge: serviceBlock })
    .nullish()
    .describe('What programs read.'),
});

export type FrontmatterData = z.infer<typeof frontmatterSchema>;
