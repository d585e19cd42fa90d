import { isLoopback } from '../../machines/loopback.ts';
import type { ChannelsReading } from '../channels/channels.ts';
import {
  type Environment,
  hiding,
  type Resolution,
  secretOf,
  untold,
} from './channel-resolution.ts';
import { errorAt, warningAt } from './config-problem.ts';
import type { ChannelFileSettings } from './schema-channels.ts';

/** Resolves the password of the SMTP server; no finding contains it (docs/contract/chat.md). */
export function resolveEmail(
  file: ChannelFileSettings['email'],
  env: Environment,
  pageUrl: string,
): Resolution<NonNullable<ChannelsReading['email']>> {
  const { host, port, security, from } = file;
  const secret = secretOf(['settings', 'password_env'], file.password_env, env);
  if (security === 'none' && !isLoopback(host)) {
    const message = 'without encryption anyone on the path can read the mails; use starttls or tls';
    return { settings: null, findings: [errorAt(['settings', 'security'], message)] };
  }
  if (file.user !== '' && secret.value === null) {
    const message = `${secret.variable} is not set, so the email adapter does not run; ${untold}`;
    return { settings: null, findings: [warningAt(secret.path, message)] };
  }
  const open = { host, port, security, user: file.user || null, from, pageUrl };
  return { settings: hiding(open, { password: secret.value ?? '' }), findings: [] };
}
