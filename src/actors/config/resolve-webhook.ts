import { type ChannelsReading, webhookSecretFault } from '../channels/channels.ts';
import {
  type Environment,
  hiding,
  plainFindings,
  type Resolution,
  type Secret,
  secretOf,
  untold,
} from './channel-resolution.ts';
import { errorAt, type Finding, warningAt } from './config-problem.ts';
import type { ChannelFileSettings } from './schema-channels.ts';

type WebhookSettings = NonNullable<ChannelsReading['webhook']>;

/** Resolves the secret of every webhook target; a target without a secret is omitted (docs/contract/chat.md). */
export function resolveWebhook(
  file: ChannelFileSettings['webhook'],
  env: Environment,
): Resolution<WebhookSettings> {
  const findings = plainFindings(file.dashboard_url, ['settings', 'dashboard_url']);
  const targets: Record<string, WebhookSettings['targets'][string]> = {};
  for (const [name, { url, secret_env: variable }] of Object.entries(file.targets)) {
    const path = ['settings', 'targets', name];
    const secret = secretOf([...path, 'secret_env'], variable, env);
    findings.push(...plainFindings(url, [...path, 'url']), ...secretFindings(secret));
    if (secret.value !== null) targets[name] = hiding({ url }, { secret: secret.value });
  }
  const isUsable = Object.keys(targets).length > 0;
  const settings = { dashboardUrl: file.dashboard_url || null, targets };
  return { settings: isUsable ? settings : null, findings };
}

function secretFindings({ value, variable, path }: Secret): Finding[] {
  if (value === null) {
    const message = `${variable} is not set, so no message is posted to this target; ${untold}`;
    return [warningAt(path, message)];
  }
  const fault = webhookSecretFault(value);
  return fault === null ? [] : [errorAt(path, `the secret in ${variable} ${fault}`)];
}
