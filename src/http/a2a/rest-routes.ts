/** A route of the REST surfaces of A2A, as the router names it. */
export interface RestRoute {
  verb: 'get' | 'post' | 'delete';
  path: string;
  /** True for a route that starts an invocation. */
  isSend: boolean;
}

/** The path prefixes of the REST surfaces of A2A, each with its version. */
export const restBases = { '0.3': '/v1', '1.0': '/a2a' } as const;

/** Every route of both surfaces. What is not here never reaches the SDK, whose own router is less strict. */
export const restRoutes: readonly RestRoute[] = [
  route('get', `${restBases['0.3']}/tasks`),
  route('get', `${restBases['1.0']}/extendedAgentCard`),
  route('get', `${restBases['1.0']}/tasks`),
  ...Object.values(restBases).flatMap(sharedRoutes),
];

/** Tells which version a path of the REST surfaces speaks. */
export function restVersionOf(path: string): keyof typeof restBases {
  return path.startsWith(`${restBases['1.0']}/`) ? '1.0' : '0.3';
}

// A task's id may have colons, so what follows the last one is looked for first.
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
