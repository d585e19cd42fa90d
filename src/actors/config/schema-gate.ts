import * as z from 'zod';
import { target } from '../governance/governance.ts';
import { jsonObject, name, positiveDuration } from '../schema-value.ts';

/** Least length of a secret, in characters. */
const leastSecret = 32;

const longestSkew = 300_000;

const gateTool = z.object({
  description: z
    .string()
    .default('')
    .meta({ description: 'What the tool does, for approvers.', example: 'Runs a shell command' }),
  schema: jsonObject.default({}).meta({
    description:
      'JSON Schema of the arguments; a call that does not fit is denied. Conditions are checked against it.',
    example: {
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
    },
  }),
});

/** `gate.acs`; durations are in milliseconds (docs/acs.md). */
const acs = z.object({
  secrets: z
    .record(
      name,
      z.string().refine((secret) => secret.length >= leastSecret, {
        error: `the secret is too short; use at least ${leastSecret} characters, such as those of openssl rand -hex 32`,
      }),
    )
    .refine((secrets) => Object.keys(secrets).length > 0, {
      error: 'there is no secret; add one, such as default: ${ACS_HMAC_SECRET}',
    })
    .meta({
      description:
        'Secrets that clients share with the gate, by the `key_id` of their signatures; the key of each session is derived from one. Holds are attributed to the name of the secret.',
      example: { default: '${ACS_HMAC_SECRET}' },
    }),
  timeout: positiveDuration.prefault('55s').meta({
    description:
      'Time that clients wait for an answer. Some seconds before it ends, a waiting call is answered with `defer`. Keep it below the hook timeout of the host.',
    example: '9m',
  }),
  skew: positiveDuration
    .refine((milliseconds) => milliseconds <= longestSkew, {
      error: 'the clocks may differ by at most 5m; set the clock right instead',
    })
    .prefault('5m')
    .meta({
      description:
        'How far the time of a request may differ from the clock of the gate; 5m at most.',
      example: '1m',
    }),
});

/** `gate`: calls that other programs run; durations are in milliseconds (docs/gate.md). */
export const gateSchema = z.object({
  tools: z
    .record(name, gateTool)
    .default({})
    .meta({
      description: 'The tools that may be called, by name; `*` in a name matches any characters.',
      example: { Bash: {}, 'mcp__*': {} },
    }),
  unknown: z
    .enum(['deny', 'defer', 'allow'])
    .default('deny')
    .describe('The decision on a call of a tool that no entry matches.'),
  to: target.default('channel:console:*').meta({
    description: 'Approval target of calls that `unknown: defer` holds.',
    example: 'channel:slack:#ops',
  }),
  release_within: positiveDuration.prefault('24h').meta({
    description:
      'Time after its approval in which a program fetches an approved call; after it the call expires.',
    example: '8h',
  }),
  outcome_within: positiveDuration.prefault('1h').meta({
    description:
      'Time after its release in which a program reports the outcome of a call; after it the call is unaccounted for in the log.',
    example: '15m',
  }),
  acs: acs
    .optional()
    .describe('Serves `POST /acs`, a Guardian of the Agent Control Standard (docs/acs.md).'),
});
