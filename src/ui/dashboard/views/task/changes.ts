/** One value that a MODIFY rule changed; `undefined` where there is none. */
export interface Change {
  /** In dots, as the rules of `service.yaml` write it: `items.0.price`. */
  path: string;
  before: unknown;
  after: unknown;
}

/** Lists what differs between the arguments that the model asked for and those that will run, in the order of the first. */
export function changesOf(before: unknown, after: unknown, path = ''): Change[] {
  if (Object.is(before, after)) return [];
  if (!isCollection(before) || !isCollection(after)) return [{ path, before, after }];
  if (Array.isArray(before) !== Array.isArray(after)) return [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) =>
    changesOf(own(before, name), own(after, name), path === '' ? name : `${path}.${name}`),
  );
}

function isCollection(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A name such as `constructor` is an argument like any other. */
function own(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
