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
  [z.object({ tool: name, args: jsonObject.default({}) }), z.object({ say: z.string() })],
  { error: 'a step of the script must be {tool, args} or {say}' },
);

/** `model` (contract sections 3 and 13). */
export const modelSchema = z.object({
  provider: z.enum(providers).default('scripted'),
  name: name.default('demo'),
  base_url: z.string().default(''),
  organization_id: z.string().default(''),
  fallbacks: z.array(z.object({ provider: z.enum(providers), name })).default([]),
  script: z.array(scriptStep).default([]),
});
