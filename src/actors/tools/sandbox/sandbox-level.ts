/**
 * How far a script is kept apart: `env` gives it an environment built from nothing, limits and the proxy's
 * address; `bwrap` also takes away the network, the other processes and every file it has no business with.
 */
export type SandboxLevel = 'env' | 'bwrap';

/** What `egress.sandbox` may say; `auto` takes `bwrap` where it works. */
export type SandboxSetting = SandboxLevel | 'auto';
