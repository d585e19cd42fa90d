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

it('every builtin tool is offered once', () => {
  expect(tools.map(({ name }) => name).toSorted()).toEqual(builtinToolNames);
});

it('an address is asked for a provider without a default one', () => {
  for (const { name, address } of modelProviders) {
    expect([name, address === 'required']).toEqual([name, providerAddress(name, '') === null]);
  }
});

it('keys and tokens are stored under the names that the agent reads', () => {
  for (const { name, variable } of searchServices) {
    expect(searchService({ provider: name }).keyVariable).toBe(variable);
  }
  const fields = channels.flatMap((channel) => channel.fields);
  const variables = [...providers, ...searchServices, ...fields].map(({ variable }) => variable);
  for (const name of variables) {
    if (name !== null && name !== undefined) expect(refusedSecretName(name)).toBeNull();
  }
});
