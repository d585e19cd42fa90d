import type { SignInPort } from '../../http/dashboard/sign-in-port.ts';
import type { SignInPorts, SignIns } from './sign-in.ts';

/** The sign-ins for creating agents, in addition to the operations of the routes. */
export interface LateSignIns extends SignInPort {
  all: () => Promise<SignIns>;
  close: () => void;
}

/** Browser sign-ins, loaded on first use so that the server listens sooner. */
export function lateSignIns(env: NodeJS.ProcessEnv, ports: SignInPorts): LateSignIns {
  let opened: SignIns | null = null;
  let loading: Promise<SignIns> | null = null;
  const load = (): Promise<SignIns> => {
    loading ??= import('./sign-in.ts').then((signIn) => {
      opened = signIn.openSignIns(env, ports);
      return opened;
    });
    return loading;
  };
  return {
    all: load,
    async start(provider, redirectUri) {
      const { SignInError } = await import('./sign-in.ts');
      try {
        return { ok: true, ...(await (await load()).start(provider, redirectUri)) };
      } catch (error) {
        if (!(error instanceof SignInError)) throw error;
        return { ok: false, message: error.message };
      }
    },
    callback: async (parameters) => (await load()).callback(parameters),
    // No sign-in exists before the first one begins.
    cancel: (state) => opened?.cancel(state) ?? null,
    status: (state) => opened?.status(state) ?? null,
    close: () => opened?.close(),
  };
}
