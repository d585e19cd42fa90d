import * as z from 'zod';
import { jsonObject, name } from './schema-value.ts';

const providers = [
  'scripted',
  'openai',
  'openai-compatible',
  'anthropic',
  'google',
  'ollama',
] as const;

const scriptStep = z.union(
  [
    z.object({
      tool: name.meta({ description: 'Tool that the step calls.', example: 'lookup_order' }),
      args: jsonObject
        .default({})
        .meta({ description: 'Arguments of the call.', example: { order_id: 'A-1042' } }),
    }),
    z.object({
      say: z.string().meta({
        description: 'Answer that ends the run; `{result}` is the result of the last tool.',
        example: 'Done. {result}',
      }),
    }),
  ],
  { error: 'a step of the script must be {tool, args} or {say}' },
);

/** `model` (contract sections 3 and 13). */
export const modelSchema = z.object({
  provider: z.enum(providers).default('scripted').meta({
    description:
      'Who thinks: `scripted` plays steps and needs no key; every other value is not available in this version and is refused.',
    example: 'scripted',
  }),
  name: name.default('demo').meta({
    description: 'Name of the model, which the log and the traces repeat.',
    example: 'demo',
  }),
  base_url: z.string().default('').meta({
    description: 'Address of the provider, where it is not the usual one.',
    example: 'https://models.example.com/v1',
  }),
  organization_id: z
    .string()
    .default('')
    .meta({ description: 'Organisation that the provider bills.', example: 'org-42' }),
  fallbacks: z
    .array(
      z.object({
        provider: z.enum(providers).describe('Provider of the fallback.'),
        name: name.meta({ description: 'Model of the fallback.', example: 'gemini-2.5-pro' }),
      }),
    )
    .default([])
    .meta({
      description:
        'Models that are asked when the first one fails; not available in this version, which warns of it.',
      example: [{ provider: 'google', name: 'gemini-2.5-pro' }],
    }),
  script: z
    .array(scriptStep)
    .default([])
    .meta({
      description:
        'Steps that the provider `scripted` plays for each message, in order; without one it repeats what it was told.',
      example: [{ tool: 'lookup_order', args: { order_id: 'A-1042' } }, { say: 'Found: {result}' }],
    }),
});
