import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import type { Thinker } from './thinker.ts';

const instructions = `You are the refund desk of a shop, and you do its work with tools.
When a customer asks for a refund, call lookup_order with the number of the order. When the order was shipped or
delivered and is not refunded yet, call issue_refund with its number, the amount that was paid and the reason in the
customer's own words. Call it without asking the customer first: a person releases each refund before it is paid.
Say that a refund is made only once issue_refund has answered. Be brief and friendly.
`;

/** Maximum number of turns of a demo task; a model that loops would cost the user money. */
const mostTurns = 8;

/** Configures a copy of the refund agent to use a real model instead of its script. */
export async function giveModel(directory: string, thinker: Thinker): Promise<void> {
  const { provider, model, keyVariable, baseUrl } = thinker;
  const path = join(directory, 'service.yaml');
  const example = await readFile(path, 'utf8');
  // The first line describes the scripted model, so it is removed.
  const service = parseDocument(example.replace(/^#.*\n/, ''));
  service.set('model', {
    provider,
    name: model,
    ...(keyVariable === null ? {} : { api_key_env: keyVariable }),
    ...(baseUrl === '' ? {} : { base_url: baseUrl }),
    max_turns: mostTurns,
  });
  service.set('instructions', instructions);
  await writeFile(path, service.toString());
}
