import type { AgentAnswers, FallbackAnswer } from '../../machines/wizard/agent-answers.ts';
import { modelProviders, type ProviderOffer, providerOffer } from '../../machines/wizard/offers.ts';
import type { Prompts } from './prompts.ts';

/** Returns a provider's base URL from the environment; empty if there is none. */
export type UsualAddress = (provider: string) => string;

const another = 'another';
const noMore = 'no more';

/** Prompts for the model, its base URL and its API key. */
export async function askModel(
  prompts: Prompts,
  { provider, model }: AgentAnswers,
  usual: UsualAddress,
): Promise<AgentAnswers['model']> {
  const offer = providerOffer(provider);
  if (offer === undefined) return model;
  const reached = await askReach(prompts, offer, usual, model);
  const organization = offer.organization
    ? await prompts.text('Billed organization ID, if any', model.organization)
    : '';
  return { ...model, ...reached, organization };
}

/** Prompts for fallback models, which are tried when the first model is busy or unreachable. */
export async function askFallback(
  prompts: Prompts,
  { fallback }: AgentAnswers,
  usual: UsualAddress,
): Promise<FallbackAnswer[]> {
  const chosen: FallbackAnswer[] = [];
  for (;;) {
    const known = fallback[chosen.length];
    const provider = await prompts.one(
      chosen.length === 0 ? 'Fallback provider?' : 'Next fallback provider?',
      [
        noMore,
        ...modelProviders.map(({ name, label }) => ({ value: name, label: name, hint: label })),
      ],
      known?.provider ?? noMore,
    );
    const offer = providerOffer(provider);
    if (offer === undefined) return chosen;
    chosen.push({ provider, ...(await askReach(prompts, offer, usual, known)) });
  }
}

/** A model's name and connection. */
interface Reach {
  name: string;
  address: string;
  key: string;
}

async function askReach(
  prompts: Prompts,
  { name: provider, models, address: need, variable }: ProviderOffer,
  usual: UsualAddress,
  known: Reach = { name: '', address: '', key: '' },
): Promise<Reach> {
  const name = await askName(prompts, models, known.name);
  const address =
    need === 'none'
      ? ''
      : await prompts.text(
          need === 'required' ? 'Address' : 'Address (empty: default)',
          known.address || usual(provider),
        );
  const key =
    variable === null ? '' : await prompts.secret(`Key (empty: ${variable} from the environment)`);
  return { name: name.trim(), address: address.trim(), key: key.trim() };
}

async function askName(
  prompts: Prompts,
  models: readonly string[],
  known: string,
): Promise<string> {
  if (models.length > 0) {
    const first = models.includes(known) || known === '' ? known : another;
    const chosen = await prompts.one('Which model?', [...models, another], first);
    if (chosen !== another) return chosen;
  }
  return prompts.text('Name of the model', known);
}
