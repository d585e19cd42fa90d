// Outbound traffic of an agent: egress policy, proxy for scripts, push notifications.

export {
  createAddressRules,
  createEgress,
  createOwnFetch,
  type DerivedEndpoint,
  type EffectiveHosts,
  type Egress,
  EgressError,
  EgressLimitError,
  effectiveHosts,
  egressCause,
  type HostPattern,
  hopOf,
  isCoveredBy,
  type ListeningAddress,
  normaliseHost,
  patientLimits,
  readHostEntry,
  readHostPattern,
  readNetwork,
} from './egress/egress.ts';
export { type EgressProxy, type ProxyPass, startEgressProxy } from './proxy/egress-proxy.ts';
export { PageDevices, type PersonRights } from './push/page-devices.ts';
export { PushNotifications } from './push/push-notifications.ts';
