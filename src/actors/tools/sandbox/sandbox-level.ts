/**
 * Isolation level of a script: `env` gives it an environment built from nothing, limits and the proxy's address;
 * `bwrap` also removes the network, other processes and all unrelated files.
 */
export type SandboxLevel = 'env' | 'bwrap';

/** Values of `egress.sandbox`; `auto` uses `bwrap` if it works. */
export type SandboxSetting = SandboxLevel | 'auto';
