/** The scopes of an app created from the manifest of `slack manifest`. */
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
