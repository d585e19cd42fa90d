import type { Message } from '@a2a-js/sdk';

export type { Message as CoreMessage };

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Loads the A2A SDK at the first A2A request instead of at startup. */
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
