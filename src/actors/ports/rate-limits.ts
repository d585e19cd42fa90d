/** Request limits of one client address (docs/contract/configuration.md). */
export interface RateLimits {
  /** Read-only requests per second. */
  readRps: number;
  readBurst: number;
  /** Requests per second that may change state. */
  writeRps: number;
  writeBurst: number;
  /** True exempts task cancellation from the limits. */
  cancelExempt: boolean;
  /** Addresses, networks and named ranges of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
}
