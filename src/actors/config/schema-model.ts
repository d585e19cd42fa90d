import * as z from 'zod';
import { jsonObject, name, positiveDuration, variableName } from './schema-value.ts';

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

/** Settings shared by the first model and its fallbacks. */
const reach = {
  base_url: z.string().default('').meta({
    description:
      'Address of the provider, where it is not the usual one; required for `openai-compatible`.',
    example: 'https://models.example.com/v1',
  }),
  api_key_env: variableName.optional().meta({
    description:
      'Variable that holds the key; when it is left out `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GOOGLE_GENERATIVE_AI_API_KEY`, and none for `openai-compatible` and `ollama`.',
    example: 'MODEL_KEY',
  }),
  organization_id: z
    .string()
    .default('')
    .meta({ description: 'Organisation that openai bills.', example: 'org-42' }),
  api: z.enum(['responses', 'chat']).optional().meta({
    description:
      'Wire that the provider `openai` is spoken to by; `responses` at its usual address and `chat` at another one when it is left out.',
    example: 'chat',
  }),
};

/** `model` (docs/contract/configuration.md, docs/contract/models.md); the timeout is in milliseconds. */
export const modelSchema = z.object({
  provider: z.enum(providers).default('scripted').meta({
    description:
      'Who thinks: `scripted` plays steps and needs no key, `openai-compatible` is any server that speaks the chat wire of openai.',
    example: 'anthropic',
  }),
  name: name.default('demo').meta({
    description: 'Name of the model as its provider knows it; the log and the traces repeat it.',
    example: 'claude-sonnet-4-5',
  }),
  ...reach,
  timeout: positiveDuration.prefault('5m').meta({
    description:
      'How long one answer of a model may take as a whole; then the next fallback is asked.',
    example: '10m',
  }),
  max_output_tokens: z.int().min(1).optional().meta({
    description:
      'How many tokens one answer may have; what the provider allows when it is left out, and 4096 for models of anthropic that this version does not know.',
    example: 32_000,
  }),
  context_budget: z.int().min(1_000).optional().meta({
    description:
      'How many tokens the model is told in one turn, instructions and tools included; older results, messages and calls are left out to keep within it. 100000 when it is left out, and no limit for `scripted`.',
    example: 32_000,
  }),
  max_turns: z.int().min(1).max(1_000).default(50).meta({
    description: 'How many turns of the model one run of a task may take; then the task fails.',
    example: 20,
  }),
  on_tool_error: z.enum(['return', 'fail']).optional().meta({
    description:
      'What follows when a tool fails or a call fits no tool: `return` tells the model, which may try otherwise, and `fail` ends the run. `fail` for `scripted` and `return` for every other provider when it is left out.',
    example: 'fail',
  }),
  max_failed_turns: z.int().min(1).max(1_000).default(5).meta({
    description:
      'How many turns of the model in a row may come to nothing but errors of tools; then the task fails.',
    example: 3,
  }),
  max_tokens_per_task: z.int().min(1).optional().meta({
    description:
      'How many tokens the model may read and write in one run of a task, in all turns together; no limit when it is left out.',
    example: 500_000,
  }),
  max_time: positiveDuration.prefault('1h').meta({
    description:
      'How long one run of a task may work; the wait for an approval does not count. It is looked at once a second, and what runs then is aborted.',
    example: '15m',
  }),
  fallbacks: z
    .array(
      z.object({
        provider: z.enum(providers).describe('Provider of the fallback.'),
        name: name.meta({ description: 'Model of the fallback.', example: 'gemini-2.5-pro' }),
        ...reach,
      }),
    )
    .default([])
    .meta({
      description:
        'Models that are asked in turn when the one before is busy, too slow, broken or out of reach (429, 408, 5xx, network).',
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
