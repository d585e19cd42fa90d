import { isLoopbackUrl } from '../../machines/loopback.ts';
import type { ChannelsReading } from '../channels/channels.ts';
import {
  type Environment,
  hiding,
  type Resolution,
  tokenOf,
  untold,
} from './channel-resolution.ts';
import { errorAt, type Finding, warningAt } from './config-problem.ts';
import type { ChannelFileSettings } from './schema-channels.ts';

type TeamsSettings = NonNullable<ChannelsReading['teams']>;

/**
 * Resolves the URL of every webhook of Teams; a target without a URL is omitted. No finding contains a URL, because
 * it is a secret (docs/contract/chat.md).
 */
export function resolveTeams(
  file: ChannelFileSettings['teams'],
  env: Environment,
  pageUrl: string,
): Resolution<TeamsSettings> {
  const targets: Record<string, TeamsSettings['targets'][string]> = {};
  const findings: Finding[] = [];
  for (const [name, { url_env: variable }] of Object.entries(file.targets)) {
    const secret = tokenOf(['settings', 'targets', name, 'url_env'], variable, env);
    if (secret.value === null) {
      const message = `${secret.variable} is not set, so no card is posted to this target; ${untold}`;
      findings.push(warningAt(secret.path, message));
    } else if (isWebhookUrl(secret.value)) {
      targets[name] = hiding({}, { url: secret.value });
    } else {
      const message = `the value of ${secret.variable} is no https URL of a webhook; copy it from the workflow in Teams again`;
      findings.push(errorAt(secret.path, message));
    }
  }
  const isUsable = Object.keys(targets).length > 0;
  return { settings: isUsable ? { pageUrl, targets } : null, findings };
}

/** Plain http would show the URL, and with it the right to post, to anyone on the path. */
function isWebhookUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackUrl(url));
}
