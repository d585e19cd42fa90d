/** The supported A2A versions, as the SDK names them. */
export type A2aVersion = '0.3' | '1.0';

export const namesOf: Record<A2aVersion, ReadonlySet<string>> = {
  '0.3': new Set([
    'message/send',
    'message/stream',
    'tasks/get',
    'tasks/cancel',
    'tasks/resubscribe',
    'tasks/pushNotificationConfig/set',
    'tasks/pushNotificationConfig/get',
    'tasks/pushNotificationConfig/list',
    'tasks/pushNotificationConfig/delete',
    'agent/getAuthenticatedExtendedCard',
  ]),
  '1.0': new Set([
    'SendMessage',
    'SendStreamingMessage',
    'GetTask',
    'ListTasks',
    'CancelTask',
    'SubscribeToTask',
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
    'GetExtendedAgentCard',
  ]),
};

/** Reads `A2A-Version` without its patch number; returns an unknown version unchanged. */
export function readVersion(header: string): string {
  const said = header.trim();
  return /^(0\.3|1\.0)(\.\d+)?$/.exec(said)?.[1] ?? said;
}

/** Returns the version that has a method; `null` if none has. */
export function versionOf(method: string): A2aVersion | null {
  if (namesOf['0.3'].has(method)) return '0.3';
  return namesOf['1.0'].has(method) ? '1.0' : null;
}
