/** What answers every call later. */
type Answering<Port> = { [Name in keyof Port]: (...asked: never[]) => Promise<unknown> };

/** Stands for something that is loaded when it is first called, so that a server which begins with it listens sooner. */
export function late<Port extends Answering<Port>>(load: () => Promise<Port>): Port {
  let loading: Promise<Port> | null = null;
  const call = async (name: keyof Port, asked: never[]): Promise<unknown> => {
    loading ??= load();
    return (await loading)[name](...asked);
  };
  return new Proxy({} as Port, {
    get: (_, name) => {
      // What has a `then` would be taken for a promise.
      if (name === 'then') return undefined;
      return (...asked: never[]) => call(name as keyof Port, asked);
    },
  });
}
