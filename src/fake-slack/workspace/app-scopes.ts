/** The scopes of an app made from the manifest that `slack manifest` prints. */
export const appScopes: readonly string[] = [
  'chat:write',
  'channels:read',
  'groups:read',
  'users:read',
  'users:read.email',
  'app_mentions:read',
  'im:history',
  'reactions:write',
  'files:write',
];
