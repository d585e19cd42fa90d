import { isJsonObject, type JsonValue } from '../../machines/json.ts';
import { type Finding, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

const types = ['apiKey', 'http', 'oauth2', 'openIdConnect', 'mutualTLS'];

/** Checks manually written security schemes, which the card contains verbatim. */
export function checkCard({ card }: ServiceConfig): Finding[] {
  return Object.entries(card.security_schemes)
    .filter(([, scheme]) => !isKnown(scheme))
    .map(([key]) =>
      warningAt(
        ['card', 'security_schemes', key],
        `${key} is not a known scheme; set its type to one of ${types.join(', ')}`,
      ),
    );
}

function isKnown(scheme: JsonValue): boolean {
  return isJsonObject(scheme) && types.some((type) => type === scheme['type']);
}
