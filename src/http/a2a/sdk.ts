import type { Message } from '@a2a-js/sdk';

export type { Message as CoreMessage };

/** The parts of the A2A SDK in use. */
export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Loads the A2A SDK; with the first request that speaks A2A, not with the daemon. */
export async function loadSdk() {
  const [types, errors, server, compat] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/errors'),
    import('@a2a-js/sdk/server'),
    import('@a2a-js/sdk/compat/v0_3/server'),
  ]);
  const toCompatError = (error: unknown) =>
    compat.LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error);
  return { ...types, ...errors, ...server, ...compat, toCompatError };
}
