/** A port whose methods all return promises. */
type Answering<Port> = { [Name in keyof Port]: (...asked: never[]) => Promise<unknown> };

/** Returns a proxy for a port that is loaded at its first call, so that the server listens sooner. */
export function late<Port extends Answering<Port>>(load: () => Promise<Port>): Port {
  let loading: Promise<Port> | null = null;
  const call = async (name: keyof Port, asked: never[]): Promise<unknown> => {
    loading ??= load();
    return (await loading)[name](...asked);
  };
  return new Proxy({} as Port, {
    get: (_, name) => {
      // An object with a `then` method would be treated as a promise.
      if (name === 'then') return undefined;
      return (...asked: never[]) => call(name as keyof Port, asked);
    },
  });
}
