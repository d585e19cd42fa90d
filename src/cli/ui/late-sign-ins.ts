import type { SignInPorts, SignIns } from '../../actors/sign-in/sign-in.ts';
import type { SignInPort } from '../../http/dashboard/sign-in-port.ts';

/** What makes agents of sign-ins, beside what the routes do with them. */
export interface LateSignIns extends SignInPort {
  /** The sign-ins themselves. */
  all: () => Promise<SignIns>;
  close: () => void;
}

/** Sign-ins with a browser, loaded when somebody first asks: the server listens sooner. */
export function lateSignIns(env: NodeJS.ProcessEnv, ports: SignInPorts): LateSignIns {
  let opened: SignIns | null = null;
  let loading: Promise<SignIns> | null = null;
  const load = (): Promise<SignIns> => {
    loading ??= import('../../actors/sign-in/sign-in.ts').then((signIn) => {
      opened = signIn.openSignIns(env, ports);
      return opened;
    });
    return loading;
  };
  return {
    all: load,
    async start(provider, redirectUri) {
      const { SignInError } = await import('../../actors/sign-in/sign-in.ts');
      try {
        return { ok: true, ...(await (await load()).start(provider, redirectUri)) };
      } catch (error) {
        if (!(error instanceof SignInError)) throw error;
        return { ok: false, message: error.message };
      }
    },
    callback: async (parameters) => (await load()).callback(parameters),
    // Before the first one is begun nobody knows any.
    cancel: (state) => opened?.cancel(state) ?? null,
    status: (state) => opened?.status(state) ?? null,
    close: () => opened?.close(),
  };
}
