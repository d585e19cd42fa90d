import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import type { PushTarget } from '../../actors/ports/push.ts';

/** Reads the push receiver from a config of A2A 0.3.0 or 1.0; `newId` supplies a missing ID. */
export function targetOf(
  { taskId, id, url, token, authentication }: TaskPushNotificationConfig,
  version: string,
  newId: () => string,
): PushTarget {
  const { scheme = '', credentials = '' } = authentication ?? {};
  return {
    taskId,
    id: id || newId(),
    url: url ?? '',
    token: token ?? '',
    authentication: scheme === '' ? null : { scheme, credentials },
    version,
  };
}

/** Returns a push receiver without its token and credentials. */
export function configOf({
  taskId,
  id,
  url,
  authentication,
}: PushTarget): TaskPushNotificationConfig {
  return {
    tenant: '',
    taskId,
    id,
    url,
    token: '',
    authentication:
      authentication === null ? undefined : { scheme: authentication.scheme, credentials: '' },
  };
}
