import * as z from 'zod';
import { target } from './schema-defer.ts';
import { jsonObject, name, positiveDuration } from './schema-value.ts';

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
});
