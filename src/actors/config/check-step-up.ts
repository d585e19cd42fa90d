import { errorAt, type Finding } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';
import { type PlacedRule, placedRules } from './tool-rules.ts';

type Required = PlacedRule<{ acr: string }>[];

/** Checks `security.step_up` if it is enabled (docs/contract/step-up.md). */
export function checkStepUp({ security, auth }: ServiceConfig): Finding[] {
  const { enabled, tools, acr_hierarchy: hierarchy } = security.step_up;
  if (!enabled) return [];
  const required = placedRules('step_up', tools);
  if (required.length === 0) {
    const path = ['security', 'step_up', 'tools'];
    const message =
      'step-up is enabled and lists no tools; add tools: {<tool>: <acr>}, or set enabled: false';
    return [errorAt(path, message)];
  }
  return [
    ...(auth.providers.length === 0 ? [anonymous] : []),
    ...unspeakable(required),
    ...unknown(required, hierarchy),
  ];
}

/** Without a verified identity no caller has an assurance level, so every listed call would be refused. */
const anonymous = errorAt(
  ['security', 'step_up', 'enabled'],
  'no caller can step up without auth.providers, so every call of these tools would be denied; add a provider, or set enabled: false',
  ['auth', 'providers'],
);

/** The challenge header contains the level in quotes, so the level must be valid there. */
function unspeakable(required: Required): Finding[] {
  return required
    .filter(({ rule: { acr } }) => !/^[\x20-\x7e]+$/.test(acr) || /["\\]/.test(acr))
    .map(({ path }) =>
      errorAt(path, 'an acr must be printable ASCII without quotes and backslashes'),
    );
}

function unknown(required: Required, hierarchy: string[]): Finding[] {
  if (hierarchy.length === 0) return [];
  return required
    .filter(({ rule }) => !hierarchy.includes(rule.acr))
    .map(({ path }) =>
      errorAt(
        path,
        'the required acr is not in acr_hierarchy; add it there, or require one that is',
        ['security', 'step_up', 'acr_hierarchy'],
      ),
    );
}
