import * as z from 'zod';
import { duration, jsonObject, name, positiveDuration, variableName } from '../schema-value.ts';

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
      'Variable that holds the key; if omitted `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GOOGLE_GENERATIVE_AI_API_KEY`, and none for `openai-compatible` and `ollama`.',
    example: 'MODEL_KEY',
  }),
  organization_id: z
    .string()
    .default('')
    .meta({ description: 'Organisation that openai bills.', example: 'org-42' }),
  api: z.enum(['responses', 'chat']).optional().meta({
    description:
      'API of the provider `openai`; by default `responses` at its own address and `chat` at another one.',
    example: 'chat',
  }),
};

/** `model` (docs/contract/configuration.md, docs/contract/models.md); the timeout is in milliseconds. */
export const modelSchema = z.object({
  provider: z.enum(providers).default('scripted').meta({
    description:
      'Model provider: `scripted` plays steps without a key, `openai-compatible` is any server with the OpenAI chat API.',
    example: 'anthropic',
  }),
  name: name.default('demo').meta({
    description: 'Name of the model at its provider; shown in logs and traces.',
    example: 'claude-sonnet-4-5',
  }),
  ...reach,
  timeout: positiveDuration.prefault('5m').meta({
    description: 'Maximum time of one model response; then the next fallback is used.',
    example: '10m',
  }),
  stream_interval: duration.prefault('20ms').meta({
    description:
      'Minimum time between two pieces of streamed text; the first piece is sent at once. `0` sends every token separately.',
    example: '100ms',
  }),
  max_output_tokens: z.int().min(1).optional().meta({
    description:
      "Maximum tokens of one response; the provider's limit if omitted, 4096 for unknown models of anthropic.",
    example: 32_000,
  }),
  context_budget: z.int().min(1_000).optional().meta({
    description:
      'Maximum tokens sent to the model in one turn, instructions and tools included; older results, messages and calls are omitted beyond it. 100000 if omitted, no limit for `scripted`.',
    example: 32_000,
  }),
  max_turns: z.int().min(1).max(1_000).default(50).meta({
    description: 'How many turns of the model one run of a task may take; then the task fails.',
    example: 20,
  }),
  on_tool_error: z.enum(['return', 'fail']).optional().meta({
    description:
      'Effect of a failed tool or an invalid call: `return` sends the error to the model, `fail` ends the run. By default `fail` for `scripted` and `return` for other providers.',
    example: 'fail',
  }),
  max_failed_turns: z.int().min(1).max(1_000).default(5).meta({
    description: 'Maximum consecutive model turns with tool errors only; then the task fails.',
    example: 3,
  }),
  max_tokens_per_task: z.int().min(1).optional().meta({
    description: 'Maximum input and output tokens of one run, over all turns; no limit if omitted.',
    example: 500_000,
  }),
  max_time: positiveDuration.prefault('1h').meta({
    description:
      'Maximum working time of one run, without waits for approval. Checked once a second; running work is aborted.',
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
        'Models used in turn when the previous one is busy, slow, broken or unreachable (429, 408, 5xx, network).',
      example: [{ provider: 'google', name: 'gemini-2.5-pro' }],
    }),
  script: z
    .array(scriptStep)
    .default([])
    .meta({
      description:
        'Steps that the provider `scripted` plays for each message, in order; without steps it echoes the message.',
      example: [{ tool: 'lookup_order', args: { order_id: 'A-1042' } }, { say: 'Found: {result}' }],
    }),
});
