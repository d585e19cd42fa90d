import { expect, it } from 'vitest';
import { providerAddress } from '../../../src/actors/providers/providers.ts';
import { builtinToolNames, searchService } from '../../../src/actors/tools/tools.ts';
import { refusedSecretName } from '../../../src/machines/secret-name.ts';
import {
  channels,
  modelProviders,
  providers,
  searchServices,
  tools,
} from '../../../src/machines/wizard/offers.ts';

it('offers every builtin tool once', () => {
  expect(tools.map(({ name }) => name).toSorted()).toEqual(builtinToolNames);
});

it('asks for an address where a provider has none of its own', () => {
  for (const { name, address } of modelProviders) {
    expect([name, address === 'required']).toEqual([name, providerAddress(name, '') === null]);
  }
});

it('keeps keys and tokens under the names that they are looked for by', () => {
  for (const { name, variable } of searchServices) {
    expect(searchService({ provider: name }).keyVariable).toBe(variable);
  }
  const fields = channels.flatMap((channel) => channel.fields);
  const variables = [...providers, ...searchServices, ...fields].map(({ variable }) => variable);
  for (const name of variables) {
    if (name !== null && name !== undefined) expect(refusedSecretName(name)).toBeNull();
  }
});
