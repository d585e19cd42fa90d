import type { WizardOffer } from '../../../../machines/wizard/offers.ts';

const kept = new WeakMap<WizardOffer, Map<string, Map<string, unknown>>>();

/** Returns a step's stored values of changed answers. They exist as long as the wizard with this offer. */
export function keptFor<Value>(offer: WizardOffer, step: string): Map<string, Value> {
  const steps = kept.get(offer) ?? new Map<string, Map<string, unknown>>();
  kept.set(offer, steps);
  const own = steps.get(step) ?? new Map<string, unknown>();
  steps.set(step, own);
  return own as Map<string, Value>;
}
