import * as z from 'zod';
import { isLoopbackUrl } from '../../machines/loopback.ts';
import { isTrustworthyUrl } from '../../machines/trustworthy-url.ts';
import { readHostPattern } from '../outbound/outbound.ts';
import { name, positiveDuration, variableName } from '../schema-value.ts';
import { claimMap, clockSkew, groupsClaim, issuerUrl } from './schema-auth.ts';

export const origin = z
  .string()
  .refine((text) => isTrustworthyUrl(text) && URL.parse(text)?.origin === text, {
    error:
      'this must be the origin of the page, such as https://approvals.example.com: https, or http on a loopback host, in lower case and without a path',
  });

const signIn = z.object({
  issuer: issuerUrl.meta({
    description: 'OpenID Connect issuer at which people sign in.',
    example: 'https://id.example.com/realms/staff',
  }),
  client_id: name.meta({
    description:
      'Client of the page at the issuer; its redirect URI is `<public_url>/approvals/callback`; of the [dashboard](dashboard.md#for-a-team) `<public URL>/sign-in/callback`.',
    example: 'holdpoint-approvals',
  }),
  client_secret_env: variableName.optional().meta({
    description: 'Variable with the secret of the client; omitted for a public client.',
    example: 'APPROVALS_CLIENT_SECRET',
  }),
  scopes: z
    .array(name)
    .default(['openid', 'profile', 'email'])
    .meta({
      description: 'Scopes that are requested; `openid` is required.',
      example: ['openid', 'profile', 'email', 'groups'],
    }),
  name: name.optional().meta({
    description:
      'Name of the provider in the log. People of one provider with one user id are the same person; default is the `oidc` provider of `auth.providers` with this issuer, otherwise `sign_in`.',
    example: 'staff',
  }),
  groups_claim: groupsClaim,
  claim_map: claimMap,
  require_email_verified: z
    .boolean()
    .default(true)
    .describe(
      'Accepts an email only if `email_verified`, or `xms_edov` of Entra ID, is true. A person without an email decides nothing.',
    ),
  clock_skew: clockSkew,
});

/** Settings of a browser sign-in whose people have no other name in a log than that of their issuer. */
export const plainSignIn = signIn.omit({ name: true });

/** How long a session of a page lasts, in milliseconds. */
export const sessionTimes = {
  idle: positiveDuration.prefault('30m').meta({
    description: 'Time without an action after which a session ends.',
    example: '10m',
  }),
  lifetime: positiveDuration.prefault('8h').meta({
    description:
      'Longest life of a session. The issuer confirms groups and claims before a decision; if it gives nothing to read them again, a change applies at the latest after this time.',
    example: '1h',
  }),
};

const pushService = z.string().refine(isPushService, {
  error:
    'this must be the host of a push service, such as fcm.googleapis.com or *.push.apple.com, or the origin of one on loopback',
});

/** Returns true for a host pattern, and for the origin of a service on this machine. */
function isPushService(text: string): boolean {
  const url = text.includes('://') ? URL.parse(text) : null;
  return url === null ? readHostPattern(text).ok : url.origin === text && isLoopbackUrl(url);
}

/** `approvals`: the approvals page of the daemon; durations are in milliseconds (docs/approvals.md). */
export const approvalsSchema = z.object({
  public_url: origin.meta({
    description: 'Origin at which browsers open the page, which is at `/approvals` below it.',
    example: 'https://approvals.example.com',
  }),
  sign_in: signIn.describe('How people sign in.'),
  ...sessionTimes,
  passkey_delay: positiveDuration.prefault('1h').meta({
    description:
      'Time from its registration until a new passkey counts, in which its person can remove one that someone else registered.',
    example: '15m',
  }),
  push_services: z
    .array(pushService)
    .default([
      'fcm.googleapis.com',
      '*.push.services.mozilla.com',
      '*.push.apple.com',
      '*.notify.windows.com',
    ])
    .meta({
      description:
        'Hosts of the push services of browsers to which notifications are sent, over https at port 443 and at public addresses; an empty list turns notifications off.',
      example: ['fcm.googleapis.com', '*.push.apple.com'],
    }),
});
