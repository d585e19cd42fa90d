/** A route of the A2A REST surfaces, as the router names it. */
export interface RestRoute {
  verb: 'get' | 'post' | 'delete';
  path: string;
  /** True for a route that starts a task. */
  isSend: boolean;
}

/** The path prefixes of the A2A REST surfaces, by version. */
export const restBases = { '0.3': '/v1', '1.0': '/a2a' } as const;

/** Every route of the two surfaces. Other paths never reach the SDK, whose own router is less strict. */
export const restRoutes: readonly RestRoute[] = [
  route('get', `${restBases['0.3']}/tasks`),
  route('get', `${restBases['1.0']}/extendedAgentCard`),
  route('get', `${restBases['1.0']}/tasks`),
  ...Object.values(restBases).flatMap(sharedRoutes),
];

/** Returns the version of a REST path. */
export function restVersionOf(path: string): keyof typeof restBases {
  return path.startsWith(`${restBases['1.0']}/`) ? '1.0' : '0.3';
}

// A task ID may contain colons, so routes that match the part after the last colon come first.
function sharedRoutes(base: string): RestRoute[] {
  const task = `${base}/tasks/:taskId`;
  return [
    { ...route('post', `${base}/message\\:send`), isSend: true },
    { ...route('post', `${base}/message\\:stream`), isSend: true },
    route('post', `${task}\\:cancel`),
    route('get', `${task}\\:subscribe`),
    route('post', `${task}\\:subscribe`),
    route('get', task),
    route('post', `${task}/pushNotificationConfigs`),
    route('get', `${task}/pushNotificationConfigs`),
    route('get', `${task}/pushNotificationConfigs/:configId`),
    route('delete', `${task}/pushNotificationConfigs/:configId`),
  ];
}

function route(verb: RestRoute['verb'], path: string): RestRoute {
  return { verb, path, isSend: false };
}
